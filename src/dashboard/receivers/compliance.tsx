/** The requirements of Google for senders, each beside what our own checks found about the same thing. */

import { formatCount } from '../../lib/format/numbers.ts';
import type { ComplianceFinding, ComplianceRequirement } from '../../picture/schema.ts';
import { codeInWords } from '../../receivers/requirements.ts';
import { sanitize } from '../../report/blocks.ts';
import { StateMark } from '../../ui/components.tsx';
import { Fold } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago, Time } from '../frame/times.tsx';

const isOpen = ({ status, agrees }: ComplianceRequirement): boolean =>
  status !== 'COMPLIANT' || agrees === false;

/** What needs work first; what is met and not disputed is folded. */
export function Compliance({ requirements }: { requirements: ComplianceRequirement[] }) {
  const open = requirements.filter(isOpen).sort((a, b) => rank(a) - rank(b));
  const met = requirements.filter((row) => !isOpen(row));
  return (
    <>
      {open.length > 0 && <RequirementTable label="Requirements to look at" rows={open} />}
      {met.length > 0 && (
        <Fold
          summary={
            <StateMark state="pass" word={`${formatCount(met.length, 'requirement')} met`} />
          }
        >
          <RequirementTable label="Requirements that are met" rows={met} />
        </Fold>
      )}
    </>
  );
}

const rank = ({ status }: ComplianceRequirement): number => (status === 'NEEDS_WORK' ? 0 : 1);

const RequirementTable = ({ label, rows }: { label: string; rows: ComplianceRequirement[] }) => (
  <div class="stacking">
    <DataTable
      label={label}
      rows={sanitize(rows)}
      keyOf={({ requirement }) => requirement}
      columns={[
        {
          title: 'ComplianceRequirement',
          cell: ({ name, agrees }) => (
            <>
              <strong>{name}</strong>
              {agrees === false && (
                <span class="row-note small">Google and our checks disagree</span>
              )}
            </>
          ),
        },
        {
          title: 'Google',
          cell: (row) => (
            <>
              <span class="stacked-title">Google: </span>
              <GoogleVerdict {...row} />
            </>
          ),
        },
        {
          title: 'Our checks',
          cell: (row) => (
            <>
              <span class="stacked-title">Our checks: </span>
              <OwnVerdict {...row} />
            </>
          ),
        },
      ]}
    />
  </div>
);

function GoogleVerdict({ status, reason, since, previous, checked_at }: ComplianceRequirement) {
  const isUnmet = status === 'NEEDS_WORK';
  return (
    <>
      {status === 'COMPLIANT' ? (
        <StateMark state="pass" word="Met" />
      ) : (
        <StateMark
          state={isUnmet ? 'fail' : 'unknown'}
          word={isUnmet ? 'Needs work' : codeInWords(status)}
        />
      )}
      {reason && <span class="row-note small">{codeInWords(reason)}</span>}
      {isUnmet && previous !== null && (
        <span class="row-note small">
          Since <Time at={since} day />
        </span>
      )}
      <span class="row-note small">
        Checked <Ago at={checked_at} />
      </span>
    </>
  );
}

const OWN_WORDS = { fail: 'Failed', warn: 'Warning', pass: 'Passed' };

/** All that was found to be wrong, else the most important check that passed. */
function OwnVerdict({ own, fix }: ComplianceRequirement) {
  if (own.length === 0) return <span class="muted">No result from our checks.</span>;
  const wrong = own.filter(({ status }) => status !== 'pass');
  const shown = wrong.length > 0 ? wrong : own.slice(0, 1);
  return (
    <>
      {shown.map((finding) => (
        <Finding key={`${finding.source} ${finding.check}`} {...finding} />
      ))}
      {fix && <span class="row-note small">{`To fix: ${fix.text}`}</span>}
      {fix?.record && (
        <code class="row-note small long">{`${fix.record.name} ${fix.record.type} ${fix.record.value}`}</code>
      )}
    </>
  );
}

const Finding = ({ source, status, title, at, path }: ComplianceFinding) => (
  <div class="own-finding">
    <StateMark state={status} word={OWN_WORDS[status]} />
    <span class="row-note small">
      <a href={path}>{title}</a>
    </span>
    <span class="row-note small">
      {source === 'tests' ? 'Test' : 'Health check'} <Ago at={at} />
    </span>
  </div>
);

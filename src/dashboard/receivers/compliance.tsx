/** The requirements of Google for senders, each beside what our own checks found about the same thing. */

import { StateMark } from '../../report/html/components.tsx';
import { Fold } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';

export interface OwnFinding {
  state: 'fail' | 'warn' | 'pass' | 'unknown';
  text: string;
  /** When it was found; null if nothing was. */
  at: string | null;
  path: string | null;
}

export interface ComplianceRow {
  /** The name that Google uses. */
  requirement: string;
  name: string;
  status: string;
  reason: string | null;
  since: string;
  checkedAt: string;
  /** Null if no check of this service can tell. */
  own: OwnFinding | null;
  /** Null if one of the two does not know. */
  agrees: boolean | null;
  fix: string | null;
}

export function Compliance({ rows }: { rows: ComplianceRow[] }) {
  const isOpen = ({ status, agrees }: ComplianceRow) => status !== 'COMPLIANT' || agrees === false;
  const open = rows.filter(isOpen).sort((a, b) => rank(a) - rank(b));
  const met = rows.filter((row) => !isOpen(row));
  return (
    <>
      {open.length > 0 && <RowTable label="Requirements that need work" rows={open} />}
      {met.length > 0 && (
        <Fold
          summary={
            <StateMark
              state="pass"
              word={`${met.length} ${met.length === 1 ? 'requirement' : 'requirements'} met`}
            />
          }
        >
          <RowTable label="Requirements that are met" rows={met} />
        </Fold>
      )}
    </>
  );
}

const rank = ({ status }: ComplianceRow): number => (status === 'NEEDS_WORK' ? 0 : 1);

const RowTable = ({ label, rows }: { label: string; rows: ComplianceRow[] }) => (
  <DataTable
    label={label}
    rows={rows}
    keyOf={({ requirement }) => requirement}
    columns={[
      {
        title: 'Requirement',
        cell: ({ name, agrees }) => (
          <>
            <strong>{name}</strong>
            {agrees === false && <span class="row-note small">The two disagree</span>}
          </>
        ),
      },
      { title: 'Google', cell: (row) => <GoogleVerdict {...row} /> },
      { title: 'Our checks', cell: (row) => <OwnVerdict {...row} /> },
    ]}
  />
);

function GoogleVerdict({ status, reason, since, checkedAt }: ComplianceRow) {
  const word =
    status === 'COMPLIANT'
      ? 'Met'
      : status === 'NEEDS_WORK'
        ? 'Needs work'
        : status.toLowerCase().replaceAll('_', ' ');
  const state =
    status === 'COMPLIANT' ? 'pass' : status === 'NEEDS_WORK' ? 'fail' : ('unknown' as const);
  return (
    <>
      <StateMark state={state} word={word} />
      {reason && (
        <span class="row-note small">
          <bdi>{reason}</bdi>
        </span>
      )}
      <span class="row-note small">
        {state === 'pass' ? (
          <>
            Read <Ago at={checkedAt} />
          </>
        ) : (
          <>
            Since <Ago at={since} />, read <Ago at={checkedAt} />
          </>
        )}
      </span>
    </>
  );
}

const OWN_WORDS = { fail: 'Failed', warn: 'Warning', pass: 'Passed', unknown: 'Not known' };

function OwnVerdict({ own, fix }: ComplianceRow) {
  if (own === null) return <span class="muted">Only Google can tell</span>;
  const { state, text, at, path } = own;
  return (
    <>
      <StateMark state={state} word={OWN_WORDS[state]} />
      <span class="row-note small">
        {path ? <a href={path}>{text}</a> : text}
        {at && (
          <>
            {' '}
            <Ago at={at} />
          </>
        )}
      </span>
      {fix && <span class="row-note small">{`To fix: ${fix}`}</span>}
    </>
  );
}

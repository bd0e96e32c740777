/** What is neither a finding nor a figure: passed, for information, not checked; each with its reason. */

import type { CheckResult } from '../../analysis/result.ts';
import type { Report } from '../report.ts';
import { categoryName, followsFromAnother } from '../report-words.ts';
import { EvidenceList } from './evidence.tsx';
import { ReferenceLink } from './fixes.tsx';
import { CheckState, Chevron } from './icons.tsx';
import { useAnchor, useBrief } from './place.tsx';
import { Fold, Section } from './section.tsx';
import { oneLine } from './shown-values.tsx';

export function RestSection({ report: { checks } }: { report: Report }) {
  const of = (...statuses: CheckResult['status'][]) =>
    checks.filter(({ status }) => statuses.includes(status));
  return (
    <Section id="rest" title="Everything else">
      <div class="stack">
        <Group title="Passed" checks={of('pass')} />
        <Group title="For your information" checks={of('info')} />
        <Group title="Not checked" checks={of('error', 'skipped')} />
      </div>
    </Section>
  );
}

function Group({ title, checks }: { title: string; checks: CheckResult[] }) {
  if (checks.length === 0) return null;
  return (
    <Fold title={title} count={checks.length === 1 ? '1 check' : `${checks.length} checks`}>
      <ul class="entries">
        {checks.map((check) => (
          <Entry key={check.id} check={check} />
        ))}
      </ul>
    </Fold>
  );
}

function Entry({ check }: { check: CheckResult }) {
  const anchor = useAnchor();
  const follows = followsFromAnother(check);
  const brief = useBrief();
  return (
    <li id={anchor(`check-${check.id}`)}>
      <div class="entry-head">
        <CheckState status={check.status} />
        <span class="muted small">
          {check.label} · {categoryName(check.category)}
        </span>
      </div>
      <p>
        <strong>{oneLine(check.title, 500)}</strong>
      </p>
      <p class="small">{follows ? 'It is decided by that check.' : oneLine(check.detail, 2000)}</p>
      {!follows && !brief && (
        <details class="plain">
          <summary class="small">
            <Chevron /> Evidence and rule
          </summary>
          <div class="plain-inner">
            {Object.keys(check.evidence).length > 0 && <EvidenceList evidence={check.evidence} />}
            <p class="small">
              <ReferenceLink reference={check.reference} />
            </p>
          </div>
        </details>
      )}
    </li>
  );
}

/** The health of a domain: what to fix first, what is unknown, and what passed in one line. */

import { worstFirst } from '../../analysis/domain/dangers.ts';
import { type DomainCheck, summarize } from '../../analysis/domain/health.ts';
import { recordCaution } from '../../domains/records-to-publish.ts';
import type { Domain } from '../../domains/schema.ts';
import { sanitize, stateOf } from '../../report/blocks.ts';
import { evidenceFacts } from '../../report/document/evidence.ts';
import { Blocks } from '../../report/html/paint.tsx';
import { Chevron, Icon, StateMark } from '../../ui/components.tsx';
import { PublishLink } from '../dns/parts.tsx';
import { ActionButton } from '../frame/action.tsx';
import { Card } from '../frame/card.tsx';
import { useReader } from '../frame/reader.tsx';
import { Fold, NotSetUp, Score, Waiting } from '../frame/states.tsx';
import { Ago, Due, Time } from '../frame/times.tsx';
import { DnsRecord } from './dns-record.tsx';
import { DOMAINS } from './list.tsx';
import { isWaiting } from './states.tsx';

export function Health({ domain }: { domain: Domain }) {
  const { id, name, status, health } = domain;
  const { testMode } = useReader();
  const actions = !testMode && (
    <ActionButton action={`${DOMAINS}/${id}/check`}>Check now</ActionButton>
  );
  const isVerified = status === 'verified';
  return (
    <Card title="Health" id="health" actions={actions}>
      {isWaiting(domain) ? (
        <p>
          <Waiting>Waiting for the first check.</Waiting>{' '}
          <span class="muted">It usually takes less than a minute. Reload the page to see it.</span>
        </p>
      ) : !isVerified && health.checked_at === null ? (
        <p>
          <NotSetUp>Not checked.</NotSetUp>{' '}
          <span class="muted">Select “Check now” to check the public DNS of {name}.</span>
        </p>
      ) : (
        <Findings domain={domain} />
      )}
      {!isVerified && health.checked_at !== null && (
        <p class="small muted">
          Public DNS was checked once. <a href="#verification">Verify the domain</a> to have it
          checked every day.
        </p>
      )}
    </Card>
  );
}

/** While not everything is answered. The page has `data-refresh` around it. */
export const LookupInProgress = ({ name, isEmpty }: { name: string; isEmpty: boolean }) => (
  <Card>
    <p>
      <Waiting>{isEmpty ? 'Looking up public DNS records' : 'Waiting for more answers'}</Waiting>{' '}
      <span class="muted">
        {isEmpty
          ? `The first results for ${name} appear within a few seconds. Without scripts, reload the page.`
          : 'Checks that still wait for DNS are unknown below. This page updates itself.'}
      </span>
    </p>
  </Card>
);

type Checked = Pick<Domain, 'name' | 'health'> & Partial<Domain>;

/** The verdict and all checks. */
export const Findings = ({ domain }: { domain: Checked }) => (
  <>
    <Verdict domain={domain} />
    {domain.health.checks.length > 0 && <Checks domain={domain} />}
  </>
);

/** The schema of the API says less about evidence. */
const checksOf = ({ health }: Checked) => health.checks as DomainCheck[];

function Verdict({ domain }: { domain: Checked }) {
  const { name, status, health, last_check_detail, missing_since } = domain;
  // While a record for verification is missing, the detail is about that record, and so is the next check.
  const isVerified = status === 'verified';
  const next_check_at = isVerified && domain.next_check_at;
  const hasFailed = isVerified && health.status === 'unknown' && missing_since === null;
  return (
    <div class="health-verdict">
      <p class="health-score">
        <Score score={health.score} grade={null} />
        {health.score !== null && <span class="muted small"> of 100</span>}
      </p>
      <div>
        <p>
          {hasFailed && last_check_detail
            ? last_check_detail
            : sanitize(summarize(name, health.status, checksOf(domain)))}
        </p>
        {health.unanswered_since && (
          <p>
            DNS lookups for this domain have gone unanswered since{' '}
            <Time at={health.unanswered_since} />. The findings below are from the last conclusive
            check.
          </p>
        )}
        <p class="small muted">
          {health.checked_at ? (
            <>
              {health.unanswered_since ? 'Last checked' : 'Checked'} <Ago at={health.checked_at} />.
            </>
          ) : (
            'No conclusive check yet.'
          )}{' '}
          {next_check_at && (
            <>
              Next check <Due at={next_check_at} />.
            </>
          )}
        </p>
      </div>
    </div>
  );
}

function Checks({ domain }: { domain: Checked }) {
  const checks = checksOf(domain);
  const toFix = worstFirst(checks);
  const others = checks.filter(({ severity }) => severity === null);
  const incomplete = others.filter(({ status }) => status === 'error');
  const passed = others.filter(({ status }) => status === 'pass');
  const skipped = others.filter(({ status }) => status === 'skipped');
  const optional = others.filter(({ status }) => ['fail', 'warn', 'info'].includes(status));
  return (
    <>
      {toFix.length > 0 && (
        <section class="stack" aria-labelledby="to-fix">
          <h3 id="to-fix">Fix these first</h3>
          <div class="check-list">
            {toFix.map((check, index) => (
              <Check key={keyOf(check, index)} check={check} domain={domain} />
            ))}
          </div>
        </section>
      )}
      {incomplete.length > 0 && (
        <section class="stack" aria-labelledby="unknown-checks">
          <h3 id="unknown-checks">Could not be checked</h3>
          <ReasonList checks={incomplete} />
        </section>
      )}
      {optional.length > 0 && (
        <Fold
          summary={<FoldTitle state="info" text={`${countOf(optional)} for your information`} />}
        >
          <div class="check-list">
            {optional.map((check, index) => (
              <Check key={keyOf(check, index)} check={check} domain={domain} />
            ))}
          </div>
        </Fold>
      )}
      {passed.length > 0 && (
        <Fold summary={<FoldTitle state="pass" text={`${countOf(passed)} passed`} />}>
          <div class="check-list">
            {passed.map((check, index) => (
              <Check key={keyOf(check, index)} check={check} domain={domain} />
            ))}
          </div>
        </Fold>
      )}
      {skipped.length > 0 && (
        <Fold summary={<FoldTitle state="unknown" text={`${countOf(skipped)} did not apply`} />}>
          <ReasonList checks={skipped} />
        </Fold>
      )}
    </>
  );
}

const countOf = ({ length }: DomainCheck[]): string =>
  length === 1 ? '1 check' : `${length} checks`;

/** A check of a DKIM key occurs once for each selector. */
const keyOf = ({ id }: DomainCheck, index: number): string => `${id}-${index}`;

const FoldTitle = ({ state, text }: { state: 'pass' | 'info' | 'unknown'; text: string }) => (
  <StateMark state={state} word={text} />
);

/** Checks without a result, each with its reason. Gray. */
const ReasonList = ({ checks }: { checks: DomainCheck[] }) => (
  <ul class="check-reasons">
    {checks.map((check, index) => (
      <li key={keyOf(check, index)}>
        <Icon state="unknown" />
        <span>
          <strong>{labelOf(check)}</strong> {sanitize(check.detail)}
        </span>
      </li>
    ))}
  </ul>
);

/** With the selector, if the check is about one key. */
function labelOf({ label, evidence: { selector } }: DomainCheck): string {
  return typeof selector === 'string' ? `${label} (${sanitize(selector)})` : label;
}

function stateOfCheck({ severity, status }: DomainCheck) {
  if (severity === null) return stateOf(status);
  return severity === 'critical' ? 'fail' : 'warn';
}

const WORDS = {
  fail: 'Critical',
  warn: 'Warning',
  pass: 'Passed',
  info: 'Information',
  unknown: 'Unknown',
};

/** The word for a failed check that has no effect on the health. */
const wordOf = (check: DomainCheck): string =>
  check.severity === null && check.status === 'fail' ? 'Failed' : WORDS[stateOfCheck(check)];

interface CheckProps {
  check: DomainCheck;
  domain: Checked;
}

function Check({ check, domain }: CheckProps) {
  const state = stateOfCheck(check);
  const { title, detail, fix, evidence, reference, status, severity } = check;
  const facts = sanitize(evidenceFacts(evidence));
  return (
    <details class="check-item">
      <summary>
        <Chevron />
        <span class="check-title">
          <strong>{sanitize(title)}</strong>
          <span class="small muted">{labelOf(check)}</span>
        </span>
        <StateMark state={state} word={wordOf(check)} />
      </summary>
      <div class="check-body">
        {status === 'error' && severity !== null && (
          <p class="small muted">
            This check could not be completed. Its last known result still counts.
          </p>
        )}
        {fix && <Fix check={check} domain={domain} />}
        {facts.rows.length > 0 && (
          <div>
            <h4>Evidence</h4>
            <div class="evidence">
              <Blocks blocks={[facts]} />
            </div>
          </div>
        )}
        <div>
          <h4>Why it matters</h4>
          <p>{sanitize(detail)}</p>
          <p class="small">
            <a href={reference.url} rel="noreferrer noopener" target="_blank">
              {reference.name}
            </a>
          </p>
        </div>
      </div>
    </details>
  );
}

function Fix({ check, domain }: Pick<CheckProps, 'check' | 'domain'>) {
  const { text, record, guide } = check.fix!;
  const caution = recordCaution(check, checksOf(domain));
  return (
    <div class="fix-box">
      <h4>What to change</h4>
      <p>{sanitize(text)}</p>
      {record && <DnsRecord record={record} domain={domain.name} />}
      {caution && <p class="small">{caution}</p>}
      {record && domain.id && <PublishLink domainId={domain.id} source={{ checks: check.id }} />}
      {guide && (
        <p class="small">
          <a href={guide.url} rel="noreferrer noopener" target="_blank">
            {guide.name}
          </a>
        </p>
      )}
    </div>
  );
}

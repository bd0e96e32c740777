/** "Fix these first": the findings by gain, each a line that opens to evidence, reason, rule and remedy. */

import type { ComponentChildren } from 'preact';
import type { Fix, Json, Reference } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { toFix } from '../../analysis/summary.ts';
import {
  capSentence,
  categoryName,
  FIRST_FINDINGS,
  followsFromAnother,
  formatPoints,
} from '../content.ts';
import { type Evidence, isObject, type Report } from '../report.ts';
import {
  AuthState,
  CheckState,
  Chevron,
  Code,
  Copyable,
  exactly,
  Fold,
  formatCount,
  formatOctets,
  formatSeconds,
  Heading,
  humanKey,
  Icon,
  isAuthResult,
  isIsoTime,
  linesOf,
  oneLine,
  Scroll,
  Section,
  State,
  Time,
  useAnchor,
  useBrief,
} from './components.tsx';

export function Fixes({ report }: { report: Report }) {
  const findings = toFix(report.checks);
  if (findings.length === 0)
    return (
      <Section id="fix" title="Fix these first">
        <p class="card padded">
          <State
            tone={report.score === null ? 'unknown' : 'pass'}
            word={
              report.score === null
                ? 'In what could be checked there is nothing to fix.'
                : 'There is nothing to fix.'
            }
          />
        </p>
      </Section>
    );
  const [first, rest] = [findings.slice(0, FIRST_FINDINGS), findings.slice(FIRST_FINDINGS)];
  const scored = report.score !== null;
  return (
    <Section id="fix" title="Fix these first" note={howToRead(report)}>
      {report.cap && (
        <p class="cap fail">
          <Icon tone="fail" />
          <span>
            <strong>{capSentence(report.cap)}</strong> {report.cap.reference}
          </span>
        </p>
      )}
      <div class="card findings">
        {first.map((check, index) => (
          <Finding key={check.id} check={check} scored={scored} open={index === 0} />
        ))}
        {rest.length > 0 && (
          <details class="more">
            <summary>
              <Chevron />
              {rest.length === 1 ? 'One smaller finding' : `${rest.length} smaller findings`}
            </summary>
            {rest.map((check) => (
              <Finding key={check.id} check={check} scored={scored} />
            ))}
          </details>
        )}
      </div>
    </Section>
  );
}

function howToRead({ score, cap }: Report): string {
  if (score === null) return 'Too little is known for a score, but this can be put right already.';
  const gain = 'The number is by how much your score would rise if this one thing were put right.';
  return cap ? `${gain} What stands at +0 counts again once nothing holds the score down.` : gain;
}

interface FindingProps {
  check: CheckResult;
  scored: boolean;
  open?: boolean;
}

function Finding({ check, scored, open }: FindingProps) {
  const anchor = useAnchor();
  return (
    <details class="finding" id={anchor(`check-${check.id}`)} open={open}>
      <summary>
        <Chevron />
        {scored && (
          <span class={check.gain > 0 ? 'gain number' : 'gain number none'}>
            +{formatPoints(check.gain)}
            <span class="visually-hidden"> points. </span>
          </span>
        )}
        <Heading rank={3}>{oneLine(check.title, 500)}</Heading>
        <span class="where">
          <span>{check.label}</span>
          <CheckState status={check.status} badge />
        </span>
      </summary>
      <div class="opened">
        {Object.keys(check.evidence).length > 0 && (
          <div class="block">
            <Heading rank={4}>What your message shows</Heading>
            <EvidenceList evidence={check.evidence} />
          </div>
        )}
        <div class="block">
          <Heading rank={4}>Why it matters</Heading>
          <p>{oneLine(check.detail, 2000)}</p>
          <p>
            <ReferenceLink reference={check.reference} />
          </p>
        </div>
        {check.fix && <Remedy fix={check.fix} />}
      </div>
    </details>
  );
}

/** Our own rules and texts alone have links; what comes from a message never becomes one. */
export function ReferenceLink({ reference }: { reference: Reference }) {
  if (!/^https?:\/\//.test(reference.url)) return <>{reference.name}</>;
  return (
    <a href={reference.url} rel="noreferrer noopener" target="_blank">
      {reference.name}
    </a>
  );
}

function Remedy({ fix }: { fix: Fix }) {
  return (
    <div class="block remedy">
      <Heading rank={4}>What to change</Heading>
      <p>{oneLine(fix.text, 4000)}</p>
      {fix.record && (
        <dl class="record">
          <div>
            <dt>Type</dt>
            <dd>
              <Code text={fix.record.type} max={20} />
            </dd>
          </div>
          <div>
            <dt>Name</dt>
            <dd>
              <Copyable text={exactly(fix.record.name)} label="name" />
            </dd>
          </div>
          <div>
            <dt>Value</dt>
            <dd>
              <Copyable text={exactly(fix.record.value)} label="value" />
            </dd>
          </div>
        </dl>
      )}
    </div>
  );
}

// What is neither a finding nor a figure: passed, for information, not checked; each with its reason.

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

// What a check noted, made readable: names and values, lists, and lists of alike things as tables.

/** Deeper, a value is shown as its JSON. */
const MAX_DEPTH = 3;
/** Longer text, and text of several lines, has a box of its own. */
const INLINE = 100;
/** More columns do not fit beside each other: a list each. */
const MAX_COLUMNS = 8;

export function EvidenceList({ evidence, depth = 0 }: { evidence: Evidence; depth?: number }) {
  return (
    <dl class="facts">
      {Object.entries(evidence).map(([key, value]) => (
        <div key={key}>
          <dt>{humanKey(key)}</dt>
          <dd>
            <Value name={key} value={value} depth={depth} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ValueProps {
  name: string;
  value: Json;
  depth: number;
}

function Value({ name, value, depth }: ValueProps) {
  if (value === null) return <Absent>none</Absent>;
  if (typeof value === 'boolean') return <YesOrNo name={name} value={value} />;
  if (typeof value === 'number') return <>{formatNumber(name, value)}</>;
  if (typeof value === 'string') return <Text name={name} value={value} />;
  if (depth > MAX_DEPTH) return <Code text={JSON.stringify(value)} max={500} />;
  if (Array.isArray(value)) return <List name={name} items={value} depth={depth} />;
  if (Object.keys(value).length === 0) return <Absent>none</Absent>;
  return <EvidenceList evidence={value} depth={depth + 1} />;
}

const Absent = ({ children }: { children: ComponentChildren }) => (
  <span class="muted">{children}</span>
);

function YesOrNo({ name, value }: { name: string; value: boolean }) {
  if (name !== 'aligned') return <>{value ? 'yes' : 'no'}</>;
  return value ? <State tone="pass" word="aligned" /> : <State tone="fail" word="not aligned" />;
}

function formatNumber(name: string, value: number): string {
  if (/seconds$/.test(name)) return formatSeconds(value);
  if (/(?:^|_)(?:octets|bytes|size)$/.test(name)) return formatOctets(value);
  return Number.isInteger(value) ? formatCount(value) : String(Math.round(value * 1000) / 1000);
}

function Text({ name, value }: { name: string; value: string }) {
  if (value === '') return <Absent>empty</Absent>;
  if (name === 'result' && isAuthResult(value)) return <AuthState result={value} />;
  if (isIsoTime(value)) return <Time iso={value} />;
  if (value.length <= INLINE && !value.includes('\n')) return <Code text={value} />;
  return <pre class="box">{linesOf(value)}</pre>;
}

function List({ name, items, depth }: { name: string; items: Json[]; depth: number }) {
  if (items.length === 0) return <Absent>none</Absent>;
  const objects = items.filter(isObject);
  const rest = items.filter((item) => !isObject(item));
  return (
    <>
      {objects.length > 0 && <Objects name={name} objects={objects} depth={depth} />}
      {rest.length > 0 && (
        <ul class="values">
          {rest.map((item) => (
            <li key={JSON.stringify(item)}>
              <Value name={name} value={item} depth={depth + 1} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Objects({ name, objects, depth }: { name: string; objects: Evidence[]; depth: number }) {
  const keys = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const isTable = keys.length <= MAX_COLUMNS && objects.every(isFlat);
  if (!isTable)
    return (
      <ol class="values">
        {objects.map((object, index) => (
          <li key={`${index + 1}`} class="nested">
            <EvidenceList evidence={object} depth={depth + 1} />
          </li>
        ))}
      </ol>
    );
  const told = keys.filter((key) => objects.some((object) => object[key] != null));
  return (
    <Scroll label={humanKey(name)}>
      <table class="compact">
        <thead>
          <tr>
            {told.map((key) => (
              <th key={key} scope="col">
                {humanKey(key)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {objects.map((object, index) => (
            <tr key={`${index + 1}`}>
              {told.map((key) => (
                <td key={key}>
                  <Value name={key} value={object[key] ?? null} depth={depth + 1} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Nothing in it but single values and short lists of them. */
const isFlat = (object: Evidence): boolean =>
  Object.values(object).every(
    (value) =>
      typeof value !== 'object' ||
      value === null ||
      (Array.isArray(value) &&
        value.length <= 5 &&
        value.every((item) => typeof item !== 'object')),
  );

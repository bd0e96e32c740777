/** What the large providers ask of senders, rule by rule: met, not met, or not known. */

import type { JudgedKind } from '../../analysis/kind.ts';
import type { ProviderVerdict, RuleStatus, RuleVerdict } from '../../analysis/result.ts';
import { type PlacementRow, placementTable } from '../content.ts';
import type { Report } from '../report.ts';
import {
  Chevron,
  formatSeconds,
  Heading,
  Icon,
  oneLine,
  Scroll,
  Section,
  State,
  type Tone,
  useAnchor,
} from './components.tsx';
import { ReferenceLink } from './findings.tsx';

export function ProvidersSection({ report }: { report: Report }) {
  return (
    <Section id="providers" title="Providers’ rules" note={<Kind judged={report.judged_kind} />}>
      {report.providers.length === 0 ? (
        <p class="card padded muted">The rules of the providers were not looked at.</p>
      ) : (
        <div class="cards">
          {report.providers.map((verdict) => (
            <Provider
              key={verdict.provider}
              verdict={verdict}
              bulk={report.judged_kind.kind === 'marketing'}
            />
          ))}
        </div>
      )}
    </Section>
  );
}

function Kind({ judged: { kind, reasons, by } }: { judged: JudgedKind }) {
  const why = reasons.map((reason) => oneLine(reason, 300)).join(' ');
  return (
    <>
      Judged as <strong>{kind} mail</strong>
      {by === 'message' && ', by what is in the message'}. {why}
      {by === 'message' && ' Where that is wrong, say which kind it is when you create the test.'}
    </>
  );
}

const RULE_STATES: Record<RuleStatus, { tone: Tone; word: string }> = {
  not_met: { tone: 'fail', word: 'Not met' },
  unknown: { tone: 'unknown', word: 'Unknown' },
  met: { tone: 'pass', word: 'Met' },
};

function Provider({ verdict, bulk }: { verdict: ProviderVerdict; bulk: boolean }) {
  const { provider, name, rules, reference } = verdict;
  const anchor = useAnchor();
  const id = anchor(`provider-${provider}`);
  const met = rules.filter(({ status }) => status === 'met');
  const unseen = rules.filter(({ status, checks }) => status === 'unknown' && checks.length === 0);
  const open = rules.filter((rule) => !met.includes(rule) && !unseen.includes(rule));
  return (
    <article class="card provider" aria-labelledby={id}>
      <header>
        <Heading rank={3} id={id}>
          {name}
        </Heading>
        <State {...readiness(verdict, bulk)} badge />
      </header>
      <Rules rules={open.toSorted((a, b) => rank(a) - rank(b))} />
      <Folded tone="pass" title={`${count(met)} met`} rules={met} />
      <Folded
        tone="unknown"
        title={`${count(unseen)} that no single message can show`}
        rules={unseen}
      />
      <p class="small">
        <ReferenceLink reference={reference} />
      </p>
    </article>
  );
}

/** Not ready for want of knowledge is not known to be unready. */
function readiness({ ready, rules }: ProviderVerdict, bulk: boolean): { tone: Tone; word: string } {
  if (ready) return { tone: 'pass', word: 'Ready' };
  const broken = rules.some(
    ({ status, applies }) => status === 'not_met' && (bulk || applies === 'any'),
  );
  return broken ? { tone: 'fail', word: 'Not ready' } : { tone: 'unknown', word: 'Not known' };
}

const rank = ({ status }: RuleVerdict): number => (status === 'not_met' ? 0 : 1);

const count = ({ length }: RuleVerdict[]): string => (length === 1 ? '1 rule' : `${length} rules`);

function Folded({ tone, title, rules }: { tone: Tone; title: string; rules: RuleVerdict[] }) {
  if (rules.length === 0) return null;
  return (
    <details class="plain">
      <summary>
        <State tone={tone} word={title} />
        <Chevron />
      </summary>
      <Rules rules={rules} />
    </details>
  );
}

function Rules({ rules }: { rules: RuleVerdict[] }) {
  if (rules.length === 0) return null;
  return (
    <ul class="rules small">
      {rules.map((rule) => (
        <li key={rule.id}>
          <State {...RULE_STATES[rule.status]} />
          <div>
            <p>
              {rule.title}
              {rule.applies === 'bulk' && <span class="muted"> (bulk mail)</span>}
            </p>
            <p class="muted">{oneLine(rule.detail)}</p>
            {rule.error && rule.status === 'not_met' && (
              <p class="muted">
                It answers <code>{rule.error}</code>
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

// Where the message landed: providers × places, with the number of seeds and the time it took.

const PLACE_TONES: Record<string, Tone> = {
  inbox: 'pass',
  promotions: 'info',
  social: 'info',
  updates: 'info',
  forums: 'info',
  spam: 'fail',
  missing: 'fail',
};

const toneOf = (place: string): Tone =>
  Object.hasOwn(PLACE_TONES, place) ? PLACE_TONES[place]! : 'unknown';

export function PlacementSection({ report }: { report: Report }) {
  const { columns, rows, inbox, settled } = placementTable(report.placement);
  if (rows.length === 0)
    return (
      <Section id="placement" title="Where it landed">
        <p class="card padded muted">
          No seed mailbox got this message, so where it lands at real providers is not known.
        </p>
      </Section>
    );
  return (
    <Section
      id="placement"
      title="Where it landed"
      note={
        settled > 0
          ? `${inbox} of ${settled} seed mailboxes have it in the inbox or one of its tabs. This never enters the score.`
          : 'No seed mailbox could tell yet. This never enters the score.'
      }
    >
      <Scroll class="card" label="Placement by provider">
        <table>
          <thead>
            <tr>
              <th scope="col">Provider</th>
              {columns.map(({ place, name }) => (
                <th key={place} scope="col" class="number">
                  {oneLine(name, 40)}
                </th>
              ))}
              <th scope="col" class="number">
                Seeds
              </th>
              <th scope="col" class="number">
                Arrived after
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.provider}>
                <th scope="row">{oneLine(row.provider, 60)}</th>
                {columns.map(({ place }, index) => (
                  <td key={place} class={`number ${toneOf(place)}`}>
                    <Count count={row.counts[index] ?? 0} tone={toneOf(place)} />
                  </td>
                ))}
                <td class="number">{row.seeds}</td>
                <td class="number">{arrival(row)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}

function Count({ count, tone }: { count: number; tone: Tone }) {
  if (count === 0) return <span class="muted">0</span>;
  return (
    <span class="tone">
      <Icon tone={tone} /> <strong>{count}</strong>
    </span>
  );
}

function arrival({ seconds }: PlacementRow): string {
  if (seconds === null) return '–';
  const [first, last] = seconds.map(formatSeconds);
  return first === last ? first! : `${first} – ${last}`;
}

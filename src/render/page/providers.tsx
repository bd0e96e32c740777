/** What the large providers ask of senders, rule by rule: met, not met, or not known. */

import type { JudgedKind } from '../../analysis/kind.ts';
import type {
  ProviderVerdict,
  RuleStatus,
  RuleVerdict,
} from '../../analysis/providers/provider.ts';
import type { Report } from '../report.ts';
import { ReferenceLink } from './fixes.tsx';
import { Chevron, State, type Tone } from './icons.tsx';
import { Section } from './section.tsx';
import { oneLine } from './shown-values.tsx';

export function ProvidersSection({ report }: { report: Report }) {
  return (
    <Section id="providers" title="Providers’ rules" note={<Kind judged={report.judged_kind} />}>
      {report.providers.length === 0 ? (
        <p class="card padded muted">The rules of the providers were not looked at.</p>
      ) : (
        <div class="cards">
          {report.providers.map((verdict) => (
            <Provider key={verdict.provider} verdict={verdict} />
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

const STATES: Record<RuleStatus, { tone: Tone; word: string }> = {
  not_met: { tone: 'fail', word: 'Not met' },
  unknown: { tone: 'unknown', word: 'Unknown' },
  met: { tone: 'pass', word: 'Met' },
};

function Provider({ verdict }: { verdict: ProviderVerdict }) {
  const { provider, name, ready, rules, reference } = verdict;
  const of = (status: RuleStatus) => rules.filter((rule) => rule.status === status);
  const met = of('met');
  return (
    <article class="card provider" aria-labelledby={`provider-${provider}`}>
      <header>
        <h3 id={`provider-${provider}`}>{name}</h3>
        {ready ? (
          <State tone="pass" word="Ready" badge />
        ) : (
          <State tone="fail" word="Not ready" badge />
        )}
      </header>
      <Rules rules={[...of('not_met'), ...of('unknown')]} />
      {met.length > 0 && (
        <details class="plain">
          <summary>
            <State tone="pass" word={met.length === 1 ? '1 rule met' : `${met.length} rules met`} />
            <Chevron />
          </summary>
          <Rules rules={met} />
        </details>
      )}
      <p class="small">
        <ReferenceLink reference={reference} />
      </p>
    </article>
  );
}

function Rules({ rules }: { rules: RuleVerdict[] }) {
  if (rules.length === 0) return null;
  return (
    <ul class="rules small">
      {rules.map((rule) => (
        <li key={rule.id}>
          <State {...STATES[rule.status]} />
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

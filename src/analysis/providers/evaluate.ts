/** Evaluates each mailbox provider's rules from the results of the checks. Pure. */

import {
  type AppliedConsequence,
  bySeverity,
  CONSEQUENCES,
  type ConsequenceId,
  consequencesOf,
  type FindFact,
  type MailKind,
  withSetupProblem,
} from '../consequences.ts';
import { gradeOf } from '../grade.ts';
import type { Classification } from '../kind.ts';
import {
  type CheckResult,
  factsOf,
  type ProviderVerdict,
  type ReportedFact,
  type RuleStatus,
  type RuleVerdict,
  readinessOf,
} from '../result.ts';
import { apple } from './apple.ts';
import { gmail } from './gmail.ts';
import { microsoft } from './microsoft.ts';
import { isTolerated, type ProviderRules, type Rule, type RuleOutcome } from './rule.ts';
import { yahoo } from './yahoo.ts';

/** In the order in which reports list them. */
export const PROVIDER_RULES: ProviderRules[] = [gmail, yahoo, microsoft, apple];

/** The checks behind each rule. */
const NEEDED_IDS = new Map(
  PROVIDER_RULES.flatMap(({ rules }) => rules).map((rule) => [
    rule,
    [...new Set(rule.needs.flat())],
  ]),
);

/**
 * Rules for bulk senders are always listed, but count only for marketing mail. Rules about
 * unsubscribing are listed only for marketing mail.
 */
export function providerVerdicts(
  checks: CheckResult[],
  { kind }: Pick<Classification, 'kind'>,
  facts = factsOf(checks),
): ProviderVerdict[] {
  const findFact: FindReported = (id) => facts.get(id);
  const applied = idsOf(consequencesOf(findFact, kind));
  return PROVIDER_RULES.map(({ provider, name, reference, rules }) => {
    const verdicts = rules
      .filter((rule) => isListed(rule, findFact, kind))
      .map((rule): RuleVerdict => {
        const outcome = outcomeOf(rule, findFact, applied);
        const { id, title, applies, error } = rule;
        const titles = outcome.detail ?? explain(rule, outcome, findFact);
        const detail = outcome.note ? `${titles} ${outcome.note}` : titles;
        const neededIds = NEEDED_IDS.get(rule)!;
        return { id, title, applies, status: outcome.status, detail, checks: neededIds, error };
      });
    const status = readinessOf(verdicts, kind);
    const ready = status === 'ready';
    return { provider, name, ready, status, reference, rules: verdicts };
  });
}

/** A rule for bulk senders counts for marketing mail only. */
const isApplicable = ({ applies }: Rule, kind: MailKind): boolean =>
  kind === 'marketing' || applies === 'any';

const isListed = ({ marketingOnly, listedIf }: Rule, find: FindFact, kind: MailKind): boolean =>
  (kind === 'marketing' || !marketingOnly) && (listedIf?.(find) ?? true);

const idsOf = (consequences: AppliedConsequence[]): Set<string> =>
  new Set(consequences.map(({ id }) => id));

// The consequences of a message, with that of unmet rules, and the providers that each concerns.

/** No grade A while a rule that applies is not met. */
export const REQUIREMENT_LIMIT = 89;

/** The worst of all consequences of a message; null if it has none. */
export function worstConsequence(find: FindFact, kind: MailKind): AppliedConsequence | null {
  const consequences = consequencesOf(find, kind);
  const worst = consequences[0] ? withSetupProblem(consequences[0], find) : null;
  // Then it does not matter whether a rule is unmet.
  if (worst && bySeverity(worst, REQUIREMENT) <= 0) return worst;
  const applied = idsOf(consequences);
  const unmet = PROVIDER_RULES.filter(({ rules }) =>
    rules.some(
      (rule) =>
        isApplicable(rule, kind) &&
        isListed(rule, find, kind) &&
        outcomeOf(rule, find, applied).status === 'not_met',
    ),
  ).map(({ name }) => name);
  return unmet.length === 0 ? worst : requirementOf(unmet);
}

const REQUIREMENT = { limit: REQUIREMENT_LIMIT, effect: 'requirement' } as const;

const requirementOf = (names: string[]): AppliedConsequence => ({
  ...REQUIREMENT,
  id: 'requirement',
  actor: 'Mailbox providers',
  reason: `The message does not meet all sender requirements of ${LIST.format(names)}.`,
  problem: 'it breaks provider rules',
  reference: 'The rules of these providers in this report',
});

/** The providers with an unmet rule that names this consequence and applies to the message. */
export function namedProviders(
  consequence: string,
  providers: ProviderVerdict[],
  kind: MailKind,
): string[] {
  return PROVIDER_RULES.flatMap(({ provider, name, rules }) => {
    const verdict = providers.find((one) => one.provider === provider);
    const isNamed = rules.some(
      (rule) =>
        rule.consequences?.includes(consequence as ConsequenceId) &&
        isApplicable(rule, kind) &&
        verdict?.rules.some(({ id, status }) => id === rule.id && status === 'not_met'),
    );
    return isNamed ? [name] : [];
  });
}

// Evaluates one rule from the results of the checks.

/** Created once: creating it costs more than most checks. */
const LIST = new Intl.ListFormat('en-GB');

function outcomeOf(rule: Rule, find: FindFact, applied: Set<string>): RuleOutcome {
  const own = rule.evaluate?.(find);
  if (own) return own;
  return isBrokenBy(rule, applied) ? { status: 'not_met' } : evaluateNeeds(rule, find);
}

function isBrokenBy({ consequences = [] }: Rule, applied: Set<string>): boolean {
  for (const id of consequences) if (applied.has(id)) return true;
  return false;
}

function evaluateNeeds({ needs }: Rule, find: FindFact): RuleOutcome {
  if (needs.length === 0) return NOT_IN_MESSAGE;
  let isOpen = false;
  for (const ids of needs) {
    const status = statusOfAll(ids, find);
    if (status === 'met') return { status, because: ids };
    isOpen ||= status === 'unknown';
  }
  return { status: isOpen ? 'unknown' : 'not_met' };
}

const NOT_IN_MESSAGE: RuleOutcome = {
  status: 'unknown',
  detail: 'A single message cannot show whether you meet this requirement.',
};

function statusOfAll(ids: string[], find: FindFact): RuleStatus {
  let combined: RuleStatus = 'met';
  for (const id of ids) {
    const status = statusOf(id, find);
    if (status === 'not_met') return status;
    if (status === 'unknown') combined = status;
  }
  return combined;
}

/**
 * No provider rejects mail for a warning. A check that was skipped because another one failed is not
 * met. Any other skipped check did not apply, so the status is unknown.
 */
function statusOf(id: string, find: FindFact): RuleStatus {
  const fact = find(id);
  if (!fact) return 'unknown';
  const { status, failedCauses } = fact;
  if (status === 'pass' || status === 'warn' || status === 'info') return 'met';
  if (status === 'fail') return isTolerated(fact, find) ? 'met' : 'not_met';
  return failedCauses.length > 0 ? 'not_met' : 'unknown';
}

// Why a rule has its status: the titles of the checks behind it.

type FindReported = (id: string) => ReportedFact | undefined;

function explain(rule: Rule, { status, because }: RuleOutcome, find: FindReported): string {
  const ids = because ?? NEEDED_IDS.get(rule)!;
  if (status === 'met') return explainMet(ids, find);
  const deciding = ids.filter((id) => statusOf(id, find) === status);
  return joinDistinct(titlesBehind(deciding.length > 0 ? deciding : ids, find));
}

const titlesBehind = (ids: string[], find: FindReported): string[] =>
  ids.length === 1 ? titlesOf(ids[0]!, find) : ids.flatMap((id) => titlesOf(id, find));

/** The title of a check; for one that was skipped because others failed, their titles. */
function titlesOf(id: string, find: FindReported): string[] {
  const fact = find(id);
  if (!fact) return [`The check ${id} did not run.`];
  if (fact.failedCauses.length === 0) return [fact.title];
  return fact.failedCauses.map((cause) => find(cause)?.title ?? fact.title);
}

function explainMet(ids: string[], find: FindReported): string {
  if (ids.length <= 2) return joinDistinct(titlesBehind(ids, find));
  // Problems are shown too if no provider rejects mail for them.
  const problems = ids.filter((id) => ['warn', 'fail'].includes(find(id)?.status ?? ''));
  const labels = ids.filter((id) => !problems.includes(id)).map((id) => find(id)?.label ?? id);
  const passed = `No problems found in: ${LIST.format(labels)}.`;
  return joinDistinct([...(labels.length > 0 ? [passed] : []), ...titlesBehind(problems, find)]);
}

const joinDistinct = (sentences: string[]): string =>
  sentences.length === 1 ? sentences[0]! : [...new Set(sentences)].join(' ');

// For docs/scoring.md.

/** The provider rules that break with a consequence, by provider. */
function rulesOf(consequence: string): string {
  const names = PROVIDER_RULES.filter(({ rules }) =>
    rules.some(({ consequences }) => consequences?.some((id) => id === consequence)),
  ).map(({ name }) => name);
  return names.length === 0 ? '' : names.join(', ');
}

/** The table of caps, as Markdown without a final line break. */
export function capTable(): string {
  const rows = CONSEQUENCES.map(({ id, limit, reason, reference }) =>
    [String(limit), gradeOf(limit), reason, rulesOf(id), reference].join(' | '),
  );
  const last = [
    String(REQUIREMENT_LIMIT),
    gradeOf(REQUIREMENT_LIMIT),
    'Any other provider rule that applies is not met.',
    'the provider of the rule',
    'The message is not ready for that provider.',
  ].join(' | ');
  return [
    '| at most | grade | problem | not ready for | reason |',
    '|---|---|---|---|---|',
    ...[...rows, last].map((row) => `| ${row} |`),
  ].join('\n');
}

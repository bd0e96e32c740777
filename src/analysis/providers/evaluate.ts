/** The verdict of each mailbox provider, out of what the checks found; pure. */

import type { JudgedKind } from '../kind.ts';
import type { CheckResult, ProviderVerdict, RuleStatus, RuleVerdict } from '../result.ts';
import { apple } from './apple.ts';
import { gmail } from './gmail.ts';
import { microsoft } from './microsoft.ts';
import type { Find, Judgement, ProviderRules, Rule } from './rule.ts';
import { yahoo } from './yahoo.ts';

/** In the order of reports. */
export const PROVIDER_RULES: ProviderRules[] = [gmail, yahoo, microsoft, apple];

/**
 * Rules for bulk senders are always listed, but count for `ready` in marketing mail alone; those on
 * unsubscribing are left out of other mail.
 */
export function providerVerdicts(checks: CheckResult[], judged: JudgedKind): ProviderVerdict[] {
  const byId = new Map(checks.map((check) => [check.id, check]));
  const find: Find = (id) => byId.get(id);
  const bulk = judged.kind === 'marketing';
  return PROVIDER_RULES.map(({ provider, name, reference, rules }) => {
    const judgedRules = rules
      .filter(({ marketingOnly }) => bulk || !marketingOnly)
      .map((rule) => ({ rule, verdict: judgeRule(rule, find) }));
    const ready = judgedRules
      .filter(({ rule }) => rule.needs.length > 0 && (bulk || rule.applies === 'any'))
      .every(
        ({ rule, verdict: { status } }) =>
          status === 'met' || (status === 'unknown' && rule.dependsOnThirdParty === true),
      );
    return { provider, name, ready, reference, rules: judgedRules.map(({ verdict }) => verdict) };
  });
}

// Whether a message keeps one rule, out of what the checks found, and the sentence that says why.

const FOLLOWS = 'follows from ';
/** Made once: making one costs more than most checks. */
const AND = new Intl.ListFormat('en-GB');

function judgeRule(rule: Rule, find: Find): RuleVerdict {
  const { id, title, applies, error, needs } = rule;
  const checks = [...new Set(needs.flat())];
  const { status, detail } = rule.judge?.(find) ?? judgeNeeds(needs, find);
  return { id, title, applies, status, detail, checks, error };
}

function judgeNeeds(needs: string[][], find: Find): Judgement {
  if (needs.length === 0)
    return { status: 'unknown', detail: 'A single message cannot show whether this rule is kept.' };
  const groups = needs.map((ids) => ({ ids, status: all(ids.map((id) => statusOf(find(id)))) }));
  const met = groups.find(({ status }) => status === 'met');
  if (met) return { status: 'met', detail: keptBy(met.ids, find) };
  const status = groups.some((group) => group.status === 'unknown') ? 'unknown' : 'not_met';
  const ids = groups.flatMap((group) => group.ids.filter((id) => statusOf(find(id)) === status));
  return { status, detail: sentences(ids.flatMap((id) => causes(id, find))) };
}

function all(statuses: RuleStatus[]): RuleStatus {
  if (statuses.includes('not_met')) return 'not_met';
  return statuses.includes('unknown') ? 'unknown' : 'met';
}

/**
 * A warning is a weakness that no provider refuses; what follows from a failed check is not met
 * with that one; any other skipped check did not apply, which tells nothing.
 */
function statusOf(result: CheckResult | undefined): RuleStatus {
  if (!result) return 'unknown';
  if (result.status === 'pass' || result.status === 'warn' || result.status === 'info')
    return 'met';
  if (result.status === 'fail') return 'not_met';
  return failedChecksBehind(result).length > 0 ? 'not_met' : 'unknown';
}

/** The failed checks that this one follows from. */
function failedChecksBehind({ status, detail }: CheckResult): string[] {
  return status === 'skipped' && detail.startsWith(FOLLOWS)
    ? detail.slice(FOLLOWS.length).split(', ')
    : [];
}

/** What a check found, in its own words; of one that follows, what the others found. */
function causes(id: string, find: Find): string[] {
  const result = find(id);
  if (!result) return [`The check ${id} was not made.`];
  const roots = failedChecksBehind(result);
  if (roots.length === 0) return [result.title];
  return roots.map((root) => find(root)?.title ?? result.title);
}

function keptBy(ids: string[], find: Find): string {
  if (ids.length <= 2) return sentences(ids.flatMap((id) => causes(id, find)));
  // A weakness that no provider refuses is told all the same.
  const weak = ids.filter((id) => find(id)?.status === 'warn');
  const labels = ids.filter((id) => !weak.includes(id)).map((id) => find(id)?.label ?? id);
  const sound = `Nothing is wrong with ${AND.format(labels)}.`;
  return sentences([
    ...(labels.length > 0 ? [sound] : []),
    ...weak.flatMap((id) => causes(id, find)),
  ]);
}

const sentences = (list: string[]): string => [...new Set(list)].join(' ');

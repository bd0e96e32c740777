/** Evaluates each mailbox provider's rules from the results of the checks. Pure. */

import type { Classification } from '../kind.ts';
import {
  type CheckResult,
  failedDependencies,
  type ProviderVerdict,
  type RuleStatus,
  type RuleVerdict,
} from '../result.ts';
import { apple } from './apple.ts';
import { gmail } from './gmail.ts';
import { microsoft } from './microsoft.ts';
import type { FindResult, ProviderRules, Rule, RuleOutcome } from './rule.ts';
import { yahoo } from './yahoo.ts';

/** In the order in which reports list them. */
export const PROVIDER_RULES: ProviderRules[] = [gmail, yahoo, microsoft, apple];

/**
 * Rules for bulk senders are always listed, but count for `ready` only in marketing mail. Rules
 * about unsubscribing are listed only for marketing mail.
 */
export function providerVerdicts(checks: CheckResult[], kind: Classification): ProviderVerdict[] {
  const byId = new Map(checks.map((check) => [check.id, check]));
  const find: FindResult = (id) => byId.get(id);
  const isBulk = kind.kind === 'marketing';
  return PROVIDER_RULES.map(({ provider, name, reference, rules }) => {
    const evaluated = rules
      .filter(({ marketingOnly }) => isBulk || !marketingOnly)
      .map((rule) => ({ rule, verdict: evaluateRule(rule, find) }));
    const ready = evaluated
      .filter(({ rule }) => rule.needs.length > 0 && (isBulk || rule.applies === 'any'))
      .every(
        ({ rule, verdict: { status } }) =>
          status === 'met' || (status === 'unknown' && rule.dependsOnThirdParty === true),
      );
    return { provider, name, ready, reference, rules: evaluated.map(({ verdict }) => verdict) };
  });
}

// Evaluates one rule from the results of the checks.

/** Created once: creating it costs more than most checks. */
const LIST = new Intl.ListFormat('en-GB');

function evaluateRule(rule: Rule, find: FindResult): RuleVerdict {
  const { id, title, applies, error, needs } = rule;
  const checks = [...new Set(needs.flat())];
  const { status, detail } = rule.evaluate?.(find) ?? evaluateNeeds(needs, find);
  return { id, title, applies, status, detail, checks, error };
}

function evaluateNeeds(needs: string[][], find: FindResult): RuleOutcome {
  if (needs.length === 0)
    return {
      status: 'unknown',
      detail: 'A single message cannot show whether you meet this requirement.',
    };
  const groups = needs.map((ids) => ({
    ids,
    status: combine(ids.map((id) => statusOf(find(id)))),
  }));
  const met = groups.find(({ status }) => status === 'met');
  if (met) return { status: 'met', detail: explainMet(met.ids, find) };
  const status = groups.some((group) => group.status === 'unknown') ? 'unknown' : 'not_met';
  const ids = groups.flatMap((group) => group.ids.filter((id) => statusOf(find(id)) === status));
  return { status, detail: joinDistinct(ids.flatMap((id) => titlesBehind(id, find))) };
}

function combine(statuses: RuleStatus[]): RuleStatus {
  if (statuses.includes('not_met')) return 'not_met';
  return statuses.includes('unknown') ? 'unknown' : 'met';
}

/**
 * No provider rejects mail for a warning. A check that was skipped because another one failed is not
 * met. Any other skipped check did not apply, so the status is unknown.
 */
function statusOf(result: CheckResult | undefined): RuleStatus {
  if (!result) return 'unknown';
  if (result.status === 'pass' || result.status === 'warn' || result.status === 'info')
    return 'met';
  if (result.status === 'fail') return 'not_met';
  return failedDependencies(result).length > 0 ? 'not_met' : 'unknown';
}

/** The title of a check; for one that was skipped because others failed, their titles. */
function titlesBehind(id: string, find: FindResult): string[] {
  const result = find(id);
  if (!result) return [`The check ${id} did not run.`];
  const causes = failedDependencies(result);
  if (causes.length === 0) return [result.title];
  return causes.map((cause) => find(cause)?.title ?? result.title);
}

function explainMet(ids: string[], find: FindResult): string {
  if (ids.length <= 2) return joinDistinct(ids.flatMap((id) => titlesBehind(id, find)));
  // Warnings are shown too, although no provider rejects mail for them.
  const warnings = ids.filter((id) => find(id)?.status === 'warn');
  const labels = ids.filter((id) => !warnings.includes(id)).map((id) => find(id)?.label ?? id);
  const passed = `No problems found in: ${LIST.format(labels)}.`;
  return joinDistinct([
    ...(labels.length > 0 ? [passed] : []),
    ...warnings.flatMap((id) => titlesBehind(id, find)),
  ]);
}

const joinDistinct = (sentences: string[]): string => [...new Set(sentences)].join(' ');

/** The verdict of each mailbox provider, out of what the checks found; pure. */

import type { JudgedKind } from '../kind.ts';
import type { CheckResult } from '../result.ts';
import { apple } from './apple.ts';
import { gmail } from './gmail.ts';
import { judgeRule } from './judge-rule.ts';
import { microsoft } from './microsoft.ts';
import type { ProviderVerdict } from './provider.ts';
import type { Find, ProviderRules } from './rule.ts';
import { yahoo } from './yahoo.ts';

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
          status === 'met' || (status === 'unknown' && rule.toldByOthers === true),
      );
    return { provider, name, ready, reference, rules: judgedRules.map(({ verdict }) => verdict) };
  });
}

/** How a mailbox provider's published rules are declared. */

import type { Reference } from '../check.ts';
import {
  type CheckResult,
  failedDependencies,
  type Provider,
  type RuleVerdict,
} from '../result.ts';

/** The rules of one provider, one file each. `evaluate.ts` lists them. */
export interface ProviderRules {
  provider: Provider;
  name: string;
  /** Where the provider publishes its rules. */
  reference: Reference;
  rules: Rule[];
}

/** One published rule. */
export interface Rule extends Pick<RuleVerdict, 'id' | 'title' | 'applies' | 'error'> {
  /**
   * Groups of check ids. The rule is met if all checks of any one group pass. Empty if no single
   * message can show whether the rule is met.
   */
  needs: string[][];
  /** The rule is only listed for marketing mail. */
  marketingOnly?: true;
  /** A third party decides, such as a blocklist. If it does not answer, the mail can still be `ready`. */
  dependsOnThirdParty?: true;
  /** Takes precedence, for what check statuses do not show. Returns null to fall back to `needs`. */
  evaluate?(find: FindResult): RuleOutcome | null;
}

/** Returns a check's result by its id; undefined if the check did not run. */
export type FindResult = (id: string) => CheckResult | undefined;

export type RuleOutcome = Pick<RuleVerdict, 'status' | 'detail'>;

// Shared by the rules of several providers.

/** The checks for RFC 5322 header fields and lines, except `from`: Gmail has its own rule for it. */
export const FORMAT_CHECKS = ['date', 'message_id', 'header_duplicates', 'line_length', 'encoding'];

/** Alignment in DMARC terms: SPF or DKIM passes for the From domain. */
export const ALIGNMENT_CHECKS = [
  ['spf', 'spf_alignment'],
  ['dkim', 'dkim_alignment'],
];

/** All four providers apply the DMARC policy of the From domain to mail of any sender. */
export const dmarcPolicyRule = (error: string | null): Rule => ({
  id: 'dmarc_policy',
  title: 'If the From domain publishes p=quarantine or p=reject, mail passes DMARC.',
  applies: 'any',
  needs: [['dmarc']],
  error,
  // With p=none or no record, mail that fails DMARC breaks no rule.
  evaluate(find) {
    const dmarc = find('dmarc');
    if (dmarc?.status === 'fail' && dmarc.evidence.policy === 'none')
      return {
        status: 'met',
        detail: `${dmarc.title} The DMARC policy in effect is none: failing mail is still delivered.`,
      };
    const hasNoRecord =
      dmarc &&
      failedDependencies(dmarc).some((id) => id === 'dmarc_policy' || id === 'dmarc_record');
    return hasNoRecord
      ? { status: 'met', detail: 'The From domain has no DMARC policy to apply.' }
      : null;
  },
});

/**
 * For a rule that even a warning of this check breaks. An unsubscribe link without readable text only
 * warns, for example, but providers require it to be clearly visible.
 */
export const failsOnWarning =
  (id: string) =>
  (find: FindResult): RuleOutcome | null => {
    const result = find(id);
    return result?.status === 'warn' ? { status: 'not_met', detail: result.title } : null;
  };

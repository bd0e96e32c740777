/** How a mailbox provider's published rules are declared. */

import type { Reference } from '../check.ts';
import type { CheckResult, Provider, RuleVerdict } from '../result.ts';

/** One provider, in one file; `evaluate.ts` lists them. */
export interface ProviderRules {
  provider: Provider;
  name: string;
  /** Where the provider publishes its rules. */
  reference: Reference;
  rules: Rule[];
}

/** One published rule, with everything that is known about it. */
export interface Rule extends Pick<RuleVerdict, 'id' | 'title' | 'applies' | 'error'> {
  /**
   * Ids of checks: the rule is met where all of any one of these groups are. Empty where no single
   * message can show it.
   */
  needs: string[][];
  /** It is about marketing mail alone: for other mail it is left out. */
  marketingOnly?: true;
  /** It rests on what others say about the sender: where they don't answer, the mail can still be `ready`. */
  dependsOnThirdParty?: true;
  /** Comes first, for what the statuses of checks don't tell; null leaves it to `needs`. */
  judge?(find: Find): Judgement | null;
}

/** A check's result by its id; undefined where the check was not run. */
export type Find = (id: string) => CheckResult | undefined;

export type Judgement = Pick<RuleVerdict, 'status' | 'detail'>;

// What the rules of several providers have in common.

/** What RFC 5322 asks of header and lines, as far as one message shows it; From has its own check. */
export const FORMAT = ['date', 'message_id', 'header_duplicates', 'line_length', 'encoding'];

/** The From domain is that of a passing SPF or DKIM: what DMARC calls alignment. */
export const ALIGNED = [
  ['spf', 'spf_alignment'],
  ['dkim', 'dkim_alignment'],
];

/** All four do with mail of any sender what the DMARC policy of its From domain asks. */
export const dmarcPolicyKept = (error: string | null): Rule => ({
  id: 'dmarc_policy',
  title: 'Mail passes DMARC where the policy of its From domain asks to set aside or refuse it.',
  applies: 'any',
  needs: [['dmarc']],
  error,
  // Without a policy that asks for anything, failing mail breaks no rule.
  judge(find) {
    const dmarc = find('dmarc');
    if (dmarc?.status === 'fail' && dmarc.evidence.policy === 'none')
      return { status: 'met', detail: `${dmarc.title} The policy asks for nothing to be done.` };
    const noRecord =
      dmarc?.status === 'skipped' && /^follows from .*dmarc_(?:policy|record)/.test(dmarc.detail);
    return noRecord ? { status: 'met', detail: 'There is no policy that mail could fail.' } : null;
  },
});

/**
 * For a rule that a warning of this check breaks too: a link that has nothing to read only warns, but
 * providers want it to be easy to see.
 */
export const failsOnWarning =
  (id: string) =>
  (find: Find): Judgement | null => {
    const result = find(id);
    return result?.status === 'warn' ? { status: 'not_met', detail: result.title } : null;
  };

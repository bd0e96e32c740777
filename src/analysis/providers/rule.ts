/** How a provider's published rules are declared: which checks show that a message keeps one. */

import type { Reference } from '../check.ts';
import type { CheckResult, Provider, RuleVerdict } from '../result.ts';

/** A check's result by its id; undefined where it was not made. */
export type Find = (id: string) => CheckResult | undefined;

export interface Rule extends Pick<RuleVerdict, 'id' | 'title' | 'applies' | 'error'> {
  /**
   * Ids of checks: the rule is met where all of any one of these groups are. Empty where no single
   * message can show it.
   */
  needs: string[][];
  /** It is about marketing mail alone: for other mail it is left out. */
  marketingOnly?: true;
  /** It tells what others say of the sender: where they did not answer, it does not keep from `ready`. */
  toldByOthers?: true;
  /** Comes first, for what the statuses of checks do not tell; null leaves it to `needs`. */
  judge?(find: Find): Judgement | null;
}

export type Judgement = Pick<RuleVerdict, 'status' | 'detail'>;

export interface ProviderRules {
  provider: Provider;
  name: string;
  reference: Reference;
  rules: Rule[];
}

// What the rules of several providers have in common.

/** What RFC 5322 asks of header and lines, as far as one message shows it; From is told of apart. */
export const FORMAT = ['date', 'message_id', 'header_duplicates', 'line_length', 'encoding'];

/** The From domain is that of a passing SPF or DKIM: what DMARC calls alignment. */
export const ALIGNED = [
  ['spf', 'spf_alignment'],
  ['dkim', 'dkim_alignment'],
];

/** All four do with mail of any sender what the DMARC policy of its From domain asks. */
export const policyKept = (error: string | null): Rule => ({
  id: 'dmarc_policy',
  title: 'Mail passes DMARC where the policy of its From domain asks to set aside or refuse it.',
  applies: 'any',
  needs: [['dmarc']],
  judge: withoutPolicy,
  error,
});

function withoutPolicy(find: Find): Judgement | null {
  const dmarc = find('dmarc');
  if (dmarc?.status === 'fail' && dmarc.evidence.policy === 'none')
    return { status: 'met', detail: `${dmarc.title} The policy asks for nothing to be done.` };
  const noRecord =
    dmarc?.status === 'skipped' && /^follows from .*dmarc_(?:policy|record)/.test(dmarc.detail);
  return noRecord ? { status: 'met', detail: 'There is no policy that mail could fail.' } : null;
}

/**
 * For a rule that a weakness breaks too: a link that has nothing to read only warns, but providers
 * want it to be easy to see.
 */
export const withoutWeakness =
  (id: string) =>
  (find: Find): Judgement | null => {
    const result = find(id);
    return result?.status === 'warn' ? { status: 'not_met', detail: result.title } : null;
  };

/** What the rules of several providers have in common. */

import type { Find, Judgement, Rule } from './rule.ts';

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

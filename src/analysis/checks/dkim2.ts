/** The check `dkim2`: verifies signatures of the proposed DKIM2 standard. Informational only. */

import { type Check, info, offline } from '../check.ts';
import { DKIM2_DRAFT, type Dkim2Outcome, verifyDkim2 } from '../dkim2/verify.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { fields } from '../mime/message.ts';

/** DKIM2 is an IETF draft. No mailbox provider requires it, so it does not affect the score. */
export const dkim2: Check = {
  id: 'dkim2',
  category: 'authentication',
  points: 0,
  label: 'DKIM2',
  reference: {
    name: DKIM2_DRAFT,
    url: `https://datatracker.ietf.org/doc/html/${DKIM2_DRAFT}`,
  },
  publicEvidence: {
    dkim2_signatures: 'shown',
    domains: 'shown',
    result: 'shown',
    reason: 'shown',
    draft: 'shown',
  },
  async run(context) {
    const found = fields(context.message, 'DKIM2-Signature');
    if (found.length === 0)
      return info(
        'Your message has no DKIM2 signature.',
        'DKIM2 is still a draft standard. You do not need it yet.',
      );
    if (context.offline) return offline('The DKIM2 signatures were not verified.');
    const outcome = await context.fact(verifyDkim2);
    const claimed = found.slice(0, 10).map(({ value }) => parseTagList(value).get('d') ?? null);
    return info(...describe(outcome), {
      dkim2_signatures: found.length,
      domains: outcome.domains.length > 0 ? outcome.domains : claimed,
      result: outcome.result,
      reason: outcome.reason,
      draft: DKIM2_DRAFT,
    });
  },
};

const NOTE = `DKIM2 is still a draft, so this does not affect delivery. It was verified against ${DKIM2_DRAFT}.`;

function describe({ result, reason, domains }: Dkim2Outcome): [title: string, detail: string] {
  const signer = domains.at(-1) ?? 'an unnamed domain';
  if (result === 'pass') return [`The DKIM2 signature by ${signer} is valid.`, NOTE];
  if (result === null)
    return ['The DKIM2 signatures were not verified in full.', `Reason: ${reason}. ${NOTE}`];
  if (result === 'temperror')
    return ['The DKIM2 signatures could not be verified.', `Reason: ${reason}. ${NOTE}`];
  return ['The DKIM2 signatures of your message are invalid.', `Reason: ${reason}. ${NOTE}`];
}

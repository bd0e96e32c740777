/** The check `dkim2`: tells that a message carries signatures of the coming standard; nothing more. */

import { type Check, info } from '../check.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { fields } from '../mime/message.ts';

/** DKIM2 is a draft of the IETF's dkim working group; no receiver acts on it, so nothing is verified. */
export const dkim2: Check = {
  id: 'dkim2',
  category: 'authentication',
  points: 0,
  label: 'DKIM2',
  reference: {
    name: 'draft-ietf-dkim-dkim2-spec',
    url: 'https://datatracker.ietf.org/doc/draft-ietf-dkim-dkim2-spec/',
  },
  publicEvidence: { dkim2_signatures: 'shown', domains: 'shown' },
  run({ message }) {
    const found = fields(message, 'DKIM2-Signature');
    if (found.length === 0)
      return info(
        'Your message carries no DKIM2 signature.',
        'DKIM2 is still being made; nothing is lost without it.',
      );
    const domains = found.slice(0, 10).map(({ value }) => parseTagList(value).get('d') ?? null);
    return info(
      'Your message carries a DKIM2 signature.',
      'DKIM2 is still being made, so its signatures are named here and not verified.',
      { dkim2_signatures: found.length, domains },
    );
  },
};

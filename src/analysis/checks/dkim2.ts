/** The check `dkim2`: lists signatures of the future DKIM2 standard. Informational only. */

import { type Check, info } from '../check.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { fields } from '../mime/message.ts';

/** DKIM2 is an IETF draft. No mailbox provider acts on it yet, so nothing is verified. */
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
        'Your message has no DKIM2 signature.',
        'DKIM2 is still a draft standard. You do not need it yet.',
      );
    const domains = found.slice(0, 10).map(({ value }) => parseTagList(value).get('d') ?? null);
    return info(
      'Your message has a DKIM2 signature.',
      'DKIM2 is still a draft standard. Its signatures are listed here but not verified.',
      { dkim2_signatures: found.length, domains },
    );
  },
};

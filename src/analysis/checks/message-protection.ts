/** `message_protection`: a signature or encryption for the recipient, with S/MIME or OpenPGP. */

import { type Check, info, rfc, skipped } from '../check.ts';
import { protectionOf } from '../mime/protection.ts';

export const messageProtection: Check = {
  id: 'message_protection',
  category: 'compliance',
  points: 0,
  label: 'S/MIME and OpenPGP',
  reference: rfc(8551),
  publicEvidence: { kind: 'shown', by: 'shown', opaque: 'shown' },
  run({ message }) {
    const protection = protectionOf(message);
    if (!protection)
      return skipped(
        'Your message has no S/MIME or OpenPGP signature and is not encrypted with either.',
        'Ordinary mail needs neither: DKIM signs it for mail servers.',
      );
    const { kind, by, opaque } = protection;
    return info(
      `Your message is ${kind} with ${by}.`,
      opaque
        ? 'Neither this service nor spam filters can read its content. Checks of the text are skipped.'
        : 'Its content stays readable, so spam filters and all checks can read it.',
      { kind, by, opaque },
    );
  },
};

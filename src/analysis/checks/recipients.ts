/** `recipients`: To and Cc have at least one recipient, and not too many. */

import { type Check, pass, rfc, unknown, warn } from '../check.ts';
import { listEntries } from '../mime/mailbox-list.ts';
import { fields, LIMITS, type Message } from '../mime/message.ts';

/** More addresses in To and Cc cause a warning. */
const MAX_RECIPIENTS = 50;

export const recipients: Check = {
  id: 'recipients',
  category: 'compliance',
  points: 1,
  label: 'Recipients',
  issueTitle: 'Too many recipients in To and Cc, or none',
  reference: rfc(5322, '3.6.3'),
  publicEvidence: { to: 'shown', cc: 'shown' },
  run({ message }) {
    const to = countAddresses(message, 'to');
    const cc = countAddresses(message, 'cc');
    const count = to + cc;
    if (count > MAX_RECIPIENTS)
      return warn({
        title: `Your message lists ${count.toLocaleString('en')} recipients in To and Cc.`,
        detail: `All recipients see each other's addresses, and spam filters treat more than ${MAX_RECIPIENTS} as a sign of spam.`,
        fix: 'Send each recipient a separate message with only their address in To.',
        evidence: { to, cc },
      });
    if (count > 0)
      return pass('Your message has a visible recipient.', 'To or Cc has an address.', { to, cc });
    if (message.headerBytes > LIMITS.headerBytes)
      return unknown(
        'Could not determine whether your message has a visible recipient.',
        'Your header is too long to read in full. The rest may contain To or Cc.',
      );
    return warn({
      title: 'Your message has no recipient in To or Cc.',
      detail:
        'Spam is often sent only to Bcc recipients, so spam filters penalize messages without a visible recipient.',
      fix: "Put the recipient's address in To.",
      evidence: { to, cc },
    });
  },
};

/** Includes the members of groups; `undisclosed-recipients:;` has none. */
function countAddresses(message: Message, name: string): number {
  return fields(message, name)
    .flatMap(({ value }) => listEntries(value))
    .filter((entry) => entry.includes('@')).length;
}

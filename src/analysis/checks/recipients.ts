/** `recipients`: somebody is named in To or Cc, and not a crowd. */

import { type Check, pass, rfc, unknown, warn } from '../check.ts';
import { listEntries } from '../mime/mailbox-list.ts';
import { fields, LIMITS, type Message } from '../mime/message.ts';

/** More addresses than this in To and Cc warn. */
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
        title: `Your message names ${count.toLocaleString('en')} recipients in To and Cc.`,
        detail: `More than ${MAX_RECIPIENTS} show everybody's address to everybody, and filters take that for spam.`,
        fix: 'Send each recipient a message of their own, with only their address in To.',
        evidence: { to, cc },
      });
    if (count > 0)
      return pass('Your message names its recipients.', 'To or Cc has an address.', { to, cc });
    if (message.headerBytes > LIMITS.headerBytes)
      return unknown(
        "Your message's recipients could not be found.",
        'The header is longer than what is looked at; To or Cc may come after that.',
      );
    return warn({
      title: 'Your message names no recipient in To or Cc.',
      detail:
        'Mail without a visible recipient was sent by Bcc alone, as much spam is; filters count it.',
      fix: 'Put the address of the recipient into To.',
      evidence: { to, cc },
    });
  },
};

/** Members of groups count; `undisclosed-recipients:;` has none. */
function countAddresses(message: Message, name: string): number {
  return fields(message, name)
    .flatMap(({ value }) => listEntries(value))
    .filter((entry) => entry.includes('@')).length;
}

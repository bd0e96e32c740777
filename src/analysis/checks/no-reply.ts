/** `no_reply`: whether replies go to an address that says nobody reads them. */

import { type Check, info, rfc } from '../check.ts';
import { entryAddress, listEntries } from '../mime/mailbox-list.ts';
import { fieldValue } from '../mime/message.ts';

// Matches the local part without dots and dashes, in several languages.
const NO_REPLY =
  /^(?:auto|mail|info|news)?(?:noreply|noreplies|donotreply|dontreply|noresponder|noresponda|naoresponda|naoresponder|nepasrepondre|keineantwort|nichtantworten|nonrispondere|nietantwoorden|ejsvara|svaraej|ikkesvar|noresponse)/;

/** Informs only: such an address is allowed, but replies show mailbox providers that mail is wanted. */
export const noReply: Check = {
  id: 'no_reply',
  category: 'compliance',
  points: 0,
  label: 'No-reply address',
  reference: rfc(5322, '3.6.2'),
  publicEvidence: { from: 'shown', reply_to: 'token-free' },
  run({ message }) {
    const from = message.from[0]?.address ?? '';
    const field = fieldValue(message, 'reply-to');
    const entry = field === null ? undefined : listEntries(field.slice(0, 2000))[0];
    const replyTo = entry === undefined ? null : entryAddress(entry);
    const target = (replyTo ?? from).slice(0, 320);
    const evidence = { from: from.slice(0, 320), reply_to: replyTo?.slice(0, 320) ?? null };
    if (target !== '' && isNoReply(target))
      return info(
        `Replies go to a no-reply address: ${target}.`,
        'This is allowed. But replies show mailbox providers that mail is wanted, and recipients who cannot reply may report spam.',
        evidence,
      );
    if (isNoReply(from))
      return info(
        `Your From address is a no-reply address, but replies go to ${target}.`,
        'Recipients see the From address first. You can use the Reply-To address as the From address instead.',
        evidence,
      );
    return info(
      'Recipients can reply to your message.',
      'Neither From nor Reply-To has a no-reply address.',
      evidence,
    );
  },
};

function isNoReply(address: string): boolean {
  const localPart = address.slice(0, address.lastIndexOf('@')).slice(0, 64);
  return NO_REPLY.test(localPart.toLowerCase().replace(/[^a-z]/g, ''));
}

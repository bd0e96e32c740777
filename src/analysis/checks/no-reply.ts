/** `no_reply`: whether answers are wanted, as far as the addresses say. */

import { type Check, info, rfc } from '../check.ts';
import { listEntries } from '../mime/mailbox-list.ts';
import { fieldValue } from '../mime/message.ts';

// The local part without its dots and dashes, in the languages that have a word for it.
const NO_REPLY =
  /^(?:auto|mail|info|news)?(?:noreply|noreplies|donotreply|dontreply|noresponder|noresponda|naoresponda|naoresponder|nepasrepondre|keineantwort|nichtantworten|nonrispondere|nietantwoorden|ejsvara|svaraej|ikkesvar|noresponse)/;

/** Told alone: such an address is no fault, but answers are what shows receivers that mail is wanted. */
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
    const replyTo = entry?.replace(/^.*</, '').replace(/>$/, '') ?? null;
    const answered = (replyTo ?? from).slice(0, 320);
    const evidence = { from: from.slice(0, 320), reply_to: replyTo?.slice(0, 320) ?? null };
    if (answered !== '' && isNoReply(answered))
      return info(
        `Your message asks not to be answered: ${answered}.`,
        'That is allowed. Answers do show mailbox providers that mail is wanted, though, and readers who cannot answer may press the spam button.',
        evidence,
      );
    if (isNoReply(from))
      return info(
        `Your From address says that it is not read, but answers go to ${answered}.`,
        'Readers see the From address first: the address in Reply-To could stand there itself.',
        evidence,
      );
    return info(
      'Your message can be answered.',
      'No address in From or Reply-To says that answers are not read.',
      evidence,
    );
  },
};

function isNoReply(address: string): boolean {
  const local = address.slice(0, address.lastIndexOf('@')).slice(0, 64);
  return NO_REPLY.test(local.toLowerCase().replace(/[^a-z]/g, ''));
}

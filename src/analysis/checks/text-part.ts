/** `text_part`: recipients without HTML can read the message. */

import { type Check, type Finding, fail, pass, rfc, skipped, unknown, warn } from '../check.ts';
import type { Message } from '../mime/message.ts';
import { protectionOf } from '../mime/protection.ts';
import { hasVisibleText } from '../text.ts';

/**
 * HTML alone warns: all large mailbox providers display it, but filters penalize it and some clients
 * show raw tags. An empty text part fails: text-only clients show a blank message.
 */
export const textPart: Check = {
  id: 'text_part',
  category: 'content',
  points: 3,
  label: 'Text part',
  issueTitle: 'The text part is missing or empty',
  reference: rfc(2046, '5.1.4'),
  publicEvidence: { text: 'shown', html: 'shown' },
  run({ message }) {
    const protection = protectionOf(message);
    if (protection?.opaque)
      return skipped(
        'The text part was not checked.',
        `Your message is ${protection.kind} with ${protection.by}, so its text cannot be read here.`,
      );
    if (hasVisibleText(message.text ?? ''))
      return pass(
        message.html === null
          ? 'Your message is plain text.'
          : 'Your message has a text part and HTML.',
        'Recipients can read it with or without HTML.',
        { text: true, html: message.html !== null },
      );
    if (message.exceededLimits.length > 0)
      return unknown(
        'Could not determine whether your message has a text part.',
        `Your message has ${message.exceededLimits.join('; ')}. The rest may contain a text part.`,
      );
    return withoutText(message);
  },
};

function withoutText(message: Message): Finding {
  const evidence = { text: message.text !== null, html: message.html !== null };
  if (message.html === null)
    return fail({
      title: 'Your message has no text.',
      detail:
        'It has neither readable text nor readable HTML. Spam filters penalize such messages.',
      fix: 'Put the content in the message itself, as text/plain or as multipart/alternative with text and HTML.',
      evidence,
    });
  if (message.text !== null)
    return fail({
      title: 'Your text part is empty.',
      detail:
        'Devices and programs that prefer text, such as watches and screen readers, show a blank message. Spam filters see that the two parts differ.',
      fix: 'Fill the text part with the content of the HTML part.',
      evidence,
    });
  return warn({
    title: 'Your message is HTML only.',
    detail:
      'Spam filters such as SpamAssassin penalize HTML without a text part, and text-only clients show raw tags.',
    fix: 'Send multipart/alternative with the same content twice: first as text/plain, then as text/html.',
    evidence,
  });
}

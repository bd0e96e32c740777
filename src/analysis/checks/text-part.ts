/** `text_part`: a reader without HTML has something to read. */

import { type Check, type Finding, fail, pass, rfc, unknown, warn } from '../check.ts';
import type { Message } from '../mime/message.ts';
import { isVisible } from '../text.ts';

/**
 * HTML alone warns: every large receiver shows it, but filters count it and some readers see raw
 * tags. A text part that is there and empty fails: a reader without HTML sees a blank message.
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
    if (isVisible(message.text ?? ''))
      return pass(
        message.html === null
          ? 'Your message is plain text.'
          : 'Your message has a text part beside the HTML.',
        'Everybody can read it, without HTML too.',
        { text: true, html: message.html !== null },
      );
    if (message.limits.length > 0)
      return unknown(
        'A text part could not be looked for.',
        `Your message has ${message.limits.join('; ')}; a text part may lie beyond that.`,
      );
    return withoutText(message);
  },
};

const FIX =
  'Send multipart/alternative with the same content twice: first as text/plain, then as text/html.';

function withoutText(message: Message): Finding {
  const evidence = { text: message.text !== null, html: message.html !== null };
  if (message.html === null)
    return fail({
      title: 'Your message has no text.',
      detail:
        'It has neither a text part nor an HTML part with anything to read; filters count that.',
      fix: 'Put the content into the message itself, as text/plain or as multipart/alternative with text and HTML.',
      evidence,
    });
  if (message.text !== null)
    return fail({
      title: 'Your text part is empty.',
      detail:
        'Readers that prefer text, watches and screen readers among them, show a blank message, and filters see that the two parts differ.',
      fix: 'Fill the text part with the content of the HTML part.',
      evidence,
    });
  return warn({
    title: 'Your message is HTML only.',
    detail:
      'Filters such as SpamAssassin count HTML without a text part, and readers without HTML see raw tags.',
    fix: FIX,
    evidence,
  });
}

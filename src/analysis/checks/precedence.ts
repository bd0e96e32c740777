/** `precedence`: whether the message tells auto-responders not to answer. */

import { type Check, info, rfc, skipped } from '../check.ts';
import { fieldValue } from '../mime/message.ts';

/** Precedence is only a convention (RFC 2076 §3.9); Auto-Submitted is the standard (RFC 3834 §5). */
export const precedence: Check = {
  id: 'precedence',
  category: 'compliance',
  points: 0,
  label: 'Precedence and Auto-Submitted',
  reference: rfc(3834, '5'),
  publicEvidence: { precedence: 'shown', auto_submitted: 'shown' },
  run({ message }) {
    const textOf = (name: string) => fieldValue(message, name)?.slice(0, 200) ?? null;
    const evidence = {
      precedence: textOf('precedence'),
      auto_submitted: textOf('auto-submitted'),
    };
    const fieldTexts = [
      evidence.precedence !== null && `Precedence: ${evidence.precedence}`,
      evidence.auto_submitted !== null && `Auto-Submitted: ${evidence.auto_submitted}`,
    ].filter((text) => text !== false);
    if (fieldTexts.length === 0)
      return skipped(
        'Your message has neither Precedence nor Auto-Submitted.',
        'Auto-responders, such as out-of-office replies, may reply to it.',
      );
    return info(
      `Your message has ${fieldTexts.join(' and ')}.`,
      isAutomatic(evidence)
        ? 'Auto-responders, such as out-of-office replies, do not answer it.'
        : 'This does not stop auto-responders from answering it.',
      evidence,
    );
  },
};

function isAutomatic(values: {
  precedence: string | null;
  auto_submitted: string | null;
}): boolean {
  const autoSubmitted = values.auto_submitted?.trim().toLowerCase() ?? 'no';
  return /^\s*(?:bulk|list|junk)\b/i.test(values.precedence ?? '') || !/^no\b/.test(autoSubmitted);
}

/** `precedence`: what the message says of itself to programs that answer by themselves. */

import { type Check, info, rfc, skipped } from '../check.ts';
import { fieldValue } from '../mime/message.ts';

/** Precedence is custom alone (RFC 2076 §3.9); Auto-Submitted is the standard's word (RFC 3834 §5). */
export const precedence: Check = {
  id: 'precedence',
  category: 'compliance',
  points: 0,
  label: 'Precedence and Auto-Submitted',
  reference: rfc(3834, '5'),
  publicEvidence: { precedence: 'shown', auto_submitted: 'shown' },
  run({ message }) {
    const said = (name: string) => fieldValue(message, name)?.slice(0, 200) ?? null;
    const evidence = { precedence: said('precedence'), auto_submitted: said('auto-submitted') };
    const shown = [
      evidence.precedence !== null && `Precedence: ${evidence.precedence}`,
      evidence.auto_submitted !== null && `Auto-Submitted: ${evidence.auto_submitted}`,
    ].filter((text) => text !== false);
    if (shown.length === 0)
      return skipped(
        'Your message has neither Precedence nor Auto-Submitted.',
        'Programs that answer by themselves, out-of-office notes among them, may answer it.',
      );
    return info(
      `Your message says ${shown.join(' and ')}.`,
      isAutomatic(evidence)
        ? 'Programs that answer by themselves, out-of-office notes among them, will leave it unanswered.'
        : 'That keeps no program from answering by itself.',
      evidence,
    );
  },
};

function isAutomatic(said: { precedence: string | null; auto_submitted: string | null }): boolean {
  const auto = said.auto_submitted?.trim().toLowerCase() ?? 'no';
  return /^\s*(?:bulk|list|junk)\b/i.test(said.precedence ?? '') || !/^no\b/.test(auto);
}

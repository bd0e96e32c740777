/** `subject`: the message has a subject of at most 998 octets. */

import { type Check, fail, missingField, pass, rfc } from '../check.ts';
import { fields, MAX_LINE_OCTETS } from '../mime/message.ts';

/** Octets of the unfolded value. */
const MAX_OCTETS = 998;

/** Checks the first Subject field; `header_duplicates` reports duplicates. */
export const subject: Check = {
  id: 'subject',
  category: 'compliance',
  points: 1,
  label: 'Subject',
  issueTitle: 'The subject is missing, empty or too long',
  reference: rfc(5322, '3.6.5'),
  publicEvidence: { octets: 'shown', limit: 'shown' },
  run({ message }) {
    const field = fields(message, 'subject')[0];
    if (!field) return missingField(message, 'Subject', ABSENT);
    if ((message.subject ?? '').trim() === '') return fail(EMPTY);
    const octets = Buffer.byteLength(field.value);
    if (octets > MAX_OCTETS)
      return {
        ...fail({
          title: `Your subject is too long (${octets.toLocaleString('en')} bytes).`,
          detail: `A line can have at most ${MAX_OCTETS} bytes. Some mail servers truncate or reject longer lines.`,
          fix: 'Shorten the subject. Email clients show about 60 characters.',
          evidence: { octets, limit: MAX_OCTETS },
        }),
        // If it is on one line, `line_length` reports the same cause.
        dependsOn: isOneLongLine(field.raw) ? ['line_length'] : undefined,
      };
    return pass('Your message has a subject.', 'Its length is within the limit of the standard.', {
      octets,
    });
  },
};

const WHY = {
  detail: 'Recipients ignore mail without a subject, and spam filters penalize it.',
  fix: 'Add a subject that says what the message is about.',
};

const ABSENT = { title: 'Your message has no Subject field.', ...WHY };

const EMPTY = { title: 'Your subject is empty.', ...WHY };

const isOneLongLine = (raw: string): boolean =>
  raw.split('\n').some((line) => line.replace(/\r$/, '').length > MAX_LINE_OCTETS);

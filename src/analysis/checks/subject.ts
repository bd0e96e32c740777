/** `subject`: there is one, and it fits into 998 octets. */

import { absentField, type Check, fail, pass, rfc } from '../check.ts';
import { fields, MAX_LINE_OCTETS } from '../mime/message.ts';

/** Octets of the unfolded value. */
const MAX_OCTETS = 998;

/** Looks at the first Subject field; a doubled one belongs to `header_duplicates`. */
export const subject: Check = {
  id: 'subject',
  category: 'compliance',
  points: 1,
  label: 'Subject',
  issueTitle: 'The Subject is missing, empty or too long',
  reference: rfc(5322, '3.6.5'),
  publicEvidence: { octets: 'shown', limit: 'shown' },
  run({ message }) {
    const field = fields(message, 'subject')[0];
    if (!field) return absentField(message, 'Subject', ABSENT);
    if ((message.subject ?? '').trim() === '') return fail(EMPTY);
    const octets = Buffer.byteLength(field.value);
    if (octets > MAX_OCTETS)
      return {
        ...fail({
          title: `Your Subject is ${octets.toLocaleString('en')} octets long.`,
          detail: `More than ${MAX_OCTETS} is more than a line may hold; receivers cut or reject it.`,
          fix: 'Shorten the subject; programs show about 60 characters of it.',
          evidence: { octets, limit: MAX_OCTETS },
        }),
        // Written in one line it is a line too long as well: one cause, one finding.
        dependsOn: isOneLongLine(field.raw) ? ['line_length'] : undefined,
      };
    return pass('Your message has a subject.', 'Its length is within what the standard allows.', {
      octets,
    });
  },
};

const FIX = 'Give the message a subject that says what it is about.';

const ABSENT = {
  title: 'Your message has no Subject field.',
  detail: 'Readers skip mail without a subject, and filters count it.',
  fix: FIX,
};

const EMPTY = {
  title: 'Your Subject is empty.',
  detail: 'Readers skip mail without a subject, and filters count it.',
  fix: FIX,
};

const isOneLongLine = (raw: string): boolean =>
  raw.split('\n').some((line) => line.replace(/\r$/, '').length > MAX_LINE_OCTETS);

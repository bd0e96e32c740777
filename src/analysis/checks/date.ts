/** `date`: the Date field is readable and within a day of the time of receipt. */

import { isoTime } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/durations.ts';
import { type Check, fail, missingField, pass, rfc, warn } from '../check.ts';
import { mailDate, parseMailDate } from '../mime/mail-date.ts';
import { fieldValue } from '../mime/message.ts';

/** The largest allowed difference between Date and the time of receipt, in either direction. */
const MAX_SKEW_MS = 24 * 60 * 60 * 1000;
/** Any time serves as an example of the format. */
const EXAMPLE = Date.UTC(2026, 10, 21, 10);

/** Reads the first Date field; repeated ones belong to `header_duplicates`. */
export const date: Check = {
  id: 'date',
  category: 'compliance',
  points: 2,
  label: 'Date',
  issueTitle: 'The Date field is missing or invalid',
  reference: rfc(5322, '3.6.1'),
  publicEvidence: { date: 'shown', sent_at: 'shown', received_at: 'shown' },
  run({ message, receivedAt, envelope }) {
    const value = fieldValue(message, 'date');
    if (value === null) return missingField(message, 'Date', ABSENT);
    const fix = `Write the time of sending in this format: "Date: ${mailDate(receivedAt ?? EXAMPLE)}".`;
    const parsed = parseMailDate(value);
    const evidence = { date: value.slice(0, 200) };
    if (!parsed)
      return fail({
        title: 'Your Date field is not a valid date.',
        detail:
          'Email clients that cannot read it put the message in the wrong place, and spam filters penalize it.',
        fix,
        evidence,
      });
    const skew = receivedAt === null ? 0 : parsed.ms - receivedAt;
    const times = {
      ...evidence,
      sent_at: isoTime(parsed.ms),
      received_at: receivedAt === null ? null : isoTime(receivedAt),
    };
    if (Math.abs(skew) > MAX_SKEW_MS)
      return fail({
        title: `Your Date field is ${formatDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the time of receipt.`,
        detail:
          'If the difference is more than a day, the message appears in the wrong place in a sorted inbox, so recipients miss it. Spam filters penalize it too.',
        fix: 'Set Date when the message is sent. Check the clock and the time zone of the sending server.',
        evidence: times,
      });
    if (parsed.deviation)
      return warn({
        title: 'Your Date field does not follow the standard format.',
        detail: `Email clients can read it, but it ${parsed.deviation}.`,
        fix,
        evidence: times,
      });
    if (receivedAt === null)
      return pass(
        'Your Date field is valid.',
        `The time of receipt is not known: ${envelope.file ? 'this is a file' : 'no server recorded it'}.`,
        times,
      );
    return pass(
      'Your Date field is valid and matches the time of receipt.',
      'Email clients sort the message correctly.',
      times,
    );
  },
};

const ABSENT = {
  title: 'Your message has no Date field.',
  detail:
    'Every message must have a Date and a From field. Some mail servers reject a message without Date; others add their own time.',
  fix: 'Configure the sending program to add a Date field when it sends the message.',
};

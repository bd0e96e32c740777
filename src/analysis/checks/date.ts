/** `date`: a Date field that can be read and lies within a day of the receipt. */

import { isoTime } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/durations.ts';
import { absentField, type Check, fail, pass, rfc, warn } from '../check.ts';
import { mailDate, parseMailDate } from '../mime/mail-date.ts';
import { fieldValue } from '../mime/message.ts';

/** The furthest that Date may lie from the time of receipt, either way. */
const MAX_SKEW_MS = 24 * 60 * 60 * 1000;

/** Looks at the first Date field; a doubled one belongs to `header_duplicates`. */
export const date: Check = {
  id: 'date',
  category: 'compliance',
  points: 2,
  label: 'Date',
  issueTitle: 'The Date field is missing or faulty',
  reference: rfc(5322, '3.6.1'),
  publicEvidence: { date: 'shown', sent_at: 'shown', received_at: 'shown' },
  run({ message, receivedAt }) {
    const value = fieldValue(message, 'date');
    if (value === null) return absentField(message, 'Date', ABSENT);
    const fix = `Write the time of sending like this: "Date: ${mailDate(receivedAt)}".`;
    const parsed = parseMailDate(value);
    const evidence = { date: value.slice(0, 200) };
    if (!parsed)
      return fail({
        title: 'Your Date field is not a valid date.',
        detail: 'Receivers that cannot read it sort the message wrongly, and filters count it.',
        fix,
        evidence,
      });
    const skew = parsed.ms - receivedAt;
    const times = { ...evidence, sent_at: isoTime(parsed.ms), received_at: isoTime(receivedAt) };
    if (Math.abs(skew) > MAX_SKEW_MS)
      return fail({
        title: `Your Date field is ${formatDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the time of receipt.`,
        detail:
          'A date more than a day off puts the message out of sight in a sorted inbox, and filters count it.',
        fix: 'Set Date when the message is sent, and check the clock and the time zone of the sending machine.',
        evidence: times,
      });
    if (parsed.oddity)
      return warn({
        title: 'Your Date field is not written as the standard asks.',
        detail: `It can be read, but it ${parsed.oddity}.`,
        fix,
        evidence: times,
      });
    return pass(
      'Your Date field is valid and fits the time of receipt.',
      'Receivers sort the message where it belongs.',
      times,
    );
  },
};

const ABSENT = {
  title: 'Your message has no Date field.',
  detail:
    'Date is one of the two fields that every message must have. Some receivers reject without it, others fill in their own time.',
  fix: 'Have the sending program add a Date field when it sends the message.',
};

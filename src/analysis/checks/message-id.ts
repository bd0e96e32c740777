/** `message_id`: one Message-ID, of the form that tells messages apart. */

import { absentField, type Check, type Finding, fail, pass, rfc, warn } from '../check.ts';
import { withoutComments } from '../mime/mail-date.ts';
import { fields } from '../mime/message.ts';

// Wider than the grammar on the left, where real programs put all sorts of things, and strict about
// what makes it one token: the brackets, one @, no white space.
const MESSAGE_ID = /^<[^\s<>@]+@([^\s<>@]+)>$/;

/** A doubled Message-ID is found here alone: `header_duplicates` leaves it out. */
export const messageId: Check = {
  id: 'message_id',
  category: 'compliance',
  points: 2,
  label: 'Message-ID',
  issueTitle: 'The Message-ID is missing or faulty',
  reference: rfc(5322, '3.6.4'),
  publicEvidence: { message_id: 'shown', values: 'shown' },
  run({ message }) {
    const found = fields(message, 'message-id');
    const field = found[0];
    if (!field) return absentField(message, 'Message-ID', ABSENT);
    if (found.length > 1) return doubled(found.map(({ value }) => value));
    const match = MESSAGE_ID.exec(withoutComments(field.value).trim());
    const evidence = { message_id: field.value.slice(0, 300) };
    if (!match)
      return fail({
        title: 'Your Message-ID is not valid.',
        detail: 'Gmail rejects mail without a valid Message-ID; others cannot thread or trace it.',
        fix: FORM,
        evidence,
      });
    const host = match[1]!;
    if (!/[.[]/.test(host))
      return warn({
        title: 'Your Message-ID does not end in a full domain name.',
        detail: `"${host.slice(0, 100)}" is the name of no host on the Internet, so the Message-ID may not be unique.`,
        fix: FORM,
        evidence,
      });
    return pass(
      'Your message has one valid Message-ID.',
      'It can be threaded and traced.',
      evidence,
    );
  },
};

const FORM =
  'Have the sending program write "Message-ID: <unique-part@example.com>", with a new unique part for each message and a domain of yours after the @.';

const ABSENT = {
  title: 'Your message has no Message-ID.',
  detail: 'Gmail rejects mail without a valid Message-ID; others cannot thread or trace it.',
  fix: FORM,
};

function doubled(values: string[]): Finding {
  return fail({
    title: `Your message has ${values.length.toLocaleString('en')} Message-ID fields.`,
    detail: 'Only one is allowed; receivers reject such mail or cannot tell which one counts.',
    fix: 'Remove all Message-ID fields but one; look for a program that adds its own to the one you set.',
    evidence: { values: values.slice(0, 5).map((value) => value.slice(0, 200)) },
  });
}

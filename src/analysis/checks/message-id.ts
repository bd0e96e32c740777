/** `message_id`: the message has one valid, unique Message-ID. */

import { type Check, type Finding, fail, info, missingField, pass, rfc, warn } from '../check.ts';
import { isLocalName } from '../dns/names.ts';
import { withoutComments } from '../mime/mail-date.ts';
import { fields } from '../mime/message.ts';

// More lenient than the grammar before the @, because real software puts anything there. Strict
// about what makes it one token: the brackets, one @, no white space.
const MESSAGE_ID = /^<[^\s<>@]+@([^\s<>@]+)>$/;

/** A duplicate Message-ID is reported only here: `header_duplicates` ignores it. */
export const messageId: Check = {
  id: 'message_id',
  category: 'compliance',
  points: 2,
  label: 'Message-ID',
  issueTitle: 'Message-ID is missing or invalid',
  reference: rfc(5322, '3.6.4'),
  publicEvidence: { message_id: 'shown', values: 'shown' },
  run({ message }) {
    const found = fields(message, 'message-id');
    const field = found[0];
    if (!field) return missingField(message, 'Message-ID', ABSENT);
    if (found.length > 1) return duplicated(found.map(({ value }) => value));
    const match = MESSAGE_ID.exec(withoutComments(field.value).trim());
    const evidence = { message_id: field.value.slice(0, 300) };
    if (!match)
      return fail({
        title: 'Your Message-ID is invalid.',
        detail: REJECTED,
        fix: 'Correct the field: "Message-ID: <unique-part@example.com>", in angle brackets, with exactly one @ and no spaces. Keep only this one field.',
        evidence,
      });
    const host = match[1]!;
    if (/^(?:[^.]+\.)*localhost(?:\.localdomain\d?)?$|\.localdomain$/i.test(host))
      return warn({
        title: `Your Message-ID ends in @${host.slice(0, 100)} because the sending program does not know its host name.`,
        detail:
          'Two such servers can create the same Message-ID, which mixes up replies and threads. Spam filters associate it with misconfigured servers and scripts.',
        fix: LOCALHOST_FIX,
        evidence,
      });
    if (isLocalName(host.toLowerCase()))
      return info(
        'Your Message-ID is valid, but ends in a private host name.',
        `“${host.slice(0, 100)}” shows recipients the name of an internal server. Many mail servers use such names, and no mailbox provider rejects them.`,
        evidence,
      );
    if (!/[.[]/.test(host))
      return info(
        'Your Message-ID is valid, but does not end in a full domain name.',
        `“${host.slice(0, 100)}” is not a public host name. Large sending services also use such names, and no mailbox provider rejects them.`,
        evidence,
      );
    return pass(
      'Your message has one valid Message-ID.',
      'Email clients can group it with its replies, and mail servers can trace it.',
      evidence,
    );
  },
};

const REJECTED =
  'Gmail rejects mail without a valid Message-ID (550 5.7.1). Other mailbox providers cannot trace it or group it with its replies.';
const FIX =
  'Add "Message-ID: <unique-part@example.com>", with a new unique part for each message and your own domain after the @.';

const LOCALHOST_FIX =
  'Set the full host name in the program that creates the message: $mail->Hostname in PHPMailer, the option name in Nodemailer, myhostname in Postfix. For other programs, set the host name of the server. The Message-ID then ends in your own domain.';

const ABSENT = { title: 'Your message has no Message-ID.', detail: REJECTED, fix: FIX };

function duplicated(values: string[]): Finding {
  return fail({
    title: `Your message has ${values.length.toLocaleString('en')} Message-ID fields.`,
    detail:
      'Only one is allowed. Gmail rejects such mail (550 5.7.1), and others do not know which one counts.',
    fix: 'Keep only one Message-ID field. Check whether a program adds its own to the one you set.',
    evidence: { values: values.slice(0, 5).map((value) => value.slice(0, 200)) },
  });
}

/** `subject_style`: shouting, repeated exclamation marks, and a reply or forwarding that is none. */

import { type Check, type Finding, pass, skipped, unknown, warn } from '../check.ts';
import { fields, type Message } from '../mime/message.ts';

/** More letters than this shout where more than this share of them are capitals. */
const MIN_LETTERS = 10;
const CAPITALS_SHARE = 0.5;
/** Exclamation marks that warn. */
const MIN_EXCLAMATION_MARKS = 2;

/** More than any subject that is shown. */
const MAX_SUBJECT = 2000;

/** As mail programs write it in many languages; each may be counted, as in `Re[2]:` or `RE (2):`. */
const REPLY =
  /^(?:re|aw|antw|antwort|sv|vs|odp|rif|res|ynt|回复|回覆|答复|返信|답장|απ|σχετ|отв|відп)(?:\s?[[(]\d{1,3}[\])])?\s?[:：]/iu;
const FORWARD =
  /^(?:fwd?|wg|tr|vl|vb|pd|enc|rv|doorst|továbbítás|ilt|i̇lt|转发|轉寄|転送|전달|πρθ)(?:\s?[[(]\d{1,3}[\])])?\s?[:：]/iu;

/** Only warns: none of it makes a receiver refuse a message. */
export const subjectStyle: Check = {
  id: 'subject_style',
  category: 'content',
  points: 1,
  label: 'Style of the subject',
  issueTitle: 'The subject is written like that of spam',
  reference: {
    name: 'Gmail: Email sender guidelines',
    url: 'https://support.google.com/mail/answer/81126',
  },
  publicEvidence: { subject: 'shown', found: 'shown' },
  run({ message }) {
    const subject = (message.subject ?? '').slice(0, MAX_SUBJECT).trim();
    if (subject === '') return withoutSubject(message);
    const problems = problemsOf(subject, message);
    if (problems.length === 0)
      return pass(
        'The style of your subject raises no suspicion.',
        'It does not shout, and claims to be nothing that it is not.',
        { subject: subject.slice(0, 200) },
      );
    const [first, ...others] = problems;
    const also = others.length > 0 ? ` Also: ${others.map(({ title }) => title).join(' ')}` : '';
    return warn({
      title: first!.title,
      detail: `Filters and readers know this from spam.${also}`,
      fix: problems.map(({ fix }) => fix).join(' '),
      evidence: { subject: subject.slice(0, 200), found: problems.map(({ found }) => found) },
    });
  },
};

function withoutSubject({ limits }: Message): Finding {
  const title = 'There is no subject to look at.';
  const reason = 'The Subject field is missing or empty.';
  if (limits.length > 0) return unknown(title, reason);
  return { ...skipped(title, reason), dependsOn: ['subject'] };
}

interface Problem {
  title: string;
  fix: string;
  found: string;
}

function problemsOf(subject: string, message: Message): Problem[] {
  const pretended = pretendedReply(subject, message);
  const { capitals, letters } = countCapitals(subject);
  const marks = subject.match(/[!！]/g)?.length ?? 0;
  return [
    pretended && {
      title: `Your subject says “${pretended}”, but your message is not ${REPLY.test(pretended) ? 'a reply' : 'a forwarded one'}.`,
      fix: `Take “${pretended}” away; only mail with an In-Reply-To or References field is an answer to something.`,
      found: 'false_reply',
    },
    letters > MIN_LETTERS &&
      capitals > letters * CAPITALS_SHARE && {
        title: 'More than half of the letters in your subject are capitals.',
        fix: 'Write it in small letters, with capitals where a sentence or a name begins.',
        found: 'capitals',
      },
    marks >= MIN_EXCLAMATION_MARKS && {
      title: `Your subject has ${marks} exclamation marks.`,
      fix: 'Leave one exclamation mark at most.',
      found: 'exclamation_marks',
    },
  ].filter((problem) => typeof problem === 'object' && problem !== null);
}

/** Letters of scripts with capitals alone: in Chinese or Arabic nothing shouts. */
function countCapitals(subject: string): { capitals: number; letters: number } {
  const capitals = subject.match(/[\p{Lu}\p{Lt}]/gu)?.length ?? 0;
  return { capitals, letters: capitals + (subject.match(/\p{Ll}/gu)?.length ?? 0) };
}

/** The mark of a reply or of forwarding, where nothing in the message bears it out. */
function pretendedReply(subject: string, message: Message): string | null {
  const mark = (REPLY.exec(subject) ?? FORWARD.exec(subject))?.[0] ?? null;
  if (mark === null || message.limits.length > 0) return null;
  const borne = [
    'in-reply-to',
    'references',
    'thread-index',
    'resent-from',
    'x-forwarded-message-id',
  ];
  if (borne.some((name) => fields(message, name).length > 0)) return null;
  const attached = message.parts.some(({ type }) => type === 'message/rfc822');
  return attached && FORWARD.test(subject) ? null : mark;
}

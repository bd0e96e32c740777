/** `subject_style`: no excess capitals or exclamation marks, and no false "Re:" or "Fwd:". */

import { type Check, type Context, type Finding, pass, skipped, unknown, warn } from '../check.ts';
import { fields, type Message } from '../mime/message.ts';
import { senderPart } from '../quotes/sender-part.ts';
import { type SubjectPrefix, subjectPrefix } from '../quotes/words.ts';

/** With at most this many letters, capitals are not counted. */
const MAX_UNCOUNTED_LETTERS = 10;
/** A higher share of capitals warns. */
const MAX_CAPITALS_SHARE = 0.5;
/** This many exclamation marks warn. */
const MIN_EXCLAMATION_MARKS = 2;

/** Only this many characters of the subject are checked. */
const MAX_SUBJECT_LENGTH = 2000;

/** Only warns: no mailbox provider rejects a message for its subject style alone. */
export const subjectStyle: Check = {
  id: 'subject_style',
  category: 'content',
  points: 1,
  label: 'Subject style',
  issueTitle: 'The subject looks like spam',
  reference: {
    name: 'Gmail: Email sender guidelines',
    url: 'https://support.google.com/mail/answer/81126',
  },
  publicEvidence: { subject: 'shown', found: 'shown' },
  run(context) {
    const { message } = context;
    const subject = (message.subject ?? '').slice(0, MAX_SUBJECT_LENGTH).trim();
    if (subject === '') return withoutSubject(message);
    const problems = problemsOf(subject, context);
    if (problems.length === 0)
      return pass(
        'Your subject does not look like spam.',
        'It does not have too many capital letters or exclamation marks, or a false reply prefix.',
        { subject: subject.slice(0, 200) },
      );
    const [first, ...others] = problems;
    const otherProblems =
      others.length > 0 ? ` Other problems: ${others.map(({ title }) => title).join(' ')}` : '';
    return warn({
      title: first!.title,
      detail: `Spam filters and recipients associate this with spam.${otherProblems}`,
      fix: problems.map(({ fix }) => fix).join(' '),
      evidence: { subject: subject.slice(0, 200), found: problems.map(({ found }) => found) },
    });
  },
};

function withoutSubject({ exceededLimits }: Message): Finding {
  const reason = 'The Subject field is missing or empty.';
  if (exceededLimits.length > 0)
    return unknown('Could not check the style of your subject.', reason);
  return {
    ...skipped('The style of your subject was not checked.', reason),
    dependsOn: ['subject'],
  };
}

interface Problem {
  title: string;
  fix: string;
  found: string;
}

function problemsOf(subject: string, context: Context): Problem[] {
  const falsePrefix = falseReplyPrefix(subject, context);
  // The subject of a quoted message does not show the sender's style.
  const own = context.fact(senderPart).subject.slice(0, MAX_SUBJECT_LENGTH);
  const { capitals, letters } = countCapitals(own);
  const marks = own.match(/[!！]/g)?.length ?? 0;
  return [
    falsePrefix && {
      title: `Your subject starts with “${falsePrefix.text}”, but your message is not ${falsePrefix.relation === 'reply' ? 'a reply' : 'forwarded'}.`,
      fix: `Remove “${falsePrefix.text}”. Only a message with an In-Reply-To or References field is a reply.`,
      found: 'false_reply',
    },
    letters > MAX_UNCOUNTED_LETTERS &&
      capitals > letters * MAX_CAPITALS_SHARE && {
        title: 'More than half of the letters in your subject are capital letters.',
        fix: 'Use capital letters only at the start of sentences and names.',
        found: 'capitals',
      },
    marks >= MIN_EXCLAMATION_MARKS && {
      title: `Your subject has ${marks} exclamation marks.`,
      fix: 'Use one exclamation mark at most.',
      found: 'exclamation_marks',
    },
  ].filter((problem) => typeof problem === 'object' && problem !== null);
}

/** Counts only letters of scripts that have capitals, which excludes Chinese and Arabic. */
function countCapitals(subject: string): { capitals: number; letters: number } {
  const capitals = subject.match(/[\p{Lu}\p{Lt}]/gu)?.length ?? 0;
  return { capitals, letters: capitals + (subject.match(/\p{Ll}/gu)?.length ?? 0) };
}

/** The prefix, if no field, forwarded message or attachment confirms it. */
function falseReplyPrefix(subject: string, context: Context): SubjectPrefix | null {
  const { message } = context;
  const prefix = subjectPrefix(subject);
  if (prefix === null || message.exceededLimits.length > 0) return null;
  // Italian clients use "I:" and "R:", which can start any subject.
  if (/^\p{L}\s?[:：]/u.test(prefix.text)) return null;
  if (prefix.relation === 'forward' && context.fact(senderPart).hasQuotes) return null;
  const confirmingFields = [
    'in-reply-to',
    'references',
    'thread-index',
    'resent-from',
    'x-forwarded-message-id',
  ];
  if (confirmingFields.some((name) => fields(message, name).length > 0)) return null;
  const attached = message.parts.some(({ type }) => type === 'message/rfc822');
  return attached && prefix.relation === 'forward' ? null : prefix;
}

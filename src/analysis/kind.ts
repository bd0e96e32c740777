/** Marketing or transactional: what the sender said, else what the message shows (with the reasons). */

import { bulkSenderField } from './bulk-sender.ts';
import { type Context, type Finding, skipped } from './check.ts';
import { offersToLeaveMail, unsubscribeLinks } from './links/unsubscribe.ts';
import { withoutComments } from './mime/mail-date.ts';
import { fields, LIMITS } from './mime/message.ts';

export interface JudgedKind {
  kind: 'marketing' | 'transactional';
  /** `sender`: given with the test. `message`: found in it. */
  by: 'sender' | 'message';
  /** Sentences: what in the message shows it, or why nothing does. */
  reasons: string[];
}

/** A fact: ask for it by `context.fact(judgedKind)`. */
export function judgedKind(context: Context): JudgedKind {
  if (context.kind !== 'auto')
    return { kind: context.kind, by: 'sender', reasons: ['You said so with the test.'] };
  const marks = [...listMarks(context), ...bulkLink(context).marks];
  return marks.length > 0
    ? { kind: 'marketing', by: 'message', reasons: marks }
    : { kind: 'transactional', by: 'message', reasons: withoutMarks(context) };
}

/** The fields that only mail to a list has (RFC 2369, RFC 2919; Precedence is custom only). */
function listMarks({ message }: Context): string[] {
  const has = (name: string) => fields(message, name).length > 0;
  const precedence = fields(message, 'precedence')
    .map(({ value }) => withoutComments(value.slice(0, 200)).trim().toLowerCase())
    .find((value) => value === 'bulk' || value === 'list');
  return [
    ...(has('list-unsubscribe') ? ['It has a List-Unsubscribe field.'] : []),
    ...(has('list-id') ? ['It has a List-Id field.'] : []),
    ...(precedence ? [`It has the field Precedence: ${precedence}.`] : []),
  ];
}

/** Only both together: services for bulk mail send password resets too, and anyone quotes a link. */
function bulkLink(context: Context): { field: string | null; link: boolean; marks: string[] } {
  const field = bulkSenderField(context.message);
  const link = context.fact(unsubscribeLinks).some(offersToLeaveMail);
  const marks =
    field !== null && link
      ? [`It has an unsubscribe link and the field ${field}, as services for bulk mail write it.`]
      : [];
  return { field, link, marks };
}

function withoutMarks(context: Context): string[] {
  const { field, link } = bulkLink(context);
  const reasons = [
    'It has no List-Unsubscribe or List-Id field and no Precedence of bulk or list.',
  ];
  if (link) reasons.push('It has an unsubscribe link, but no field of a service for bulk mail.');
  if (field !== null)
    reasons.push(
      `It has no unsubscribe link; the field ${field} alone says nothing, because services for bulk mail write it into password resets too.`,
    );
  if (context.message.headerBytes > LIMITS.headerBytes)
    reasons.push('Its header is longer than what is looked at, so such a field may be beyond.');
  return reasons;
}

// What checks for marketing mail alone say of other mail.

/** The finding for transactional mail, with why it was taken for that; null for marketing mail. */
export function unlessMarketing(context: Context, title: string): Finding | null {
  const { kind, reasons } = context.fact(judgedKind);
  if (kind === 'marketing') return null;
  const why = reasons.join(' ');
  return skipped(
    title,
    `Your message is transactional mail: ${why.charAt(0).toLowerCase()}${why.slice(1)}`,
  );
}

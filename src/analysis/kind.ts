/** Whether a message is marketing or transactional: as the sender stated, or as the message shows. */

import { bulkSenderField } from './bulk-sender.ts';
import { type Context, type Finding, skipped } from './check.ts';
import { isMailUnsubscribeLink, unsubscribeLinks } from './links/unsubscribe.ts';
import { withoutComments } from './mime/mail-date.ts';
import { fields, LIMITS } from './mime/message.ts';

export interface Classification {
  kind: 'marketing' | 'transactional';
  /** `sender`: stated when the test was created. `message`: found in the message. */
  by: 'sender' | 'message';
  /** What in the message shows it, or why nothing does; as sentences. */
  reasons: string[];
}

/** A fact: call `context.fact(classifyMessage)`. */
export function classifyMessage(context: Context): Classification {
  if (context.kind !== 'auto')
    return {
      kind: context.kind,
      by: 'sender',
      reasons: ['You chose this kind when you created the test.'],
    };
  const signs = [...listSigns(context), ...bulkLink(context).signs];
  return signs.length > 0
    ? { kind: 'marketing', by: 'message', reasons: signs }
    : { kind: 'transactional', by: 'message', reasons: missingSigns(context) };
}

/** Header fields that only list mail has (RFC 2369, RFC 2919). Precedence is a convention. */
function listSigns({ message }: Context): string[] {
  const has = (name: string) => fields(message, name).length > 0;
  const precedence = fields(message, 'precedence')
    .map(({ value }) => withoutComments(value.slice(0, 200)).trim().toLowerCase())
    .find((value) => value === 'bulk' || value === 'list');
  return [
    ...(has('list-unsubscribe') ? ['It has a List-Unsubscribe field.'] : []),
    ...(has('list-id') ? ['It has a List-Id field.'] : []),
    ...(precedence ? [`It has the header field Precedence: ${precedence}.`] : []),
  ];
}

/**
 * Only both together count: bulk email services also send password resets, and any message may quote
 * an unsubscribe link.
 */
function bulkLink(context: Context): { field: string | null; link: boolean; signs: string[] } {
  const field = bulkSenderField(context.message);
  const link = context.fact(unsubscribeLinks).some(isMailUnsubscribeLink);
  const signs =
    field !== null && link
      ? [`It has an unsubscribe link and the field ${field}, which bulk email services add.`]
      : [];
  return { field, link, signs };
}

function missingSigns(context: Context): string[] {
  const { field, link } = bulkLink(context);
  const reasons = [
    'It has no List-Unsubscribe or List-Id field, and no Precedence field set to bulk or list.',
  ];
  if (link)
    reasons.push('It has an unsubscribe link, but no header field of a bulk email service.');
  if (field !== null)
    reasons.push(
      `It has the field ${field}, but no unsubscribe link. Bulk email services also add this field to password resets.`,
    );
  if (context.message.headerBytes > LIMITS.headerBytes)
    reasons.push('Its header is too long to read in full. The rest may contain such a field.');
  return reasons;
}

// The finding of checks that only apply to marketing mail.

/** The `skipped` finding for transactional mail, with the reasons; null for marketing mail. */
export function skipUnlessMarketing(context: Context, title: string): Finding | null {
  const { kind, reasons } = context.fact(classifyMessage);
  if (kind === 'marketing') return null;
  const why = reasons.join(' ');
  return skipped(title, `Not checked: your message is transactional mail. ${why}`);
}

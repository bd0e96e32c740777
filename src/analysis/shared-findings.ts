/** What to say of a header field that is not there: a failure, unless the header was not read whole. */

import { type Context, type Finding, fail, skipped, unknown } from './check.ts';
import { judgedKind } from './kind.ts';
import { LIMITS, type Message } from './mime/message.ts';

/** `problem.title` is a sentence ("Your message has no Date field."). */
export function absentField(
  message: Message,
  name: string,
  problem: { title: string; detail: string; fix: string },
): Finding {
  if (message.headerBytes > LIMITS.headerBytes)
    return unknown(
      `Your message's ${name} field could not be found.`,
      'The header is longer than what is looked at; the field may come after that.',
    );
  return fail(problem);
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

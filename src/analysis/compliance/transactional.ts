/** What checks for marketing mail alone say of other mail. */

import { type Context, type Finding, skipped } from '../check.ts';
import { judgedKind } from '../kind.ts';

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

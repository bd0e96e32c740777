/** Text from outside made fit to be shown: bounded, on one line, without what cannot be seen. */

import { printable } from '../../lib/log.ts';

/** At most `max` characters on one line, its end marked where it was cut. */
export function shown(text: string, max = 1000): string {
  // Cut before anything is looked at: a message may hold one word of many megabytes.
  const kept = text.length > max ? text.slice(0, max) : text;
  const clean = printable(kept.toWellFormed().replace(/\s+/g, ' ')).trim();
  return text.length > max ? `${clean}…` : clean;
}

/** The same with its spaces as they are: for what is to be copied. */
export function exactly(text: string, max: number): string {
  const kept = printable(text.slice(0, max).toWellFormed());
  return text.length > max ? `${kept}…` : kept;
}

/** The same of text with lines: as many as `maxLines`, `max` characters in all. */
export function shownLines(text: string, max: number, maxLines: number): string[] {
  const kept = text.slice(0, max).toWellFormed();
  const lines = kept.split(/\r\n|[\n\r]/).slice(0, maxLines + 1);
  const clean = lines.map((line) => printable(line.replaceAll('\t', '    ')).trimEnd());
  const cut = text.length > max || clean.length > maxLines;
  return cut ? [...clean.slice(0, maxLines), '…'] : clean;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `2026-11-21T10:00:05.000Z` as `21 Nov 2026, 10:00:05 UTC`. */
export function shownTime(iso: string): string {
  const [, year, month, day, time] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)/.exec(iso) ?? [];
  if (!time) return shown(iso, 40);
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year}, ${time} UTC`;
}

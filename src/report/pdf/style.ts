/** How the PDF looks: the page, sizes and colours, and the marks that stand for a state. */

import type { CheckStatus, Reference } from '../../analysis/check.ts';
import type { Grade } from '../../analysis/result.ts';
import { printable } from '../../lib/log.ts';
import type { Span } from './lines.ts';

/** A4 in points, with its margins; the footer stands in the lower one. */
export const PAGE = { width: 595.28, height: 841.89, left: 54, right: 54, top: 54, bottom: 64 };
export const CONTENT_WIDTH = PAGE.width - PAGE.left - PAGE.right;

/** Every pair of text and ground has a contrast of 4.5 or more. */
export const COLOR = {
  ink: '#1f2430',
  muted: '#5a6270',
  line: '#d8dce3',
  tint: '#f4f5f8',
  accent: '#4338ca',
  pass: '#15803d',
  warn: '#a84a05',
  fail: '#b91c1c',
  failTint: '#fdf1f1',
  info: '#1d4ed8',
  unknown: '#5a6270',
} as const;

export type State = 'pass' | 'warn' | 'fail' | 'info' | 'unknown';

/** A state by its icon as well as by its colour; the word stands beside it. */
export const MARKS: Record<State, { icon: string; color: string }> = {
  pass: { icon: '✓', color: COLOR.pass },
  warn: { icon: '!', color: COLOR.warn },
  fail: { icon: '✗', color: COLOR.fail },
  info: { icon: 'i', color: COLOR.info },
  unknown: { icon: '?', color: COLOR.unknown },
};

export function stateOf(status: CheckStatus): State {
  return status === 'error' || status === 'skipped' ? 'unknown' : status;
}

export const GRADE_COLOR: Record<Grade, string> = {
  A: COLOR.pass,
  B: COLOR.pass,
  C: COLOR.warn,
  D: COLOR.warn,
  F: COLOR.fail,
};

/** The size of text and the height of its lines, in points. */
export const TYPE = {
  title: { size: 15, leading: 20 },
  section: { size: 12.5, leading: 18 },
  sub: { size: 10, leading: 14 },
  body: { size: 9, leading: 13 },
  small: { size: 7.5, leading: 11 },
  code: { size: 8, leading: 12 },
} as const;

// States as words with their icon and colour, as cells and lines show them.

/** `✓ aligned`, in the colour of the state. */
export function mark(state: State, word: string): Span[] {
  const { icon, color } = MARKS[state];
  return [{ text: `${icon} ${word}`, face: 'bold', color }];
}

/** By the words of RFC 8601; null is "not asked". */
export function authMark(result: string | null): Span[] {
  if (result === null) return mark('unknown', 'not asked');
  if (result === 'pass') return mark('pass', result);
  return mark(result === 'temperror' ? 'unknown' : 'fail', shown(result, 20));
}

// A public rule by its name, with its address written out and open to a click.

export function ruleText({ name, url }: Reference): Span[] {
  const address = shown(url, 300);
  const opens = /^https?:\/\/[\x21-\x7e]+$/.test(address);
  return [
    { text: `${shown(name, 160)}  ` },
    { text: address, color: COLOR.accent, ...(opens ? { link: address } : {}) },
  ];
}

// Text from outside made fit to be shown: bounded, on one line, without what cannot be seen.

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

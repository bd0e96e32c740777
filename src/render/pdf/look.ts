/** How the PDF looks: the page, sizes and colours, and the marks that stand for a state. */

import type { CheckStatus } from '../../analysis/check.ts';
import type { Grade } from '../../analysis/result.ts';

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

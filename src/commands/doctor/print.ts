/** The findings as text for a terminal. */

import { ICONS, painter, wrap } from '../../report/text.ts';
import type { Io } from '../command.ts';
import type { Finding, FindingState } from './finding.ts';

type Terminal = Pick<Io, 'width' | 'useColor'>;

const LOOKS = {
  ok: { icon: ICONS.pass, style: 'green' },
  warning: { icon: ICONS.warn, style: 'yellow' },
  problem: { icon: ICONS.fail, style: 'red' },
  unknown: { icon: ICONS.unknown, style: 'cyan' },
} as const;

const TITLE_WIDTH = 20;
const INDENT = ' '.repeat(TITLE_WIDTH + 3);
const NARROW = 60;

export function findingText(
  { title, state, evidence, action }: Finding,
  { width, useColor }: Terminal,
): string {
  const paint = painter(useColor);
  const { icon, style } = LOOKS[state];
  // A long title, or a narrow terminal, has a line of its own.
  const isBeside = title.length <= TITLE_WIDTH && width > NARROW;
  const indent = isBeside ? INDENT : '  ';
  const lines = wrap(evidence, width, indent);
  const head = `${paint(style, icon)} ${paint('bold', title)}`;
  const text = isBeside
    ? `${head}${' '.repeat(TITLE_WIDTH - title.length + 1)}${lines.slice(indent.length)}`
    : `${head}\n${lines}`;
  if (action === null) return text;
  const steps = wrap(action, width, `${indent}  `).slice(indent.length + 2);
  return `${text}\n${indent}${paint('bold', '→')} ${steps}`;
}

const NOUNS: [FindingState, string, string][] = [
  ['problem', 'problem', 'problems'],
  ['unknown', 'unknown', 'unknown'],
  ['warning', 'warning', 'warnings'],
  ['ok', 'ok', 'ok'],
];

export function summaryText(findings: Finding[], { width }: Terminal): string {
  const counts = NOUNS.flatMap(([state, one, many]) => {
    const count = findings.filter((finding) => finding.state === state).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return wrap(`${counts.join(', ')}. Next: --json for scripts.`, width);
}

/** What `check` prints for people: the whole report of one message, or the findings of several. */

import { basename } from 'node:path';
import { styleText } from 'node:util';
import { reportText, wrap } from '../../report/text.ts';
import type { Io } from '../command.ts';
import {
  type CheckedMessage,
  findingsOf,
  isChecked,
  type Outcome,
  type Totals,
  titleOf,
} from './outcome.ts';
import { totalsText } from './totals-text.ts';

/** The report of one message. */
export function singleText(
  { result, name, envelope }: CheckedMessage,
  { hasReport }: { hasReport: boolean },
  io: Io,
): string {
  const report = reportText(
    { ...result, envelope },
    {
      width: io.width,
      color: io.useColor,
      testedName: name === '-' ? undefined : basename(name),
    },
  );
  const hasSender =
    result.auth_results.spf !== null ||
    (envelope.client_ip !== null && envelope.mail_from !== null);
  const hasMergeTags = result.checks.some(
    ({ id, status }) => id === 'merge_tags' && status === 'fail',
  );
  const hints = [
    result.alternative ? '--kind marketing or --kind transactional to settle the kind' : null,
    '--json for every check with its evidence',
    hasMergeTags && envelope.file?.by === null ? '--template if it is not filled in yet' : null,
    hasReport ? null : '--html report.html or --pdf report.pdf for a report to share',
    hasSender || result.is_template ? null : '--ip and --mail-from to check SPF and reverse DNS',
  ].filter(Boolean);
  return `${report}\n${wrap(`Next: ${hints.join(', ')}.`, io.width)}\n`;
}

/** The width of the score and the grade, and of the gap after them. */
const COLUMN = 7;

/** One of several messages: its score and its name, why it fails, and its findings. */
export function messageText(outcome: Outcome, io: Io): string {
  const lines = [headLine(outcome, io)];
  const add = (mark: string, text: string) => {
    const indent = ' '.repeat(COLUMN + 2);
    const body = wrap(text, io.width, indent).slice(indent.length);
    lines.push(`${' '.repeat(COLUMN)}${mark} ${body}`);
  };
  if (!isChecked(outcome)) add('?', `Not checked: ${outcome.problem}.`);
  else {
    for (const failure of outcome.failures) add(paint(io, 'red', '✗'), failure);
    for (const { check, isRequired, isKnown } of findingsOf(outcome)) {
      const known = isKnown ? 'Known: ' : '';
      if (isRequired) add(paint(io, isKnown ? 'dim' : 'red', '✗'), known + check.title);
      else add(paint(io, isKnown ? 'dim' : 'yellow', '!'), known + check.title);
    }
    const { unknown = [], fixed = [] } = outcome.comparison ?? {};
    if (fixed.length > 0) add(paint(io, 'green', '✓'), `Fixed: ${fixed.join(', ')}.`);
    if (unknown.length > 0) add('?', `Unknown now: ${unknown.join(', ')}.`);
  }
  return `${lines.join('\n')}\n`;
}

function headLine(outcome: Outcome, io: Io): string {
  const score = isChecked(outcome) ? outcome.result.score : null;
  const grade = isChecked(outcome) ? (outcome.result.grade ?? '') : '';
  const head = `${(score === null ? '–' : String(score)).padStart(3)} ${grade}`.padEnd(COLUMN);
  const color = score === null ? 'dim' : score >= 90 ? 'green' : score >= 70 ? 'yellow' : 'red';
  const name = wrap(titleOf(outcome.name), io.width, ' '.repeat(COLUMN)).slice(COLUMN);
  return `${paint(io, color, head)}${paint(io, 'bold', name)}`;
}

type Style = Parameters<typeof styleText>[0];

const paint = ({ useColor }: Io, style: Style, text: string): string =>
  useColor ? styleText(style, text, { validateStream: false }) : text;

export function endText(totals: Totals, io: Io): string {
  const next =
    'Next: check one of them for its whole report, --report markdown=report.md for all of them in one file.';
  return `\n${totalsText(totals)}\n${wrap(next, io.width)}\n`;
}

/** `--report markdown=FILE`, and the step summary on GitHub: a table of all messages, and what to fix in each. */

import { printable } from '../../../lib/log.ts';
import { receiptSentence } from '../../../report/document/receipt.ts';
import {
  type CheckedMessage,
  findingsOf,
  isChecked,
  type Outcome,
  type ReportedFinding,
  scoreText,
  type Totals,
  titleOf,
  unknownChecks,
} from '../outcome.ts';
import { totalsText } from '../totals-text.ts';
import type { ReportFormatter } from './report-writer.ts';

/** Written at the end, because the totals come first. What exceeds `maxBytes` is counted and left out. */
export function markdownReport({ maxBytes = Number.POSITIVE_INFINITY } = {}): ReportFormatter {
  const rows: string[] = [];
  const details: string[] = [];
  let bytes = 0;
  let omitted = 0;
  return {
    begin: () => '',
    add(outcome) {
      const row = rowOf(outcome);
      const detail = isChecked(outcome) ? detailOf(outcome) : '';
      const size = Buffer.byteLength(row) + Buffer.byteLength(detail);
      if (bytes + size > maxBytes) omitted += 1;
      else {
        bytes += size;
        rows.push(row);
        if (detail !== '') details.push(detail);
      }
      return '';
    },
    end(totals) {
      const note = omitted > 0 ? [omissionNote(omitted)] : [];
      return `${[heading(totals), tableOf(rows), ...note, ...details].join('\n\n')}\n`;
    },
  };
}

const heading = (totals: Totals): string => `## Deliverability\n\n${totalsText(totals)}`;

const omissionNote = (count: number): string =>
  `${count} more ${count === 1 ? 'message does' : 'messages do'} not fit here.`;

const tableOf = (rows: string[]): string =>
  ['| Message | Score | Result |', '|---|---|---|', ...rows].join('\n');

function rowOf(outcome: Outcome): string {
  const name = code(titleOf(outcome.name));
  if (!isChecked(outcome))
    return `| ${name} | – | Not checked: ${escapeMarkdown(outcome.problem)} |`;
  return `| ${name} | ${scoreText(outcome)} | ${resultText(outcome)} |`;
}

function resultText(message: CheckedMessage): string {
  if (message.failures.length > 0) return '❌ Failed';
  if (message.result.temporary) return '❔ No result: try again';
  const findings = findingsOf(message);
  const required = findings.filter(({ isRequired }) => isRequired).length;
  if (required > 0) return `⚠️ ${required} required, ${findings.length - required} recommended`;
  return findings.length > 0 ? `✅ ${findings.length} recommended` : '✅ No problems found';
}

/** '' if there is nothing to say beyond the table. */
function detailOf(message: CheckedMessage): string {
  const { result, failures, comparison } = message;
  const unknown = unknownChecks(message).map(({ label }) => label);
  const lines = [
    ...failures.map((failure) => `- ❌ ${escapeMarkdown(failure)}`),
    ...findingsOf(message).map(findingLine),
    ...(message.envelope.file?.by
      ? [`- ${escapeMarkdown(receiptSentence(message.envelope))}`]
      : []),
    ...listed('Fixed since the baseline', comparison?.fixed ?? []),
    ...listed('Unknown', [...new Set([...unknown, ...(comparison?.unknown ?? [])])]),
  ];
  if (lines.length === 0) return '';
  const subject = result.subject ? `${code(result.subject)}\n\n` : '';
  return `### ${code(titleOf(message.name))}\n\n${subject}${lines.join('\n')}`;
}

function findingLine({ check, isRequired, isKnown, fix }: ReportedFinding): string {
  const level = `${isRequired ? 'Required' : 'Recommended'}${isKnown ? ', known' : ''}`;
  const text = [check.title, check.detail, fix].filter(Boolean).map(escapeMarkdown).join(' ');
  return `- **${level}: ${escapeMarkdown(check.label)}.** ${text} ([${escapeMarkdown(check.reference.name)}](${check.reference.url}))`;
}

const listed = (title: string, labels: string[]): string[] =>
  labels.length === 0 ? [] : [`- ${title}: ${labels.map(escapeMarkdown).join(', ')}`];

// Text from messages and file names must stay text: no formatting, links, images, HTML or mentions.

/** Numeric references work everywhere, also in tables. A comment after `@` and `:` keeps GitHub from making links of them. */
export function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_{}[\]()<>#|~!&$^=+"']/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/@|:(?=\/\/)|\bwww(?=\.)/gi, (match) => `${match}<!-- -->`);
}

/** A code span with a delimiter that the text does not contain (CommonMark §6.1), also in a table. */
export function code(text: string): string {
  const clean = oneLine(text).replaceAll('|', '\\|');
  const longest = Math.max(0, ...[...clean.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  // A space keeps a backtick at an end apart from the delimiter; renderers remove one on each side.
  const space = /^`|`$|^ .* $/.test(clean) || clean === '' ? ' ' : '';
  return `${fence}${space}${clean}${space}${fence}`;
}

const oneLine = (text: string): string => printable(text.toWellFormed().replace(/[\r\n]+/g, ' '));

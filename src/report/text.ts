/** The report for a terminal: verdict, what to fix first, a line a category, what could not be checked. */

import { styleText } from 'node:util';
import type { CheckStatus } from '../analysis/check.ts';
import type { DomainCheck, DomainHealth, HealthStatus } from '../analysis/domain/health.ts';
import type { CategoryScore, CheckResult, Grade } from '../analysis/result.ts';
import { toFix } from '../analysis/summary.ts';
import { formatSize } from '../lib/durations.ts';
import { printable } from '../lib/log.ts';
import {
  capSentence,
  FIRST_FINDINGS,
  followsFromAnother,
  formatPoints,
  missedSentence,
  verdictOf,
} from './content.ts';
import type { Reported } from './report.ts';

export interface TextOptions {
  width: number;
  color: boolean;
  /** What the report is of: a file name, a test's address. */
  of?: string;
}

/** Ends with a line end. */
export function reportText(result: Reported, { width, color, of }: TextOptions): string {
  const paint = painter(color);
  const columns = Math.min(width, 100);
  const sections = [
    header(result, columns, paint, of),
    firstFixes(result, columns, paint),
    ledger(result, columns, paint),
    authentication(result, columns, paint),
    providerLines(result, columns, paint),
    notChecked(result, columns, paint),
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}

const GRADE_STYLE: Record<Grade, Style> = {
  A: 'green',
  B: 'green',
  C: 'yellow',
  D: 'yellow',
  F: 'red',
};

function header(result: Reported, width: number, paint: Paint, of?: string): string {
  const { score, grade } = result;
  const mark =
    score === null || grade === null
      ? paint('bold', 'No score')
      : paint(['bold', GRADE_STYLE[grade]], `${score}/100  ${grade}`);
  const what = [
    result.subject === null ? null : `“${printable(result.subject).slice(0, 80)}”`,
    result.from_address && `from ${printable(result.from_address).slice(0, 80)}`,
    formatSize(result.message_size),
  ].filter(Boolean);
  return [
    `${mark}${of ? `  ${paint('dim', printable(of))}` : ''}`,
    wrap(verdictOf(result.summary), width),
    paint('dim', wrap(`${what.join(' · ')} · rules ${result.ruleset}`, width)),
  ].join('\n');
}

function firstFixes({ checks, cap, score }: Reported, width: number, paint: Paint): string {
  const fixes = toFix(checks);
  if (fixes.length === 0)
    return score === null
      ? wrap('In what could be checked there is nothing to fix.', width)
      : paint('green', '✓ There is nothing to fix.');
  const open = fixes.slice(0, FIRST_FINDINGS).map((check) => finding(check, width, paint));
  const rest = fixes
    .slice(FIRST_FINDINGS)
    .map((check) => gainOf(check, paint) + printable(check.title).slice(0, width - 8));
  return [
    paint('bold', 'Fix these first'),
    ...(cap ? [paint('red', wrap(capSentence(cap), width))] : []),
    ...open,
    ...rest,
  ].join('\n');
}

function gainOf({ gain, status }: CheckResult, paint: Paint): string {
  const text = gain > 0 ? `+${gain}` : status === 'fail' ? '✗' : '!';
  return `${paint(status === 'fail' ? 'red' : 'yellow', text.padStart(6))}  `;
}

function finding(check: CheckResult, width: number, paint: Paint): string {
  const indent = ' '.repeat(8);
  const title = wrap(check.title, width, indent).trimStart();
  const lines = [
    `${gainOf(check, paint)}${paint('bold', title)}`,
    wrap(check.detail, width, indent),
  ];
  if (check.fix) {
    lines.push(
      `${indent}${paint('cyan', '→')} ${wrap(check.fix.text, width - 2, `${indent}  `).trimStart()}`,
    );
    const { record } = check.fix;
    // Alone on its line and unwrapped, so that it can be copied.
    if (record)
      lines.push(
        `${indent}  ${paint('cyan', printable(`${record.name} ${record.type} ${record.value}`))}`,
      );
  }
  lines.push(paint('dim', wrap(`${check.label} · ${check.reference.name}`, width, indent)));
  return lines.join('\n');
}

const BAR = 20;
/** On a narrower terminal a category is its name and its score. */
const ROOM_FOR_BARS = 80;

function ledger({ categories, score, cap }: Reported, width: number, paint: Paint): string {
  const lines = categories.map((category) => categoryLine(category, width, paint));
  if (cap && score !== null) {
    const held = `held down to ${cap.limit} until the first cause is fixed`;
    lines.push(paint('red', wrap(held, width, '  ')));
  }
  return [paint('bold', 'By category'), ...lines].join('\n');
}

function categoryLine(
  { name, score, earned, points, weight }: CategoryScore,
  width: number,
  paint: Paint,
): string {
  const label = `  ${name.replace('_', ' ').padEnd(16)}`;
  if (score === null) return paint('dim', `${label}not checked`);
  const style = score >= 90 ? 'green' : score >= 55 ? 'yellow' : 'red';
  const shown = String(score).padStart(4);
  if (width < ROOM_FOR_BARS) return `${label}${paint(style, shown)}`;
  const full = Math.round((score / 100) * BAR);
  const bar = '█'.repeat(full) + paint('dim', '░'.repeat(BAR - full));
  const figures = `${formatPoints(earned)} of ${points} points, weight ${weight}`;
  return `${label}${paint(style, bar)} ${shown}  ${paint('dim', figures)}`;
}

function authentication({ auth_results }: Reported, width: number, paint: Paint): string {
  const words = Object.entries(auth_results).map(([name, result]) => {
    const style: Style =
      result === 'pass' ? 'green' : result === null || result === 'temperror' ? 'dim' : 'red';
    return `${name.toUpperCase()} ${paint(style, result ?? 'not asked')}`;
  });
  return `${paint('bold', 'Authentication')}\n  ${words.join(width < ROOM_FOR_BARS ? '\n  ' : '   ')}`;
}

/** A line for each provider: whether it is content, and how many of its rules are not met. */
function providerLines({ providers }: Reported, width: number, paint: Paint): string {
  if (providers.length === 0) return '';
  const lines = providers.map(({ name, ready, rules }) => {
    const unmet = rules.filter(({ status }) => status === 'not_met').length;
    const open = rules.filter(({ status }) => status === 'unknown').length;
    const words = [
      `${rules.length - unmet - open} met`,
      unmet > 0 && `${unmet} not met`,
      open > 0 && `${open} unknown`,
    ].filter(Boolean);
    const mark = ready ? paint('green', '✓') : unmet > 0 ? paint('red', '✗') : paint('dim', '?');
    return `  ${mark} ${wrap(`${name.padEnd(12)}${words.join(', ')}`, width, '    ').trimStart()}`;
  });
  return [paint('bold', 'Providers’ rules'), ...lines].join('\n');
}

function notChecked(result: Reported, width: number, paint: Paint): string {
  const missed = missedSentence(result);
  const skipped = result.checks.filter(
    (check) => check.status === 'skipped' && check.points > 0 && !followsFromAnother(check),
  );
  const lines: string[] = [];
  if (missed) lines.push(wrap(missed, width));
  if (skipped.length > 0)
    lines.push(
      wrap(`Not applicable here: ${skipped.map(({ label }) => label).join(', ')}.`, width),
    );
  return lines.length > 0 ? paint('dim', lines.join('\n')) : '';
}

// The health of a domain for a terminal: verdict, what to fix first, then a line a check.

/** Ends with a line end. */
export function domainText(
  health: DomainHealth,
  { width, color }: { width: number; color: boolean },
): string {
  const paint = painter(color);
  const columns = Math.min(width, 100);
  const sections = [
    domainHeader(health, columns, paint),
    domainFirstFixes(health, columns, paint),
    domainLedger(health, columns, paint),
  ];
  return `${sections.join('\n\n')}\n`;
}

const HEALTH_STYLE: Record<HealthStatus, Style> = {
  healthy: 'green',
  warning: 'yellow',
  critical: 'red',
  unknown: 'dim',
};

function domainHeader({ name, status, score, summary }: DomainHealth, width: number, paint: Paint) {
  const mark = score === null ? status : `${score}/100  ${status}`;
  return `${paint(['bold', HEALTH_STYLE[status]], mark)}  ${paint('dim', printable(name))}\n${wrap(summary, width)}`;
}

/** Critical ones before warnings; of the same gravity those that cost most. */
function inOrder(checks: DomainCheck[]): DomainCheck[] {
  const rank = ({ severity, status, points }: DomainCheck) =>
    (severity === 'critical' ? 1000 : 0) + (status === 'fail' ? points : points / 2);
  return checks.filter(({ severity }) => severity !== null).sort((a, b) => rank(b) - rank(a));
}

function domainFirstFixes({ checks, status }: DomainHealth, width: number, paint: Paint): string {
  const fixes = inOrder(checks);
  if (fixes.length > 0)
    return [
      paint('bold', 'Fix these first'),
      ...fixes.map((check) => domainFinding(check, width, paint)),
    ].join('\n');
  return status === 'healthy'
    ? paint('green', '✓ There is nothing to fix.')
    : wrap('In what could be found out there is nothing to fix.', width);
}

function domainFinding(check: DomainCheck, width: number, paint: Paint): string {
  const critical = check.severity === 'critical';
  const mark = paint(critical ? 'red' : 'yellow', critical ? '✗' : '!');
  const indent = ' '.repeat(4);
  const lines = [
    `  ${mark} ${paint('bold', wrap(check.title, width, indent).trimStart())}`,
    wrap(check.detail, width, indent),
  ];
  if (check.fix) {
    const text = wrap(check.fix.text, width - 2, `${indent}  `).trimStart();
    lines.push(`${indent}${paint('cyan', '→')} ${text}`);
    const { record } = check.fix;
    // Alone on its line and unwrapped, so that it can be copied.
    if (record)
      lines.push(
        `${indent}  ${paint('cyan', printable(`${record.name} ${record.type} ${record.value}`))}`,
      );
  }
  lines.push(paint('dim', wrap(`${check.label} · ${check.reference.name}`, width, indent)));
  return lines.join('\n');
}

const MARKS: Record<CheckStatus, [mark: string, style: Style]> = {
  pass: ['✓', 'green'],
  warn: ['!', 'yellow'],
  fail: ['✗', 'red'],
  info: ['i', 'blue'],
  error: ['?', 'dim'],
  skipped: ['–', 'dim'],
};

const LABEL = 26;

function domainLedger({ checks }: DomainHealth, width: number, paint: Paint): string {
  const lines = checks.map((check) => {
    const [mark, style] = markOf(check);
    const indent = ' '.repeat(LABEL + 4);
    // What is known of a check that did not run is why.
    const isOpen = check.status === 'error' || check.status === 'skipped';
    const said = wrap(isOpen ? check.detail : check.title, width, indent).trimStart();
    const label = printable(check.label)
      .slice(0, LABEL - 1)
      .padEnd(LABEL);
    return `  ${paint(style, mark)} ${label}${isOpen ? paint('dim', said) : said}`;
  });
  return [paint('bold', 'Checks'), ...lines].join('\n');
}

function markOf({ status, severity }: DomainCheck): [mark: string, style: Style] {
  if (severity === null) return MARKS[status];
  return severity === 'critical' ? MARKS.fail : MARKS.warn;
}

// Text for a terminal: wrapping, colour where wanted, nothing that moves the cursor.

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'blue';
export type Paint = (style: Style | Style[], text: string) => string;

/** Colours, or leaves the text as it is. */
export function painter(color: boolean): Paint {
  return color
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}

/** Words wrapped to `width`, every line indented; what comes from a message is made harmless. */
export function wrap(text: string, width: number, indent = ''): string {
  const room = Math.max(20, width - indent.length);
  return text
    .split('\n')
    .flatMap((line) => wrapLine(printable(line), room))
    .map((line) => indent + line)
    .join('\n');
}

/** A word longer than a line (a DNS record, an address) is kept whole: it must stay copyable. */
function wrapLine(line: string, room: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > room) {
      lines.push(current);
      current = word;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  lines.push(current);
  return lines;
}

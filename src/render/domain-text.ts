/** The health of a domain for a terminal: verdict, what to fix first, then a line a check. */

import type { CheckStatus } from '../analysis/check.ts';
import type { DomainCheck, DomainHealth, HealthStatus } from '../analysis/domain/domain-health.ts';
import { printable } from '../lib/log.ts';
import { type Paint, painter, type Style, wrap } from './terminal-text.ts';

/** Ends with a line end. */
export function domainText(
  health: DomainHealth,
  { width, color }: { width: number; color: boolean },
): string {
  const paint = painter(color);
  const columns = Math.min(width, 100);
  const sections = [
    header(health, columns, paint),
    firstFixes(health, columns, paint),
    ledger(health, columns, paint),
  ];
  return `${sections.join('\n\n')}\n`;
}

const STATUS_STYLE: Record<HealthStatus, Style> = {
  healthy: 'green',
  warning: 'yellow',
  critical: 'red',
  unknown: 'dim',
};

function header({ name, status, score, summary }: DomainHealth, width: number, paint: Paint) {
  const mark = score === null ? status : `${score}/100  ${status}`;
  return `${paint(['bold', STATUS_STYLE[status]], mark)}  ${paint('dim', printable(name))}\n${wrap(summary, width)}`;
}

/** Critical ones before warnings; of the same gravity those that cost most. */
function inOrder(checks: DomainCheck[]): DomainCheck[] {
  const rank = ({ severity, status, points }: DomainCheck) =>
    (severity === 'critical' ? 1000 : 0) + (status === 'fail' ? points : points / 2);
  return checks.filter(({ severity }) => severity !== null).sort((a, b) => rank(b) - rank(a));
}

function firstFixes({ checks, status }: DomainHealth, width: number, paint: Paint): string {
  const fixes = inOrder(checks);
  if (fixes.length > 0)
    return [
      paint('bold', 'Fix these first'),
      ...fixes.map((check) => finding(check, width, paint)),
    ].join('\n');
  return status === 'healthy'
    ? paint('green', '✓ There is nothing to fix.')
    : wrap('In what could be found out there is nothing to fix.', width);
}

function finding(check: DomainCheck, width: number, paint: Paint): string {
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

function ledger({ checks }: DomainHealth, width: number, paint: Paint): string {
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

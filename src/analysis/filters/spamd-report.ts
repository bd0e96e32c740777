/** Reads the rules and their scores out of the text that SpamAssassin makes of its report template. */

import type { FiredRule } from './judge-engine.ts';

/** The line under the table's head; whatever the language, the default templates all have it. */
const RULE_OFF = /^\s*-{3,}\s+-{10,}\s+-{10,}\s*$/;
/** `-1.0 ALL_TRUSTED  Passed …`, also with the star that report headers begin with. */
const ROW =
  /^\s{0,4}(?:\* {1,3})?(-?\d{1,6}(?:\.\d{1,3})?) {1,4}([A-Za-z][A-Za-z0-9_]{0,99})(?:\s+(\S.*))?$/;
const LINES_MAX = 2000;

/**
 * The rows of the table, descriptions that go over several lines joined; empty where there is no
 * table. What comes before it quotes the message, so that it is read from the last rule-off on.
 */
export function readSpamdReport(report: string): FiredRule[] {
  const lines = report.split(/\r?\n/, LINES_MAX);
  const head = lines.findLastIndex((line) => RULE_OFF.test(line));
  if (head < 0) return [];
  const rules: FiredRule[] = [];
  for (const line of lines.slice(head + 1)) {
    const [, score, name, description = ''] = ROW.exec(line.slice(0, 500).trimEnd()) ?? [];
    const last = rules.at(-1);
    if (name !== undefined) rules.push({ name, score: Number(score), description });
    else if (last && line.trim() !== '')
      last.description = `${last.description} ${line.trim()}`.trim().slice(0, 1000);
  }
  return rules;
}

/** The top of the report: the score, the verdict in a sentence, what was tested, how much is known. */

import { toFix } from '../../analysis/summary.ts';
import { formatSize } from '../../lib/durations.ts';
import type { Report } from '../report.ts';
import { formatPoints, missedSentence, verdictOf } from '../report-words.ts';
import { BODY, notice, outlineEntry, type Pair, pairs, paragraph, SMALL } from './blocks.ts';
import { COLOR, TYPE } from './look.ts';
import { RING, scoreRing } from './ring.ts';
import type { Sheet } from './sheet.ts';
import { shown, shownTime } from './shown-text.ts';

const GAP = 26;

/** `above` stands over it in small letters: what this is, or which of many. */
export function verdictSection(
  sheet: Sheet,
  report: Report,
  above = 'DELIVERABILITY REPORT',
): void {
  const indent = RING + GAP;
  outlineEntry(sheet, 'Verdict');
  const brand = { ...SMALL, face: 'bold', color: COLOR.accent } as const;
  paragraph(sheet, above, { style: brand });
  sheet.y += 12;
  const top = sheet.y;
  scoreRing(sheet, report, sheet.left, top);
  const title = { ...TYPE.title, face: 'bold', color: COLOR.ink } as const;
  paragraph(sheet, shown(verdictOf(report.summary), 400), { indent, tag: 'H1', style: title });
  sheet.y += 4;
  paragraph(sheet, first(report), { indent });
  sheet.y += 8;
  const style = { ...BODY, size: 8, leading: 12 };
  pairs(sheet, facts(report), { indent, names: 66, style });
  sheet.y = Math.max(sheet.y, top + RING);
  const missed = missedSentence(report);
  if (missed === null) return;
  sheet.y += 12;
  const text = `${shown(missed, 900)} What is not known counts neither for you nor against you.`;
  notice(sheet, text, COLOR.unknown, COLOR.tint);
}

function first({ checks, score }: Report): string {
  const findings = toFix(checks);
  const [check] = findings;
  if (!check)
    return score === null
      ? 'In what could be checked there is nothing to fix.'
      : 'There is nothing to fix.';
  const gain = check.gain > 0 ? ` (+${formatPoints(check.gain)})` : '';
  const more = findings.length > 1 ? `, and ${findings.length - 1} more` : '';
  return `Do this first: ${shown(check.title, 300).replace(/\.$/, '')}${gain}${more}.`;
}

function facts(report: Report): Pair[] {
  const { kind, reasons } = report.judged_kind;
  const list: [string, string | null][] = [
    ['Test', report.name],
    ['Subject', report.subject ?? 'none'],
    ['From', report.from_address ?? 'no address'],
    ['Received', report.received_at && shownTime(report.received_at)],
    ['Kind', `${kind} mail, ${formatSize(report.message_size)}. ${reasons.join(' ')}`],
    ['Rules', report.ruleset],
    ['Id', report.id],
  ];
  return list.flatMap(([name, value]) => (value ? [{ name, value: shown(value, 300) }] : []));
}

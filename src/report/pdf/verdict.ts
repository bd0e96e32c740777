/** The top of the report: the score, the verdict in a sentence, what was tested, how much is known. */

import { toFix } from '../../analysis/summary.ts';
import { formatSize } from '../../lib/durations.ts';
import {
  BEYOND_THE_SCORE,
  categoryName,
  formatPoints,
  type Ledger,
  type LedgerRow,
  ledgerOf,
  missedSentence,
  verdictOf,
} from '../content.ts';
import type { Report } from '../report.ts';
import {
  BODY,
  type Cell,
  notice,
  outlineEntry,
  type Pair,
  pairs,
  paragraph,
  SMALL,
  section,
  table,
} from './blocks.ts';
import { RING, scoreRing } from './figures.ts';
import type { Sheet } from './sheet.ts';
import { COLOR, shown, shownTime, TYPE } from './style.ts';

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

// How the score comes about: what each category adds, in figures that add up before one's eyes.

/** With the heading: figures that are to be added up stand together. */
const WHOLE = 280;
const BOLD = { ...BODY, face: 'bold' } as const;

export function ledgerSection(sheet: Sheet, report: Report): void {
  const draw = () => {
    const ledger = ledgerOf(report);
    paragraph(
      sheet,
      'A category adds its share of points times its share of the weights that could be checked.',
    );
    sheet.y += 4;
    table(
      sheet,
      [
        { title: 'Category', share: 34 },
        { title: 'Share', share: 14, align: 'right' },
        { title: 'Points', share: 20, align: 'right' },
        { title: 'Weight', share: 14, align: 'right' },
        { title: 'Adds', share: 18, align: 'right' },
      ],
      [...ledger.rows.map(categoryRow), ...sums(report, ledger)],
    );
    sheet.y += 6;
    paragraph(sheet, BEYOND_THE_SCORE, { style: SMALL });
  };
  section(sheet, 'How the score comes about', draw, WHOLE);
}

function categoryRow({ name, share, earned, points, weight, adds }: LedgerRow): Cell[] {
  if (share === null || adds === null)
    return [categoryName(name), 'not checked', '–', `(${weight})`, '–'];
  return [
    categoryName(name),
    `${Math.floor(share * 100 + 1e-9)} %`,
    `${formatPoints(earned)} of ${formatPoints(points)}`,
    String(weight),
    adds.toFixed(1),
  ];
}

function sums({ score, grade, cap }: Report, { weight, sum }: Ledger): Cell[][] {
  if (score === null) return [total('No score: too little is known', '–')];
  return [
    total('Sum', (sum ?? 0).toFixed(1), String(weight)),
    ...(cap ? [capRow(cap.reason, cap.limit)] : []),
    total('Score, rounded down', `${score}${grade ? ` (${grade})` : ''}`),
  ];
}

const total = (label: string, value: string, weight = ''): Cell[] => [
  { parts: [{ text: label, style: BOLD }] },
  '',
  '',
  weight,
  { parts: [{ text: value, style: BOLD }] },
];

function capRow(reason: string, limit: number): Cell[] {
  const style = { ...BODY, color: COLOR.fail };
  const text = { text: 'Cap', style };
  const why = { text: shown(reason, 200), style: SMALL };
  return [{ parts: [text, why] }, '', '', '', { parts: [{ text: `at most ${limit}`, style }] }];
}

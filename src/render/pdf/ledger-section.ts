/** How the score comes about: what each category adds, in figures that add up before one's eyes. */

import { type Ledger, type LedgerRow, ledgerOf } from '../ledger.ts';
import type { Report } from '../report.ts';
import { BEYOND_THE_SCORE, categoryName, formatPoints } from '../report-words.ts';
import { BODY, paragraph, SMALL, section } from './blocks.ts';
import { COLOR } from './look.ts';
import type { Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { type Cell, table } from './table.ts';

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

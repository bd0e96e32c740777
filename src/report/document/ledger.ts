/** How the score is calculated: a table whose figures add up, then the points of every check. */

import type { CheckResult } from '../../analysis/result.ts';
import type { State } from '../../ui/components.tsx';
import {
  type Block,
  type Cell,
  type Fold,
  figure,
  oneLine,
  type Row,
  type Section,
  small,
  state,
  stateOf,
  type Table,
  type Text,
} from '../blocks.ts';
import {
  categoryName,
  formatPoints,
  type Ledger,
  type LedgerRow,
  ledgerOf,
  meterState,
  SCORE_LIMITATIONS,
  STATUS_WORDS,
  TEMPLATE_LIMITATIONS,
} from '../content.ts';
import type { ReportedResult } from '../report.ts';
import type { ReportVariant } from './variant.ts';
import { scoreWords } from './verdict.ts';

export function ledgerSection(report: ReportedResult, { medium, isBrief }: ReportVariant): Section {
  const ledger = ledgerOf(report);
  const example = ledger.rows.find(({ contribution }) => contribution !== null);
  const isScored = report.score !== null;
  const blocks: Block[] = [
    ledgerTable(report, ledger),
    small(report.is_template ? TEMPLATE_LIMITATIONS : SCORE_LIMITATIONS),
  ];
  if (medium === 'page' && !isBrief) blocks.push(checkPointsFold(report.checks));
  return {
    kind: 'section',
    id: 'score',
    title: 'How the score is calculated',
    note: example && isScored ? formulaNote(example, ledger) : null,
    fold: { open: false, count: scoreWords(report.score, report.grade).line },
    blocks,
  };
}

/** The formula in words, with the figures of one category as an example. */
function formulaNote(
  { name, earned, points, weight, contribution }: LedgerRow,
  ledger: Ledger,
): Text {
  return [
    'Each category adds its share of points × its share of the total weight × 100. Categories without results have no weight. ',
    `Example for ${categoryName(name).toLowerCase()}: `,
    figure(
      `${formatPoints(earned)}/${formatPoints(points)} × ${weight}/${ledger.weight} × 100 = ${oneDecimal(contribution ?? 0)}`,
    ),
  ];
}

const oneDecimal = (value: number): string => value.toFixed(1);

function ledgerTable(report: ReportedResult, ledger: Ledger): Table {
  const isScored = report.score !== null;
  return {
    kind: 'table',
    name: 'ledger',
    label: 'Points by category',
    columns: [
      { title: 'Category', share: 48 },
      { title: 'Points', share: 20, isNumber: true },
      { title: 'Weight', share: 14, isNumber: true },
      ...(isScored ? [{ title: 'Adds', share: 18, isNumber: true }] : []),
    ],
    groups: [{ title: null, rows: ledger.rows.map((row) => categoryRow(row, isScored)) }],
    foot: isScored ? totalRows(report, ledger) : [{ cells: [NO_SCORE], style: 'total' }],
  };
}

const NO_SCORE: Cell = { text: ['No score: not enough results'], span: 3 };

const cell = (text: string): Cell => ({ text: [text] });

function categoryRow(row: LedgerRow, isScored: boolean): Row {
  const { name, share, contribution, earned, points, weight } = row;
  if (share === null || contribution === null)
    return {
      style: 'muted',
      cells: [
        { text: [categoryName(name)], below: ['not checked'] },
        ...['–', `(${weight})`, ...(isScored ? ['–'] : [])].map(cell),
      ],
    };
  const percent = wholePercent(share);
  const meter = { share, state: meterState(percent), words: `${percent}%` };
  return {
    cells: [
      { text: [categoryName(name)], meter },
      cell(`${formatPoints(earned)} of ${formatPoints(points)}`),
      cell(String(weight)),
      ...(isScored ? [cell(oneDecimal(contribution))] : []),
    ],
  };
}

/** Rounded down: 100% always means all points. */
const wholePercent = (share: number): number => Math.floor(share * 100 + 1e-9);

function totalRows({ score, grade, cap }: ReportedResult, { weight, sum }: Ledger): Row[] {
  const capRows: Row[] = cap
    ? [
        {
          state: 'fail',
          cells: [
            { text: [`Cap: ${oneLine(cap.reason, 200)}`], span: 3 },
            cell(`at most ${cap.limit}`),
          ],
        },
      ]
    : [];
  return [
    { cells: [cell('Total'), { text: [] }, cell(String(weight)), cell(oneDecimal(sum ?? 0))] },
    ...capRows,
    {
      style: 'total',
      cells: [
        { text: ['Score, rounded down'], span: 3 },
        cell(`${score}${grade ? ` (${grade})` : ''}`),
      ],
    },
  ];
}

/** The points of each check, which add up to the points of the categories. */
function checkPointsFold(checks: CheckResult[]): Fold {
  const scoredChecks = checks.filter(({ points }) => points > 0);
  const categories = [...new Set(scoredChecks.map(({ category }) => category))];
  const rowOf = ({ label, status, earned, points }: CheckResult): Row => ({
    cells: [
      cell(oneLine(label, 80)),
      { text: [state(stateOf(status), STATUS_WORDS[status])] },
      cell(earned === null ? 'not counted' : formatPoints(earned)),
      cell(formatPoints(points)),
    ],
  });
  const table: Table = {
    kind: 'table',
    name: 'plain',
    label: 'Points by check',
    columns: [
      { title: 'Check', share: 40 },
      { title: 'Status', share: 30 },
      { title: 'Earned', share: 15, isNumber: true },
      { title: 'Possible', share: 15, isNumber: true },
    ],
    groups: categories.map((category) => ({
      title: categoryName(category),
      rows: scoredChecks.filter((check) => check.category === category).map(rowOf),
    })),
    foot: [],
  };
  return {
    kind: 'fold',
    id: 'points-by-check',
    title: 'Points by check',
    state: null,
    count: scoredChecks.length === 1 ? '1 check' : `${scoredChecks.length} checks`,
    open: false,
    style: 'card',
    blocks: [table],
  };
}

/** For a terminal: a bar for each category. */
export function ledgerBars({ categories, cap, score }: ReportedResult): Section {
  const rows = categories.map(({ name, score: categoryScore, earned, points, weight }) => ({
    name: name.replace('_', ' '),
    share: categoryScore === null ? null : categoryScore / 100,
    state: categoryScore === null ? 'unknown' : meterState(categoryScore),
    value: categoryScore === null ? 'not checked' : String(categoryScore),
    words:
      categoryScore === null ? '' : `${formatPoints(earned)} of ${points} points, weight ${weight}`,
  })) satisfies { state: State }[];
  const capNote = cap && score !== null ? `score capped at ${cap.limit}` : null;
  const blocks: Block[] = [{ kind: 'bars', rows, capNote }];
  return { kind: 'section', id: 'score', title: 'Score by category', note: null, blocks };
}

/** Tables: rows are never split, and the head is repeated on each page. */

import type { Block, Cell, Column, Row, Table } from '../blocks.ts';
import { drawLines, drawRule, layOutText } from './layout.ts';
import type { LaidOut, TextStyle } from './lines.ts';
import type { Sheet } from './sheet.ts';
import { BODY, COLOR, LABEL, MARKS, SMALL, SMALL_CODE } from './style.ts';

const GAP = 10;
const PADDING = 2.5;
/** In tables of checks that take one line each. */
const COMPACT_PADDING = 1;
const LARGE = { size: 14, leading: 18, face: 'bold' } as const;

/** A table with a head and within these limits stays on one page. */
const SHORT_TABLE = { rows: 10, height: 200 };

/** A row that has been laid out. */
interface PlacedRow {
  cells: PlacedCell[];
  height: number;
  /** Above and below the text. */
  padding: number;
  /** The height of the next row if both must be on one page: a title and the first row of its group. */
  nextHeight?: number;
  /** Drawn below the row across its full width. */
  blocks: Block[];
}

interface PlacedCell {
  x: number;
  width: number;
  isNumber: boolean;
  /** From top to bottom. */
  parts: LaidOut[];
  meter: Cell['meter'];
}

const paddingOf = ({ name }: Table): number => (name === 'checks' ? COMPACT_PADDING : PADDING);

/** `paint` draws the blocks of cells, which come below their row. */
export function drawTable(sheet: Sheet, table: Table, paint: (blocks: Block[]) => void): void {
  const head = headOf(sheet, table);
  sheet.ensureSpace(tableStartHeight(sheet, table));
  sheet.element('Table', () => {
    if (head) drawRow(sheet, head, 'TH');
    for (const row of placedRows(sheet, table)) {
      const top = sheet.y;
      sheet.ensureSpace(keptHeight(row));
      // The repeated head is decoration: the tags contain the head once.
      if (sheet.y < top && head) repeatHead(sheet, head);
      drawRow(sheet, row, 'TD');
      if (row.blocks.length > 0) sheet.inset(2 * GAP, () => paint(row.blocks));
    }
  });
}

/** The height kept on one page at the beginning: all of a short table, or the head and first row of a long one. */
export function tableStartHeight(sheet: Sheet, table: Table): number {
  const head = headOf(sheet, table);
  const firstRows: PlacedRow[] = [];
  for (const row of placedRows(sheet, table)) if (firstRows.push(row) > SHORT_TABLE.rows) break;
  const totalHeight = firstRows.reduce((sum, { height }) => sum + height, 0);
  const isShort = head && firstRows.length <= SHORT_TABLE.rows && totalHeight < SHORT_TABLE.height;
  return (
    (head?.height ?? 0) + (isShort ? totalHeight : firstRows[0] ? keptHeight(firstRows[0]) : 0)
  );
}

const keptHeight = ({ height, nextHeight = 0 }: PlacedRow): number => height + nextHeight;

function headOf(sheet: Sheet, { columns }: Table): PlacedRow | null {
  if (columns.every(({ title }) => title === '')) return null;
  const titles = columns.map((column) => ({ ...column, style: undefined }));
  return placeRow(
    sheet,
    titles,
    { cells: columns.map(({ title }) => ({ text: [title] })) },
    LABEL,
    PADDING,
  );
}

function* placedRows(sheet: Sheet, table: Table): Generator<PlacedRow> {
  const { columns, groups, foot } = table;
  const place = (row: Row, style = BODY) => placeRow(sheet, columns, row, style, paddingOf(table));
  for (const { title, rows } of groups) {
    const cell = { text: [title ?? ''], span: columns.length };
    if (title !== null)
      yield {
        ...place({ cells: [cell] }, { ...BODY, face: 'bold' }),
        nextHeight: rows[0] ? place(rows[0]).height : 0,
      };
    for (const row of rows) yield place(row);
  }
  for (const row of foot) yield place(row);
}

function placeRow(
  sheet: Sheet,
  columns: Column[],
  row: Row,
  base: TextStyle,
  padding: number,
): PlacedRow {
  const shares = columns.reduce((sum, { share }) => sum + share, 0);
  const textWidth = sheet.width - GAP * (columns.length - 1);
  let x = sheet.left;
  let column = 0;
  const cells = row.cells.map((cell, index): PlacedCell => {
    const spannedColumns = columns.slice(column, column + (cell.span ?? 1));
    column += spannedColumns.length;
    const share = spannedColumns.reduce((sum, spanned) => sum + spanned.share, 0);
    const width = (textWidth * share) / shares + GAP * (spannedColumns.length - 1);
    const style = rowStyle(row, index, columnStyle(spannedColumns[0]!, base));
    const parts = partsOf(cell, style).map((part) =>
      layOutText(sheet, part.text, cell.meter ? width / 2 : width, part.style),
    );
    const isNumber = spannedColumns.length === 1 && spannedColumns[0]!.isNumber === true;
    const placedCell = { x, width, isNumber, parts, meter: cell.meter };
    x += width + GAP;
    return placedCell;
  });
  const heights = cells.map(({ parts }) => parts.reduce((sum, { height }) => sum + height, 0));
  const blocks = row.cells.flatMap((cell) => cell.blocks ?? []);
  return { cells, height: Math.max(0, ...heights) + 2 * padding, padding, blocks };
}

const columnStyle = ({ style }: Column, base: TextStyle): TextStyle =>
  style === 'small' ? SMALL : style === 'code' ? SMALL_CODE : base;

/** The state of a row colors its first cell. */
function rowStyle({ style, state }: Row, index: number, base: TextStyle): TextStyle {
  if (style === 'total') return { ...base, face: 'bold' };
  if (style === 'muted') return { ...base, color: COLOR.muted };
  return state && index === 0 ? { ...base, face: 'bold', color: MARKS[state].color } : base;
}

function partsOf({ text, below, score }: Cell, style: TextStyle) {
  if (score) {
    const isKnown = score.score !== null;
    const large = { ...LARGE, color: MARKS[score.state].color };
    return [
      { text: [isKnown ? score.number : score.badge], style: large },
      { text: [isKnown ? (score.letter ?? '') : score.number], style: SMALL },
    ];
  }
  return [{ text, style }, ...(below ? [{ text: below, style: SMALL }] : [])];
}

function drawRow(sheet: Sheet, row: PlacedRow, tag: 'TH' | 'TD'): void {
  const options = tag === 'TH' ? { scope: 'Column' } : {};
  sheet.element('TR', () => {
    for (const cell of row.cells)
      sheet.element(tag, () => drawCell(sheet, cell, row.padding), options);
  });
  endRow(sheet, row, tag === 'TH');
}

function repeatHead(sheet: Sheet, row: PlacedRow): void {
  sheet.artifact((untagged) => {
    for (const cell of row.cells) drawCell(untagged, cell, row.padding);
  });
  endRow(sheet, row, true);
}

function drawCell(
  sheet: Sheet,
  { x, width, isNumber, parts, meter }: PlacedCell,
  padding: number,
): void {
  let y = sheet.y + padding;
  for (const part of parts) {
    drawLines(sheet, part, x, y, isNumber ? x + width : undefined);
    y += part.height;
  }
  if (meter) drawMeter(sheet, meter, x + width / 2, width / 2);
}

/** Draws the meter in the second half of a cell. */
function drawMeter(
  sheet: Sheet,
  { share, state, words }: NonNullable<Cell['meter']>,
  x: number,
  width: number,
): void {
  const bar = { width: width * 0.56, height: 4 };
  const y = sheet.y + PADDING;
  sheet.artifact(({ doc }) => {
    const top = y + (BODY.leading - bar.height) / 2 + 0.5;
    doc.rect(x, top, bar.width, bar.height).fill(COLOR.line);
    doc.rect(x, top, bar.width * share, bar.height).fill(MARKS[state].color);
  });
  drawLines(sheet, layOutText(sheet, [words], width, BODY), x + bar.width + GAP, y);
}

function endRow(sheet: Sheet, { height }: PlacedRow, isHead: boolean): void {
  sheet.y += height;
  sheet.artifact(() => drawRule(sheet, sheet.y, isHead ? COLOR.muted : COLOR.line));
}

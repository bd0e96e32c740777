/** Tables: rows stay whole, and the head stands again at the top of each further page. */

import { BODY, rule, SMALL } from './blocks.ts';
import { drawBlock } from './draw-lines.ts';
import { type Block, layOut, type Text, type TextStyle } from './lines.ts';
import { COLOR } from './look.ts';
import type { Sheet } from './sheet.ts';

interface Column {
  title: string;
  /** A share of the width: all of them are taken together. */
  share: number;
  align?: 'right';
  style?: TextStyle;
}

/** Text, and in a row of several parts (a verdict, its reason) one below the other. */
export type Cell = Text | { parts: { text: Text; style: TextStyle }[] };

const GAP = 10;
const PADDING = 4;
const HEAD: TextStyle = { ...SMALL, face: 'bold' };

/** A table of no more rows, and less high than this, is not broken. */
const SHORT_ROWS = 10;
const SHORT = 300;

interface Placed {
  x: number;
  right?: number;
  blocks: Block[];
}

export function table(sheet: Sheet, columns: Column[], rows: Cell[][]): void {
  const spans = columnSpans(sheet, columns);
  const place = (cells: Cell[], head: boolean): Placed[] =>
    cells.map((cell, index) => {
      const { x, width } = spans[index]!;
      const { align, style = BODY } = columns[index]!;
      const parts = partsOf(cell, head ? HEAD : style);
      const blocks = parts.map((part) => layOut(part.text, width, part.style, sheet.fonts));
      return { x, blocks, ...(align === 'right' ? { right: x + width } : {}) };
    });
  const head = place(
    columns.map(({ title }) => title),
    true,
  );
  // A short one stays together; of a long one, the head has a row below it.
  const first = rows.slice(0, SHORT_ROWS + 1).map((cells) => heightOf(place(cells, false)));
  const short = first.length <= SHORT_ROWS ? first.reduce((sum, height) => sum + height, 0) : SHORT;
  sheet.need(heightOf(head) + (short < SHORT ? short : first[0]!));
  sheet.element('Table', () => {
    drawRow(sheet, head, 'TH');
    for (const cells of rows) {
      const row = place(cells, false);
      const top = sheet.y;
      sheet.need(heightOf(row));
      // On a new page the head stands again, for those who see it; it is in the tags already.
      if (sheet.y < top) repeatHead(sheet, head);
      drawRow(sheet, row, 'TD');
    }
  });
}

function columnSpans({ left, width }: Sheet, columns: Column[]) {
  const shares = columns.reduce((sum, { share }) => sum + share, 0);
  const room = width - GAP * (columns.length - 1);
  let x = left;
  return columns.map(({ share }) => {
    const span = { x, width: (room * share) / shares };
    x += span.width + GAP;
    return span;
  });
}

const partsOf = (cell: Cell, style: TextStyle): { text: Text; style: TextStyle }[] =>
  typeof cell === 'object' && 'parts' in cell ? cell.parts : [{ text: cell, style }];

const heightOf = (cells: Placed[]): number =>
  Math.max(...cells.map(({ blocks }) => blocks.reduce((sum, { height }) => sum + height, 0))) +
  2 * PADDING;

function drawRow(sheet: Sheet, cells: Placed[], tag: 'TH' | 'TD'): void {
  const options = tag === 'TH' ? { scope: 'Column' } : {};
  sheet.element('TR', () => {
    for (const cell of cells) sheet.element(tag, () => drawCell(sheet, cell), options);
  });
  endRow(sheet, cells, tag === 'TH');
}

function repeatHead(sheet: Sheet, cells: Placed[]): void {
  sheet.artifact((untagged) => {
    for (const cell of cells) drawCell(untagged, cell);
  });
  endRow(sheet, cells, true);
}

function drawCell(sheet: Sheet, { x, right, blocks }: Placed): void {
  let y = sheet.y + PADDING;
  for (const block of blocks) {
    drawBlock(sheet, block, x, y, right);
    y += block.height;
  }
}

function endRow(sheet: Sheet, cells: Placed[], isHead: boolean): void {
  sheet.y += heightOf(cells);
  sheet.artifact(() => rule(sheet, sheet.y, isHead ? COLOR.muted : COLOR.line));
}

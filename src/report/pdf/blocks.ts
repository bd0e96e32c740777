/** What sections are made of: headings, paragraphs, pairs of name and value, boxes. */

import type { Fonts } from './fonts.ts';
import {
  type Block,
  drawMissing,
  joinedPieces,
  layOut,
  type Piece,
  type Text,
  type TextStyle,
  widthOf,
} from './lines.ts';
import { PagesFull, type Sheet } from './sheet.ts';
import { COLOR, PAGE, TYPE } from './style.ts';

export const BODY: TextStyle = { ...TYPE.body, face: 'sans', color: COLOR.ink };
export const SMALL: TextStyle = { ...TYPE.small, face: 'sans', color: COLOR.muted };
export const CODE: TextStyle = { ...TYPE.code, face: 'mono', color: COLOR.ink };

interface Place {
  style?: TextStyle;
  /** From the left margin. */
  indent?: number;
  width?: number;
  /** The kind of structure element; a paragraph unless said. */
  tag?: string;
}

/** Text that may go over to the next page, two lines of it together. */
export function paragraph(sheet: Sheet, text: Text, place: Place = {}): void {
  const { style = BODY, indent = 0, width = sheet.width - indent, tag = 'P' } = place;
  const { lines } = layOut(text, width, style, sheet.fonts);
  sheet.element(tag, () => {
    lines.forEach((line, index) => {
      const together = index === 0 ? Math.min(2, lines.length) : 1;
      sheet.need(together * style.leading);
      drawLine(sheet, line, sheet.left + indent, sheet.y, style);
      sheet.y += style.leading;
    });
  });
}

/** A heading is kept with this much of what follows it. */
const FOLLOWING = 90;

/** A heading with a line below it, and its entry in the outline. */
export function section(
  sheet: Sheet,
  title: string,
  draw: () => void,
  following = FOLLOWING,
): void {
  const style: TextStyle = { ...TYPE.section, face: 'bold', color: COLOR.ink };
  sheet.skip(20);
  sheet.need(style.leading + 8 + following);
  outlineEntry(sheet, title);
  sheet.element('Sect', () => {
    paragraph(sheet, title, { style, tag: 'H2' });
    sheet.artifact(() => rule(sheet, sheet.y + 1.5, COLOR.ink, 0.8));
    sheet.y += 9;
    draw();
  });
}

/** A smaller heading, without an entry in the outline. */
export function subheading(sheet: Sheet, text: Text, following = 60): void {
  const style: TextStyle = { ...TYPE.sub, face: 'bold', color: COLOR.ink };
  sheet.skip(10);
  sheet.need(style.leading + following);
  paragraph(sheet, text, { style, tag: 'H3' });
  sheet.y += 3;
}

/** A way to here from the list of contents that viewers show beside the pages. */
export function outlineEntry({ outline, y }: Sheet, title: string): PDFKit.PDFOutline {
  // pdfkit counts `left` from the right edge.
  const options = { left: PAGE.width, top: y - 6, fit: false };
  return outline.addItem(title, options as object);
}

function rule({ doc, left, width }: Sheet, y: number, color: string, thickness = 0.5): void {
  doc
    .lineWidth(thickness)
    .strokeColor(color)
    .moveTo(left, y)
    .lineTo(left + width, y)
    .stroke();
}

export interface Pair {
  name: string;
  value: Text;
  style?: TextStyle;
}

/** Names in a column, each with its value beside it. */
export function pairs(
  sheet: Sheet,
  list: Pair[],
  { indent = 0, names = 84, style = BODY }: { indent?: number; names?: number; style?: TextStyle },
): void {
  const width = sheet.width - indent;
  for (const pair of list) {
    const used = pair.style ?? style;
    const name = layOut(pair.name, names - 8, { ...style, color: COLOR.muted }, sheet.fonts);
    const value = layOut(pair.value, width - names, used, sheet.fonts);
    const height = Math.max(name.height, value.height);
    sheet.need(height);
    sheet.element('P', () => {
      drawBlock(sheet, name, sheet.left + indent, sheet.y);
      drawBlock(sheet, value, sheet.left + indent + names, sheet.y);
    });
    sheet.y += height;
  }
}

/** Text on a ground of its own, kept on one page. */
export function notice(sheet: Sheet, text: Text, color: string, ground: string): void {
  const padding = 8;
  const block = layOut(text, sheet.width - 2 * padding - 4, BODY, sheet.fonts);
  const height = block.height + 2 * padding - 2;
  sheet.need(height);
  sheet.artifact(() => {
    sheet.doc.rect(sheet.left, sheet.y, sheet.width, height).fill(ground);
    sheet.doc.rect(sheet.left, sheet.y, 2.5, height).fill(color);
  });
  sheet.element('P', () =>
    drawBlock(sheet, block, sheet.left + padding + 4, sheet.y + padding - 1),
  );
  sheet.y += height;
}

// Draws laid out text on the page: its letters, its links, and boxes for what no font has.

/** Height of capitals in DejaVu, at a size of one point: what a line is centred on. */
const CAPITALS = 0.729;

/** One line of a block with its top at `y`. */
export function drawLine(
  sheet: Sheet,
  line: Piece[],
  x: number,
  y: number,
  style: TextStyle,
): void {
  const baseline = y + (style.leading + style.size * CAPITALS) / 2;
  let at = x;
  for (const run of runsOf(line, sheet.fonts)) {
    const start = at;
    const draw = () => {
      for (const piece of run) {
        if (piece.kind === 'missing') drawMissing(sheet, piece, at, baseline, style);
        else drawText(sheet, piece, at, baseline, style);
        at += piece.width;
      }
    };
    const { link } = run[0]!.span;
    if (link === undefined) sheet.content(draw);
    else
      sheet.element('Link', () => {
        sheet.content(draw);
        sheet.link(start, y, at - start, style.leading, link);
      });
  }
}

/** All lines of a block, without a page break: for what is known to fit. */
export function drawBlock(
  sheet: Sheet,
  { lines, style }: Block,
  x: number,
  y: number,
  right?: number,
): void {
  lines.forEach((line, index) => {
    const from = right === undefined ? x : right - widthOf(line);
    drawLine(sheet, line, from, y + index * style.leading, style);
  });
}

/** Neighbours of one link; within them, what looks alike is drawn as one. */
function runsOf(line: Piece[], fonts: Fonts): Piece[][] {
  const runs: Piece[][] = [];
  for (const piece of line) {
    const run = runs.at(-1);
    if (run && run[0]!.span.link === piece.span.link) run.push(piece);
    else runs.push([piece]);
  }
  return runs.map((run) => joinedPieces(run, looksAlike, fonts));
}

const looksAlike = (a: Piece, b: Piece): boolean =>
  a.direction !== 'rtl' && b.direction !== 'rtl' && a.span.color === b.span.color;

function drawText({ doc }: Sheet, piece: Piece, x: number, y: number, style: TextStyle): void {
  doc
    .font(piece.face)
    .fontSize(style.size)
    .fillColor(piece.span.color ?? style.color)
    .text(piece.text, x, y, { lineBreak: false, baseline: 'alphabetic' });
}

// Tables: rows stay whole, and the head stands again at the top of each further page.

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

// Draws as much as there are pages for, and says so where that is not all.

export function withinPages(sheet: Sheet, draw: () => void, lastWord: string): void {
  try {
    draw();
  } catch (error) {
    if (!(error instanceof PagesFull)) throw error;
    const { need } = sheet;
    // The last page has kept this room free.
    sheet.need = () => {};
    paragraph(sheet, lastWord, { style: SMALL });
    sheet.need = need;
  }
}

// The foot of every page: what the report is of, and which page of how many.

/** Once all pages are there; they are still open (`bufferPages`). */
export function drawFooters(sheet: Sheet, title: string): void {
  const { doc, fonts, left, width } = sheet;
  const { start, count } = doc.bufferedPageRange();
  const y = PAGE.height - PAGE.bottom + 26;
  const name = layOut(title, width - 90, SMALL, fonts).lines[0]!;
  for (let page = start; page < start + count; page++) {
    doc.switchToPage(page);
    const number = layOut(`Page ${page + 1} of ${count}`, 90, SMALL, fonts).lines[0]!;
    sheet.artifact((untagged) => {
      doc.lineWidth(0.5).strokeColor(COLOR.line);
      doc
        .moveTo(left, y - 5)
        .lineTo(left + width, y - 5)
        .stroke();
      drawLine(untagged, name, left, y, SMALL);
      drawLine(untagged, number, left + width - widthOf(number), y, SMALL);
    });
  }
}

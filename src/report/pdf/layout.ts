/** What pages are filled with: paragraphs, headings, names with values, notices, and lines as they are drawn. */

import type { RecordBlock, Text } from '../blocks.ts';
import type { Fonts } from './fonts.ts';
import {
  drawMissing,
  joinedPieces,
  type LaidOut,
  layOut,
  type Piece,
  type TextStyle,
  widthOf,
} from './lines.ts';
import { PagesFull, type Sheet } from './sheet.ts';
import { BODY, CODE, COLOR, HEADINGS, PAGE, SMALL, styled } from './style.ts';

/** A text of the document in lines of a width. */
export const inLines = (
  { fonts, places }: Sheet,
  text: Text,
  width: number,
  style: TextStyle,
): LaidOut => layOut(styled(text, places), width, style, fonts);

export const heightOf = (sheet: Sheet, text: Text, style: TextStyle): number =>
  inLines(sheet, text, sheet.width, style).height;

/** Text that may go over to the next page, no line of it alone. */
export function paragraph(sheet: Sheet, text: Text, style: TextStyle = BODY, tag = 'P'): void {
  const { lines } = inLines(sheet, text, sheet.width, style);
  sheet.element(tag, () => {
    lines.forEach((line, index) => {
      const left = lines.length - index;
      const together = left <= 3 && index === 0 ? left : left === 2 || index === 0 ? 2 : 1;
      sheet.need(together * style.leading);
      drawLine(sheet, line, sheet.left, sheet.y, style);
      sheet.y += style.leading;
    });
  });
}

/** A heading with a line below it and its entry in the outline; `following` stays on its page. */
export function section(sheet: Sheet, title: string, following: number, draw: () => void): void {
  sheet.skip(18);
  sheet.need(HEADINGS[2].leading + 9 + following);
  outlineEntry(sheet, title);
  sheet.element('Sect', () => {
    paragraph(sheet, [title], HEADINGS[2], 'H2');
    sheet.artifact(() => rule(sheet, sheet.y + 1.5, COLOR.ink, 0.8));
    sheet.y += 9;
    draw();
  });
}

/** A smaller heading, without an entry in the outline; `following` stays on its page. */
export function subheading(sheet: Sheet, text: Text, following: number, rank: 3 | 4 = 3): void {
  const style = HEADINGS[rank];
  sheet.skip(10);
  sheet.need(heightOf(sheet, text, style) + 3 + following);
  paragraph(sheet, text, style, `H${rank}`);
  sheet.y += 3;
}

/** A way to here from the list of contents that viewers show beside the pages. */
export function outlineEntry({ outline, y }: Sheet, title: string): PDFKit.PDFOutline {
  // pdfkit counts `left` from the right edge.
  const options = { left: PAGE.width, top: y - 6, fit: false };
  return outline.addItem(title, options as object);
}

export function rule({ doc, left, width }: Sheet, y: number, color: string, thickness = 0.5): void {
  doc
    .lineWidth(thickness)
    .strokeColor(color)
    .moveTo(left, y)
    .lineTo(left + width, y)
    .stroke();
}

/** Of a column of names, with the gap to the values. */
const NAMES = { min: 48, max: 120, gap: 12 };

/** Names in a column as wide as they need, each with its value beside it; `below` draws what follows a value. */
export function pairs<T extends { name: Text; value: Text }>(
  sheet: Sheet,
  list: T[],
  style: TextStyle,
  below: (pair: T) => void = () => {},
): void {
  const nameStyle = { ...style, color: COLOR.muted };
  const names = list.map(({ name }) => inLines(sheet, name, NAMES.max, nameStyle));
  const widest = Math.max(0, ...names.flatMap(({ lines }) => lines.map(widthOf)));
  const column = Math.max(NAMES.min, widest + NAMES.gap);
  list.forEach((pair, index) => {
    const name = names[index]!;
    const value = inLines(sheet, pair.value, sheet.width - column, { ...style, color: COLOR.ink });
    const height = Math.max(name.height, value.height);
    sheet.need(height);
    sheet.element('P', () => {
      drawText(sheet, name, sheet.left, sheet.y);
      drawText(sheet, value, sheet.left + column, sheet.y);
    });
    sheet.y += height;
    sheet.inset(column, () => below(pair));
  });
}

/** Text on a ground of its own, kept on one page. */
export function notice(sheet: Sheet, text: Text, color: string, ground: string): void {
  const padding = 8;
  const block = inLines(sheet, text, sheet.width - 2 * padding - 4, BODY);
  const height = block.height + 2 * padding - 2;
  sheet.need(height);
  sheet.artifact(() => {
    sheet.doc.rect(sheet.left, sheet.y, sheet.width, height).fill(ground);
    sheet.doc.rect(sheet.left, sheet.y, 2.5, height).fill(color);
  });
  sheet.element('P', () => drawText(sheet, block, sheet.left + padding + 4, sheet.y + padding - 1));
  sheet.y += height;
}

// A DNS record to publish, in a box on one page: every character of it, however long, and nothing between.

const RECORD = { padding: 8, names: 40 };

function recordRows(sheet: Sheet, { type, name, value }: RecordBlock) {
  const { padding, names } = RECORD;
  return [type, name, value].map((each) => ({
    value: each.value,
    label: inLines(sheet, [each.label], names, { ...SMALL, leading: CODE.leading }),
    block: inLines(sheet, [each.value], sheet.width - 2 * padding - names, CODE),
  }));
}

const heightOfRows = (rows: { block: LaidOut }[]): number =>
  rows.reduce((sum, { block }) => sum + block.height, 0) + 2 * RECORD.padding;

export const recordHeight = (sheet: Sheet, record: RecordBlock): number =>
  heightOfRows(recordRows(sheet, record));

export function recordBox(sheet: Sheet, record: RecordBlock): void {
  const rows = recordRows(sheet, record);
  const height = heightOfRows(rows);
  sheet.need(height);
  sheet.artifact(({ doc, left, width, y }) =>
    doc.lineWidth(0.6).roundedRect(left, y, width, height, 4).fillAndStroke(COLOR.tint, COLOR.line),
  );
  const x = sheet.left + RECORD.padding;
  let y = sheet.y + RECORD.padding;
  for (const { value, label, block } of rows) {
    sheet.element('P', () => drawText(sheet, label, x, y));
    // However it wraps, it stands for one line.
    const actual = { actual: value };
    sheet.element('Code', () => drawText(sheet, block, x + RECORD.names, y), actual);
    y += block.height;
  }
  sheet.y += height;
}

// Draws laid out text on the page: its letters, its links, and boxes for what no font has.

/** All lines, without a page break: for what is known to fit. With `right`, they end there. */
export function drawText(
  sheet: Sheet,
  { lines, style }: LaidOut,
  x: number,
  y: number,
  right?: number,
): void {
  lines.forEach((line, index) => {
    const from = right === undefined ? x : right - widthOf(line);
    drawLine(sheet, line, from, y + index * style.leading, style);
  });
}

/** Height of capitals in DejaVu, at a size of one point: what a line is centred on. */
const CAPITALS = 0.729;

/** One line with its top at `y`. */
export function drawLine(
  sheet: Sheet,
  line: Piece[],
  x: number,
  y: number,
  style: TextStyle,
): void {
  const { doc, fonts } = sheet;
  const baseline = y + (style.leading + style.size * CAPITALS) / 2;
  let at = x;
  for (const run of runsOf(line, fonts)) {
    const start = at;
    const draw = () => {
      for (const piece of run) {
        if (piece.kind === 'missing') drawMissing(doc, piece, at, baseline, style);
        else drawPiece(doc, piece, at, baseline, style);
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

function drawPiece(
  doc: PDFKit.PDFDocument,
  { face, span, text }: Piece,
  x: number,
  y: number,
  { size, color }: TextStyle,
): void {
  doc
    .font(face)
    .fontSize(size)
    .fillColor(span.color ?? color)
    .text(text, x, y, { lineBreak: false, baseline: 'alphabetic' });
}

/** Draws as much as there are pages for; `lastWord` says so where that is not all. */
export function withinPages(sheet: Sheet, draw: () => void, lastWord: string): void {
  try {
    draw();
  } catch (error) {
    if (!(error instanceof PagesFull)) throw error;
    const { need } = sheet;
    // The last page has kept this room free.
    sheet.need = () => {};
    paragraph(sheet, [lastWord], SMALL);
    sheet.need = need;
  }
}

/** The foot of every page: what the report is of, and which page of how many. Once all pages are there; they are still open (`bufferPages`). */
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

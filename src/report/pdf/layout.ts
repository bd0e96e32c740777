/** The elements of a page: paragraphs, headings, name–value pairs, notices, records, footers. */

import type { RecordBlock, Text } from '../blocks.ts';
import type { Fonts } from './fonts.ts';
import { drawPiece } from './glyphs.ts';
import { type LaidOut, layOut, type TextStyle, widthOf } from './lines.ts';
import { joinedPieces, type Piece } from './pieces.ts';
import { PageLimitError, type Sheet } from './sheet.ts';
import { BODY, CODE, COLOR, HEADINGS, PAGE, SMALL, styled } from './style.ts';

/** Breaks a text of the document into lines of `width` points. */
export const layOutText = (
  { fonts, destinations, accent }: Sheet,
  text: Text,
  width: number,
  style: TextStyle,
): LaidOut => layOut(styled(text, destinations, accent), width, style, fonts);

export const heightOf = (sheet: Sheet, text: Text, style: TextStyle): number =>
  layOutText(sheet, text, sheet.width, style).height;

/** A paragraph that may continue on the next page, without widows and orphans. */
export function drawParagraph(sheet: Sheet, text: Text, style: TextStyle = BODY, tag = 'P'): void {
  const { lines } = layOutText(sheet, text, sheet.width, style);
  sheet.element(tag, () => {
    lines.forEach((line, index) => {
      const remaining = lines.length - index;
      const linesToKeep =
        remaining <= 3 && index === 0 ? remaining : remaining === 2 || index === 0 ? 2 : 1;
      sheet.ensureSpace(linesToKeep * style.leading);
      drawLine(sheet, line, sheet.left, sheet.y, style);
      sheet.y += style.leading;
    });
  });
}

/** A heading with a rule below it and an entry in the outline. It is kept on one page with the next `followingHeight` points. */
export function drawSection(
  sheet: Sheet,
  title: string,
  followingHeight: number,
  draw: () => void,
): void {
  sheet.skip(14);
  sheet.ensureSpace(HEADINGS[2].leading + 6 + followingHeight);
  addOutlineEntry(sheet, title);
  sheet.element('Sect', () => {
    drawParagraph(sheet, [title], HEADINGS[2], 'H2');
    sheet.artifact(() => drawRule(sheet, sheet.y + 1.5, COLOR.ink, 0.8));
    sheet.y += 6;
    draw();
  });
}

/** A smaller heading without an entry in the outline. It is kept on one page with the next `followingHeight` points. */
export function drawSubheading(
  sheet: Sheet,
  text: Text,
  followingHeight: number,
  rank: 3 | 4 = 3,
): void {
  const style = HEADINGS[rank];
  sheet.skip(8);
  sheet.ensureSpace(heightOf(sheet, text, style) + 2 + followingHeight);
  drawParagraph(sheet, text, style, `H${rank}`);
  sheet.y += 2;
}

/** Adds a bookmark for the current position. */
export function addOutlineEntry({ outline, y }: Sheet, title: string): PDFKit.PDFOutline {
  // pdfkit measures `left` from the right edge.
  const options = { left: PAGE.width, top: y - 6, fit: false };
  return outline.addItem(title, options as object);
}

export function drawRule(
  { doc, left, width }: Sheet,
  y: number,
  color: string,
  thickness = 0.5,
): void {
  doc
    .lineWidth(thickness)
    .strokeColor(color)
    .moveTo(left, y)
    .lineTo(left + width, y)
    .stroke();
}

/** The width of the name column and its gap to the values, in points. */
const NAME_COLUMN = { min: 48, max: 120, gap: 12 };

/** Names in a column as wide as needed, with their values beside them; `below` draws what follows a value. */
export function drawPairs<T extends { name: Text; value: Text }>(
  sheet: Sheet,
  pairs: T[],
  style: TextStyle,
  below: (pair: T) => void = () => {},
): void {
  const nameStyle = { ...style, color: COLOR.muted };
  const names = pairs.map(({ name }) => layOutText(sheet, name, NAME_COLUMN.max, nameStyle));
  const widest = Math.max(0, ...names.flatMap(({ lines }) => lines.map(widthOf)));
  const column = Math.max(NAME_COLUMN.min, widest + NAME_COLUMN.gap);
  pairs.forEach((pair, index) => {
    const name = names[index]!;
    const value = layOutText(sheet, pair.value, sheet.width - column, {
      ...style,
      color: COLOR.ink,
    });
    const height = Math.max(name.height, value.height);
    sheet.ensureSpace(height);
    sheet.element('P', () => {
      drawLines(sheet, name, sheet.left, sheet.y);
      drawLines(sheet, value, sheet.left + column, sheet.y);
    });
    sheet.y += height;
    sheet.inset(column, () => below(pair));
  });
}

/** Text on a colored background, kept on one page. */
export function drawNotice(sheet: Sheet, text: Text, color: string, background: string): void {
  const padding = 6;
  const block = layOutText(sheet, text, sheet.width - 2 * padding - 4, BODY);
  const height = block.height + 2 * padding - 2;
  sheet.ensureSpace(height);
  sheet.artifact(() => {
    sheet.doc.rect(sheet.left, sheet.y, sheet.width, height).fill(background);
    sheet.doc.rect(sheet.left, sheet.y, 2.5, height).fill(color);
  });
  sheet.element('P', () =>
    drawLines(sheet, block, sheet.left + padding + 4, sheet.y + padding - 1),
  );
  sheet.y += height;
}

// A DNS record to publish, in a box on one page. Long values are neither truncated nor hyphenated.

const RECORD_BOX = { padding: 5, labelWidth: 36 };

function recordRows(sheet: Sheet, { type, name, value }: RecordBlock) {
  const { padding, labelWidth } = RECORD_BOX;
  return [type, name, value].map((field) => ({
    value: field.value,
    label: layOutText(sheet, [field.label], labelWidth, { ...SMALL, leading: CODE.leading }),
    block: layOutText(sheet, [field.value], sheet.width - 2 * padding - labelWidth, CODE),
  }));
}

const heightOfRows = (rows: { block: LaidOut }[]): number =>
  rows.reduce((sum, { block }) => sum + block.height, 0) + 2 * RECORD_BOX.padding;

export const recordHeight = (sheet: Sheet, record: RecordBlock): number =>
  heightOfRows(recordRows(sheet, record));

export function drawRecordBox(sheet: Sheet, record: RecordBlock): void {
  const rows = recordRows(sheet, record);
  const height = heightOfRows(rows);
  sheet.ensureSpace(height);
  sheet.artifact(({ doc, left, width, y }) =>
    doc.lineWidth(0.6).roundedRect(left, y, width, height, 4).fillAndStroke(COLOR.tint, COLOR.line),
  );
  const x = sheet.left + RECORD_BOX.padding;
  let y = sheet.y + RECORD_BOX.padding;
  for (const { value, label, block } of rows) {
    sheet.element('P', () => drawLines(sheet, label, x, y));
    // Copying a wrapped value yields one line.
    const actual = { actual: value };
    sheet.element('Code', () => drawLines(sheet, block, x + RECORD_BOX.labelWidth, y), actual);
    y += block.height;
  }
  sheet.y += height;
}

// Draws laid-out text: glyphs, links, and markers for text without a font.

/** Draws all lines without a page break, so they must fit. With `right`, lines are right-aligned to it. */
export function drawLines(
  sheet: Sheet,
  { lines, style }: LaidOut,
  x: number,
  y: number,
  right?: number,
): void {
  lines.forEach((line, index) => {
    const lineX = right === undefined ? x : right - widthOf(line);
    drawLine(sheet, line, lineX, y + index * style.leading, style);
  });
}

/** Height of capitals in DejaVu at a font size of one point. Lines are centered on it. */
const CAP_HEIGHT = 0.729;

/** Draws one line with its top at `y`. */
export function drawLine(
  sheet: Sheet,
  line: Piece[],
  x: number,
  y: number,
  style: TextStyle,
): void {
  const { doc, fonts } = sheet;
  const baseline = y + (style.leading + style.size * CAP_HEIGHT) / 2;
  let position = x;
  for (const run of runsOf(line, style.size, fonts)) {
    const start = position;
    const draw = () => {
      for (const piece of run) {
        drawPiece(doc, piece, position, baseline, style);
        position += piece.width;
      }
    };
    const { link } = run[0]!.span;
    if (link === undefined) sheet.content(draw);
    else
      sheet.element('Link', () => {
        sheet.content(draw);
        sheet.link(start, y, position - start, style.leading, link);
      });
  }
}

/** Groups neighboring pieces by link, and joins those in a group that look alike. */
function runsOf(line: Piece[], size: number, fonts: Fonts): Piece[][] {
  const runs: Piece[][] = [];
  for (const piece of line) {
    const run = runs.at(-1);
    if (run && run[0]!.span.link === piece.span.link) run.push(piece);
    else runs.push([piece]);
  }
  return runs.map((run) => joinedPieces(run, looksAlike, size, fonts));
}

const looksAlike = (a: Piece, b: Piece): boolean =>
  a.direction !== 'rtl' && b.direction !== 'rtl' && a.span.color === b.span.color;

/** Draws until the page limit is reached, then ends with `truncationNote`. */
export function drawWithinPageLimit(sheet: Sheet, draw: () => void, truncationNote: string): void {
  try {
    draw();
  } catch (error) {
    if (!(error instanceof PageLimitError)) throw error;
    const originalEnsureSpace = sheet.ensureSpace;
    // Space for the note is reserved on the last page.
    sheet.ensureSpace = () => {};
    drawParagraph(sheet, [truncationNote], SMALL);
    sheet.ensureSpace = originalEnsureSpace;
  }
}

/** Draws the footer of every page: title and page number. Call it after the last page; requires `bufferPages`. */
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

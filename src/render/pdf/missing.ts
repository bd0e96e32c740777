/** A character that no font has: its number in a small box, and the character itself for who copies it. */

import type { TextStyle } from './lines.ts';
import type { Piece } from './pieces.ts';
import type { Sheet } from './sheet.ts';

/** Hexadecimal digits of 3 × 5 dots, a row after the other: they need no font that would be copied. */
const DIGITS: Record<string, string> = {
  0: '111101101101111',
  1: '010110010010111',
  2: '111001111100111',
  3: '111001111001111',
  4: '101101111001001',
  5: '111100111001111',
  6: '111100111101111',
  7: '111001001010010',
  8: '111101111101111',
  9: '111101111001111',
  A: '010101111101101',
  B: '110101110101110',
  C: '011100100100011',
  D: '110101101101110',
  E: '111100110100111',
  F: '111100110100100',
};

/** In parts of the size of the text: a dot, and what stands around the box. */
const DOT = 0.075;
const MARGIN = 0.06;

/** Two rows of digits, two or three in each. */
function rowsOf(char: string): string[] {
  const code = char.codePointAt(0)!;
  const digits = code
    .toString(16)
    .toUpperCase()
    .padStart(code > 0xffff ? 6 : 4, '0');
  return [digits.slice(0, digits.length / 2), digits.slice(digits.length / 2)];
}

/** At a size of one point. Digits are a dot apart, and two from the edge. */
export function missingWidth(char: string): number {
  return (rowsOf(char)[0]!.length * 4 + 3) * DOT + 2 * MARGIN;
}

/** With the baseline of the text at `y`. */
export function drawMissing(
  { doc }: Sheet,
  piece: Piece,
  x: number,
  y: number,
  { size, color: ink }: TextStyle,
): void {
  const dot = DOT * size;
  const color = piece.span.color ?? ink;
  const place = [dot, 0, 0, dot, x + MARGIN * size, y - 13 * dot].map((each) => each.toFixed(3));
  doc.strokeColor(color).fillColor(color);
  doc.addContent(`q ${place.join(' ')} cm ${boxOf(piece.text)} Q`);
  spaceFor(doc, piece, x, y, size);
}

/** In the words of a PDF and in dots: alike for each that is the same, so that many take no room. */
function boxOf(char: string): string {
  const rows = rowsOf(char);
  const rectangles: string[] = [];
  rows.forEach((digits, row) => {
    [...digits].forEach((digit, column) => {
      for (const { index } of DIGITS[digit]!.matchAll(/1/g)) {
        const across = 2 + column * 4 + (index % 3);
        rectangles.push(`${across} ${2 + row * 6 + Math.floor(index / 3)} 1 1 re`);
      }
    });
  });
  const outline = `0.5 w 0 0 ${rows[0]!.length * 4 + 3} 15 re S`;
  return `${outline} ${rectangles.join(' ')} f`;
}

/**
 * A space as wide as the box, which stands for the character: a copy, a search and a voice find it.
 * pdfkit turns the page round for each text and back; readers place what stands for something else
 * by how the page is turned and by the font at its end, so that here that is done around the whole.
 */
function spaceFor(
  doc: PDFKit.PDFDocument,
  { text, width }: Piece,
  x: number,
  y: number,
  size: number,
): void {
  doc.font('sans').fontSize(size);
  const horizontalScaling = (100 * width) / doc.widthOfString(' ');
  const turned = Object.create(doc) as PDFKit.PDFDocument & {
    _fragment(text: string, x: number, y: number, options: object): void;
  };
  turned.transform = turned.save = turned.restore = () => turned;
  doc.save().transform(1, 0, 0, -1, 0, doc.page.height);
  doc.markContent('Span', { actual: text });
  turned._fragment(' ', x, y, { baseline: 'alphabetic', horizontalScaling });
  doc.endMarkedContent();
  doc.restore();
}

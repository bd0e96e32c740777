/** Draws laid out text on the page: its letters, its links, and boxes for what no font has. */

import type { Fonts } from './fonts.ts';
import { type Block, type TextStyle, widthOf } from './lines.ts';
import { drawMissing } from './missing.ts';
import { joinedPieces, type Piece } from './pieces.ts';
import type { Sheet } from './sheet.ts';

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

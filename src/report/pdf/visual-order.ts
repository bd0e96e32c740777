/**
 * The order of right-to-left text on a line. A simplified UAX #9 for left-to-right paragraphs without embedding
 * levels, which is enough for names and subjects.
 */

import type { Fonts } from './fonts.ts';
import { charactersOf, type Piece } from './pieces.ts';

/**
 * Reverses runs of right-to-left words with the numbers and the punctuation between them. A number after the last one
 * belongs to them only if the whole line is right-to-left: in `תיבה: 5 failed` it belongs to the sentence.
 */
export function inVisualOrder(line: Piece[], size: number, fonts: Fonts): Piece[] {
  if (!line.some(({ direction }) => direction === 'rtl')) return line;
  const isWhole = line.every(({ direction }) => direction !== 'ltr');
  const isInRun = ({ direction }: Piece) =>
    direction === 'rtl' || (isWhole && direction === 'number');
  const order: Piece[] = [];
  let run: Piece[] = [];
  const flush = () => {
    const last = run.findLastIndex(isInRun) + 1;
    order.push(
      ...run
        .slice(0, last)
        .reverse()
        .map((piece) => mirrored(piece, size, fonts)),
      ...run.slice(last),
    );
    run = [];
  };
  for (const piece of line) {
    if (piece.direction === 'rtl') run.push(piece);
    else if (run.length > 0 && piece.direction !== 'ltr') run.push(...partsOf(piece, size, fonts));
    else {
      flush();
      order.push(piece);
    }
  }
  flush();
  return order;
}

/** With its separators and signs, such as `$5.30` and `12:30`; not a digit on a keycap. */
const NUMBER = /([#$€£₪]?\p{Nd}+(?:[.,:/-]\p{Nd}+)*[%‰°$€£₪]?(?![\ufe0f\u20e3]))/u;

/** Each number, and each character between numbers. */
function partsOf(piece: Piece, size: number, fonts: Fonts): Piece[] {
  if (piece.kind !== 'text') return [piece];
  const parts = piece.text
    .split(NUMBER)
    .flatMap((part, index): Piece[] =>
      index % 2 === 1
        ? [{ ...piece, text: part, direction: 'number' }]
        : charactersOf(part).map((text) => ({ ...piece, text, direction: 'neutral' })),
    );
  const widths = parts.map(({ font, text }) => fonts.width(font, text));
  if (parts.length < 2 || widths.includes(null)) return [piece];
  return parts.map((part, index) => ({ ...part, width: widths[index]! * size }));
}

const OPENING = '([{<«‹';
const CLOSING = ')]}>»›';

/** A bracket opens to the left in right-to-left text. */
function mirrored(piece: Piece, size: number, fonts: Fonts): Piece {
  const { text, font } = piece;
  if (piece.direction !== 'neutral' || text.length !== 1) return piece;
  const marker = CLOSING[OPENING.indexOf(text)] ?? OPENING[CLOSING.indexOf(text)];
  const width = marker === undefined ? null : fonts.width(font, marker);
  return marker === undefined || width === null ? piece : { ...piece, marker, width: width * size };
}

/** Text taken apart into pieces that are drawn alike: by font, by direction, and what no font has. */

import type { Face, Fonts } from './fonts.ts';
import { missingWidth } from './missing.ts';

/** A stretch of text with a look of its own; what it does not say, the paragraph says. */
export interface Span {
  text: string;
  face?: Face;
  color?: string;
  /** What a click opens: an address (http, https), or a place in the document (`#name`). */
  link?: string;
}

type Direction = 'ltr' | 'rtl' | 'neutral';

export interface Piece {
  /** `missing`: one character that no font has, shown by its number in a box. */
  kind: 'text' | 'space' | 'missing';
  text: string;
  face: Face;
  direction: Direction;
  /** In points. */
  width: number;
  span: Span;
}

/** Fitting all printable ASCII: there every font has a glyph for everything. */
const PLAIN = /^[\x20-\x7e]*$/;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const LEFT_TO_RIGHT = /[\p{L}\p{N}]/u;
const MARK = /\p{M}/u;
/** A character with the marks on it. */
const UNITS = /\P{M}\p{M}*|\p{M}+/gu;
/** Joiners, variation selectors and the like: where no font has them, nothing is missed. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** The pieces of one word, or of the space between two, at a size in points. */
export function piecesOf(
  text: string,
  span: Span,
  face: Face,
  size: number,
  fonts: Fonts,
): Piece[] {
  if (PLAIN.test(text)) {
    const kind = text.trim() === '' ? 'space' : 'text';
    const width = fonts.width(face, text)! * size;
    return [{ kind, text, face, direction: directionOf(text), width, span }];
  }
  const runs: Piece[] = [];
  for (const char of text) {
    const used = faceFor(char, face, fonts);
    if (used === null && INVISIBLE.test(char)) continue;
    const direction = directionOf(char);
    const last = runs.at(-1);
    if (used === null) runs.push(missing({ text: char, span }, size));
    else if (last?.kind === 'text' && last.face === used && joins(last.direction, direction, char))
      last.text += char;
    else runs.push({ kind: 'text', text: char, face: used, direction, width: 0, span });
  }
  return runs.flatMap((run) => (run.kind === 'text' ? measured(run, size, fonts) : [run]));
}

/** With its width; character by character where the whole cannot be drawn. */
function measured(piece: Piece, size: number, fonts: Fonts): Piece[] {
  const width = fonts.width(piece.face, piece.text);
  return width === null ? unitsOf(piece, size, fonts) : [{ ...piece, width: width * size }];
}

/** One piece for each character with its marks. */
export function unitsOf(piece: Piece, size: number, fonts: Fonts): Piece[] {
  if (piece.kind !== 'text') return [piece];
  return (piece.text.match(UNITS) ?? []).map((text) => {
    const width = fonts.width(piece.face, text);
    return width === null
      ? missing({ text, span: piece.span }, size)
      : { ...piece, text, width: width * size };
  });
}

const missing = (part: Pick<Piece, 'text' | 'span'>, size: number): Piece => ({
  ...part,
  kind: 'missing',
  face: 'sans',
  direction: 'ltr',
  width: missingWidth(part.text) * size,
});

/** The face itself, the one with the most characters in its place, or null where neither has it. */
function faceFor(char: string, face: Face, fonts: Fonts): Face | null {
  const codePoint = char.codePointAt(0)!;
  if (fonts.has(face, codePoint)) return face;
  return fonts.has('sans', codePoint) ? 'sans' : null;
}

/** A mark belongs to the letter before it; neutral characters stay with text from left to right. */
function joins(run: Direction, direction: Direction, char: string): boolean {
  return run === direction || MARK.test(char) || (run === 'ltr' && direction === 'neutral');
}

function directionOf(text: string): Direction {
  if (RIGHT_TO_LEFT.test(text)) return 'rtl';
  return LEFT_TO_RIGHT.test(text) ? 'ltr' : 'neutral';
}

/**
 * Neighbours that `alike` holds to look the same, drawn as one, unless they cannot be drawn so. What
 * is written from right to left stays by itself.
 */
export function joinedPieces(
  pieces: Piece[],
  alike: (a: Piece, b: Piece) => boolean,
  fonts: Fonts,
): Piece[] {
  const groups: Piece[][] = [];
  for (const piece of pieces) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    const joinable = last && last.kind !== 'missing' && piece.kind !== 'missing';
    if (joinable && last.face === piece.face && alike(last, piece)) group!.push(piece);
    else groups.push([piece]);
  }
  return groups.flatMap((group) => {
    if (group.length === 1) return group;
    const text = group.map((piece) => piece.text).join('');
    if (fonts.width(group[0]!.face, text) === null) return group;
    const width = group.reduce((sum, piece) => sum + piece.width, 0);
    return [{ ...group[0]!, kind: 'text', text, width }];
  });
}

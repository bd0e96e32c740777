/** Breaks text into lines of a given width, between words and within words longer than a line. */

import { printable } from '../../lib/log.ts';
import type { Face, Fonts } from './fonts.ts';

export type StyledText = string | StyledSpan[];

export interface TextStyle {
  size: number;
  leading: number;
  face: Face;
  color: string;
}

/** Laid-out text: lines of pieces in visual order, from left to right. */
export interface LaidOut {
  lines: Piece[][];
  style: TextStyle;
  /** In points. */
  height: number;
}

/** Far more than any real text contains. Bounds the work for hostile input. */
const MAX_CHARACTERS = 20_000;

export function layOut(text: StyledText, width: number, style: TextStyle, fonts: Fonts): LaidOut {
  const lines: Piece[][] = [];
  let line: Piece[] = [];
  let usedWidth = 0;
  const endLine = () => {
    while (line.at(-1)?.kind === 'space') line.pop();
    lines.push(inVisualOrder(line));
    line = [];
    usedWidth = 0;
  };
  const add = (pieces: Piece[]) => {
    line.push(...pieces);
    usedWidth += widthOf(pieces);
  };
  // The space at a line break is dropped. A space at the beginning of a line of the text is kept.
  let isAfterWrap = false;
  for (const word of wordsOf(text, style, fonts)) {
    if (word === 'end of line') {
      endLine();
      isAfterWrap = false;
    } else if (word[0]!.kind === 'space') {
      if (usedWidth > 0 || !isAfterWrap) add(word);
    } else
      for (const part of widthOf(word) > width
        ? splitLongWord(word, width, style, fonts)
        : [word]) {
        isAfterWrap = usedWidth > 0 && usedWidth + widthOf(part) > width;
        if (isAfterWrap) endLine();
        add(part);
      }
  }
  endLine();
  return { lines, style, height: lines.length * style.leading };
}

export const widthOf = (pieces: Piece[]): number =>
  pieces.reduce((sum, { width }) => sum + width, 0);

/** Words and the spaces between them. A word may extend over several spans. */
function wordsOf(text: StyledText, style: TextStyle, fonts: Fonts): (Piece[] | 'end of line')[] {
  const words: (Piece[] | 'end of line')[] = [];
  let remaining = MAX_CHARACTERS;
  let openWord: Piece[] | null = null;
  for (const span of typeof text === 'string' ? [{ text }] : text) {
    const spanText = span.text.slice(0, remaining);
    remaining -= spanText.length;
    for (const raw of spanText.split(/(\n| +)/)) {
      // Names in charts may contain control characters.
      const part = raw === '\n' ? raw : printable(raw);
      if (part === '') continue;
      if (part === '\n') words.push('end of line');
      const pieces =
        part === '\n'
          ? []
          : piecesOf(part, span, (span as StyledSpan).face ?? style.face, style.size, fonts);
      const isWord = pieces.length > 0 && pieces[0]!.kind !== 'space';
      if (isWord && openWord) openWord.push(...pieces);
      else if (pieces.length > 0) words.push(pieces);
      openWord = isWord ? (openWord ?? pieces) : null;
    }
  }
  return words;
}

/** Characters after which a URL or a record may break. */
const BREAK_CHARACTERS = /[/?&=;:,._@+-]/;

/** Splits a word that is too long into parts that fit, after a break character in the last third, or anywhere. */
function splitLongWord(word: Piece[], width: number, style: TextStyle, fonts: Fonts): Piece[][] {
  const parts: Piece[][] = [];
  let part: Piece[] = [];
  let usedWidth = 0;
  for (const unit of word.flatMap((piece) => unitsOf(piece, style.size, fonts))) {
    if (part.length > 0 && usedWidth + unit.width > width) {
      const breakIndex = part.findLastIndex(({ text }) => BREAK_CHARACTERS.test(text)) + 1;
      const cut = breakIndex > (part.length * 2) / 3 ? breakIndex : part.length;
      parts.push(joinedPieces(part.slice(0, cut), isSameSpan, fonts));
      part = part.slice(cut);
      usedWidth = widthOf(part);
    }
    part.push(unit);
    usedWidth += unit.width;
  }
  return [...parts, joinedPieces(part, isSameSpan, fonts)];
}

const isSameSpan = (a: Piece, b: Piece): boolean => a.span === b.span;

/**
 * Reverses runs of right-to-left words. A simplified UAX #9 for left-to-right paragraphs without
 * embedding levels, which is enough for names and subjects.
 */
function inVisualOrder(line: Piece[]): Piece[] {
  if (!line.some(({ direction }) => direction === 'rtl')) return line;
  const order: Piece[] = [];
  let run: Piece[] = [];
  const flush = () => {
    const last = run.findLastIndex(({ direction }) => direction === 'rtl') + 1;
    order.push(...run.slice(0, last).reverse(), ...run.slice(last));
    run = [];
  };
  for (const piece of line) {
    if (piece.direction === 'rtl' || (run.length > 0 && piece.direction === 'neutral'))
      run.push(piece);
    else {
      flush();
      order.push(piece);
    }
  }
  flush();
  return order;
}

// Splits text into pieces of one font and direction, and into characters without a glyph.

/** Text with its own style. Omitted properties come from the paragraph. */
export interface StyledSpan {
  text: string;
  face?: Face;
  color?: string;
  /** Link target: a URL (http, https) or a destination in the document (`#name`). */
  link?: string;
}

type Direction = 'ltr' | 'rtl' | 'neutral';

export interface Piece {
  /** `missing`: one character without a glyph, drawn as a box. */
  kind: 'text' | 'space' | 'missing';
  text: string;
  face: Face;
  direction: Direction;
  /** In points. */
  width: number;
  span: StyledSpan;
}

/** Every font has glyphs for all printable ASCII characters. */
const ASCII = /^[\x20-\x7e]*$/;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const LEFT_TO_RIGHT = /[\p{L}\p{N}]/u;
const MARK = /\p{M}/u;
/** A character with its combining marks. */
const UNITS = /\P{M}\p{M}*|\p{M}+/gu;
/** Joiners, variation selectors and the like: dropped if no font has them. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** The pieces of one word or of the space between two words. `size` is in points. */
function piecesOf(text: string, span: StyledSpan, face: Face, size: number, fonts: Fonts): Piece[] {
  if (ASCII.test(text)) {
    const kind = text.trim() === '' ? 'space' : 'text';
    const width = fonts.width(face, text)! * size;
    return [{ kind, text, face, direction: directionOf(text), width, span }];
  }
  const runs: Piece[] = [];
  for (const char of text) {
    const glyphFace = faceFor(char, face, fonts);
    if (glyphFace === null && INVISIBLE.test(char)) continue;
    const direction = directionOf(char);
    const last = runs.at(-1);
    if (glyphFace === null) runs.push(missingPiece({ text: char, span }, size, fonts));
    else if (
      last?.kind === 'text' &&
      last.face === glyphFace &&
      joinsRun(last.direction, direction, char)
    )
      last.text += char;
    else runs.push({ kind: 'text', text: char, face: glyphFace, direction, width: 0, span });
  }
  return runs.flatMap((run) => (run.kind === 'text' ? withWidth(run, size, fonts) : [run]));
}

/** Adds the width to a piece. Text that cannot be drawn as a whole is split into characters. */
function withWidth(piece: Piece, size: number, fonts: Fonts): Piece[] {
  const width = fonts.width(piece.face, piece.text);
  return width === null ? unitsOf(piece, size, fonts) : [{ ...piece, width: width * size }];
}

/** One piece for each character with its combining marks. */
function unitsOf(piece: Piece, size: number, fonts: Fonts): Piece[] {
  if (piece.kind !== 'text') return [piece];
  return (piece.text.match(UNITS) ?? []).map((text) => {
    const width = fonts.width(piece.face, text);
    return width === null
      ? missingPiece({ text, span: piece.span }, size, fonts)
      : { ...piece, text, width: width * size };
  });
}

const missingPiece = (part: Pick<Piece, 'text' | 'span'>, size: number, fonts: Fonts): Piece => ({
  ...part,
  kind: 'missing',
  face: 'sans',
  direction: 'ltr',
  width: fonts.width('sans', BOX)! * size,
});

/** The face itself, else the face with the most glyphs, else null. */
function faceFor(char: string, face: Face, fonts: Fonts): Face | null {
  const codePoint = char.codePointAt(0)!;
  if (fonts.has(face, codePoint)) return face;
  return fonts.has('sans', codePoint) ? 'sans' : null;
}

/** A combining mark belongs to the letter before it; neutral characters stay with left-to-right text. */
function joinsRun(run: Direction, direction: Direction, char: string): boolean {
  return run === direction || MARK.test(char) || (run === 'ltr' && direction === 'neutral');
}

function directionOf(text: string): Direction {
  if (RIGHT_TO_LEFT.test(text)) return 'rtl';
  return LEFT_TO_RIGHT.test(text) ? 'ltr' : 'neutral';
}

/**
 * Joins neighboring pieces of one face for which `alike` holds, unless the joined text cannot be
 * drawn.
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

// Characters without a glyph: drawn as an empty box, copied as the character.

const BOX = '□';

/**
 * Draws the box with its baseline at `y`. The character is its replacement text, for copying, searching
 * and screen readers. pdfkit flips the page for each text and flips it back. PDF viewers place
 * replacement text by the transformation at its end, so here the flip surrounds the whole element.
 */
export function drawMissing(
  doc: PDFKit.PDFDocument,
  { text, span }: Piece,
  x: number,
  y: number,
  { size, color }: TextStyle,
): void {
  const flipped = Object.create(doc) as PDFKit.PDFDocument & {
    _fragment(text: string, x: number, y: number, options: object): void;
  };
  flipped.transform = flipped.save = flipped.restore = () => flipped;
  doc
    .font('sans')
    .fontSize(size)
    .fillColor(span.color ?? color);
  doc.save().transform(1, 0, 0, -1, 0, doc.page.height);
  doc.markContent('Span', { actual: text });
  flipped._fragment(BOX, x, y, { baseline: 'alphabetic' });
  doc.endMarkedContent();
  doc.restore();
}

/** Breaks text into lines of a width: between words, and inside of one that is longer than a line. */

import { printable } from '../../lib/log.ts';
import type { Face, Fonts } from './fonts.ts';

export type StyledText = string | StyledSpan[];

export interface TextStyle {
  size: number;
  leading: number;
  face: Face;
  color: string;
}

/** Text as it will stand: its lines, from left to right as they are seen. */
export interface LaidOut {
  lines: Piece[][];
  style: TextStyle;
  /** In points. */
  height: number;
}

/** More than any document lets through: whatever comes, laying it out ends. */
const MAX_CHARACTERS = 20_000;

export function layOut(text: StyledText, width: number, style: TextStyle, fonts: Fonts): LaidOut {
  const lines: Piece[][] = [];
  let line: Piece[] = [];
  let used = 0;
  const end = () => {
    while (line.at(-1)?.kind === 'space') line.pop();
    lines.push(inVisualOrder(line));
    line = [];
    used = 0;
  };
  const add = (pieces: Piece[]) => {
    line.push(...pieces);
    used += widthOf(pieces);
  };
  // A space at which a line was broken is not seen; one that begins a line of the text is.
  let broken = false;
  for (const word of wordsOf(text, style, fonts)) {
    if (word === 'end of line') {
      end();
      broken = false;
    } else if (word[0]!.kind === 'space') {
      if (used > 0 || !broken) add(word);
    } else
      for (const part of widthOf(word) > width ? partsOf(word, width, style, fonts) : [word]) {
        broken = used > 0 && used + widthOf(part) > width;
        if (broken) end();
        add(part);
      }
  }
  end();
  return { lines, style, height: lines.length * style.leading };
}

export const widthOf = (pieces: Piece[]): number =>
  pieces.reduce((sum, { width }) => sum + width, 0);

/** Words and the spaces between them; a word may go over from one span into the next. */
function wordsOf(text: StyledText, style: TextStyle, fonts: Fonts): (Piece[] | 'end of line')[] {
  const words: (Piece[] | 'end of line')[] = [];
  let left = MAX_CHARACTERS;
  let open: Piece[] | null = null;
  for (const span of typeof text === 'string' ? [{ text }] : text) {
    const kept = span.text.slice(0, left);
    left -= kept.length;
    for (const raw of kept.split(/(\n| +)/)) {
      // Names in charts are not cleaned before.
      const part = raw === '\n' ? raw : printable(raw);
      if (part === '') continue;
      if (part === '\n') words.push('end of line');
      const pieces =
        part === '\n'
          ? []
          : piecesOf(part, span, (span as StyledSpan).face ?? style.face, style.size, fonts);
      const isWord = pieces.length > 0 && pieces[0]!.kind !== 'space';
      if (isWord && open) open.push(...pieces);
      else if (pieces.length > 0) words.push(pieces);
      open = isWord ? (open ?? pieces) : null;
    }
  }
  return words;
}

/** After these an address or a record is best broken. */
const BREAKS = /[/?&=;:,._@+-]/;

/** A word too long for a line, in parts that fit: ended at a mark in their last third, or anywhere. */
function partsOf(word: Piece[], width: number, style: TextStyle, fonts: Fonts): Piece[][] {
  const parts: Piece[][] = [];
  let part: Piece[] = [];
  let used = 0;
  for (const unit of word.flatMap((piece) => unitsOf(piece, style.size, fonts))) {
    if (part.length > 0 && used + unit.width > width) {
      const at = part.findLastIndex(({ text }) => BREAKS.test(text)) + 1;
      const cut = at > (part.length * 2) / 3 ? at : part.length;
      parts.push(joinedPieces(part.slice(0, cut), isOfOneText, fonts));
      part = part.slice(cut);
      used = widthOf(part);
    }
    part.push(unit);
    used += unit.width;
  }
  return [...parts, joinedPieces(part, isOfOneText, fonts)];
}

const isOfOneText = (a: Piece, b: Piece): boolean => a.span === b.span;

/**
 * Words written from right to left follow each other in that direction. A simple form of UAX #9 for
 * a paragraph from left to right: enough for names and subjects, without its levels.
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

// Text taken apart into pieces that are drawn alike: by font, by direction, and what no font has.

/** A stretch of text with a look of its own; what it does not say, the paragraph says. */
export interface StyledSpan {
  text: string;
  face?: Face;
  color?: string;
  /** What a click opens: an address (http, https), or a place in the document (`#name`). */
  link?: string;
}

type Direction = 'ltr' | 'rtl' | 'neutral';

export interface Piece {
  /** `missing`: one character that no font has, shown as a box. */
  kind: 'text' | 'space' | 'missing';
  text: string;
  face: Face;
  direction: Direction;
  /** In points. */
  width: number;
  span: StyledSpan;
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
function piecesOf(text: string, span: StyledSpan, face: Face, size: number, fonts: Fonts): Piece[] {
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
    if (used === null) runs.push(missing({ text: char, span }, size, fonts));
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
function unitsOf(piece: Piece, size: number, fonts: Fonts): Piece[] {
  if (piece.kind !== 'text') return [piece];
  return (piece.text.match(UNITS) ?? []).map((text) => {
    const width = fonts.width(piece.face, text);
    return width === null
      ? missing({ text, span: piece.span }, size, fonts)
      : { ...piece, text, width: width * size };
  });
}

const missing = (part: Pick<Piece, 'text' | 'span'>, size: number, fonts: Fonts): Piece => ({
  ...part,
  kind: 'missing',
  face: 'sans',
  direction: 'ltr',
  width: fonts.width('sans', BOX)! * size,
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

// A character that no font has: an empty box, and the character itself for whoever copies it.

const BOX = '□';

/**
 * Draws the box with the baseline of the text at `y`. It stands for the character: a copy, a search and
 * a voice find that. pdfkit turns the page round for each text and back; readers place what stands for
 * something else by how the page is turned at its end, so that here that is done around the whole.
 */
export function drawMissing(
  doc: PDFKit.PDFDocument,
  { text, span }: Piece,
  x: number,
  y: number,
  { size, color }: TextStyle,
): void {
  const turned = Object.create(doc) as PDFKit.PDFDocument & {
    _fragment(text: string, x: number, y: number, options: object): void;
  };
  turned.transform = turned.save = turned.restore = () => turned;
  doc
    .font('sans')
    .fontSize(size)
    .fillColor(span.color ?? color);
  doc.save().transform(1, 0, 0, -1, 0, doc.page.height);
  doc.markContent('Span', { actual: text });
  turned._fragment(BOX, x, y, { baseline: 'alphabetic' });
  doc.endMarkedContent();
  doc.restore();
}

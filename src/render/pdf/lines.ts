/** Breaks text into lines of a width: between words, and inside of one that is longer than a line. */

import { printable } from '../../lib/log.ts';
import type { Face, Fonts } from './fonts.ts';
import { joinedPieces, type Piece, piecesOf, type Span, unitsOf } from './pieces.ts';

export type Text = string | Span[];

export interface TextStyle {
  size: number;
  leading: number;
  face: Face;
  color: string;
}

/** Text as it will stand: its lines, from left to right as they are seen. */
export interface Block {
  lines: Piece[][];
  style: TextStyle;
  /** In points. */
  height: number;
}

/** More than any section lets through: whatever comes, laying it out ends. */
const MAX_CHARACTERS = 20_000;

export function layOut(text: Text, width: number, style: TextStyle, fonts: Fonts): Block {
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
function wordsOf(text: Text, style: TextStyle, fonts: Fonts): (Piece[] | 'end of line')[] {
  const words: (Piece[] | 'end of line')[] = [];
  let left = MAX_CHARACTERS;
  let open: Piece[] | null = null;
  for (const span of typeof text === 'string' ? [{ text }] : text) {
    const kept = span.text.slice(0, left);
    left -= kept.length;
    for (const raw of kept.split(/(\n| +)/)) {
      // Whatever a section has forgotten to look at, nothing unseen gets through.
      const part = raw === '\n' ? raw : printable(raw);
      if (part === '') continue;
      if (part === '\n') words.push('end of line');
      const pieces =
        part === '\n'
          ? []
          : piecesOf(part, span, (span as Span).face ?? style.face, style.size, fonts);
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

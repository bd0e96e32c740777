/** Breaks text into lines of a given width, between words and within words longer than a line. */

import type { Fonts } from './fonts.ts';
import { joinedPieces, type Piece, type StyledText, type TextStyle, unitsOf } from './pieces.ts';
import { inVisualOrder } from './visual-order.ts';
import { wordsOf } from './words.ts';

export type { StyledText, TextStyle } from './pieces.ts';

/** Laid-out text: lines of pieces in visual order, from left to right. */
export interface LaidOut {
  lines: Piece[][];
  style: TextStyle;
  /** In points. */
  height: number;
}

export function layOut(text: StyledText, width: number, style: TextStyle, fonts: Fonts): LaidOut {
  const lines: Piece[][] = [];
  let line: Piece[] = [];
  let usedWidth = 0;
  const endLine = () => {
    while (line.at(-1)?.kind === 'space') line.pop();
    lines.push(inVisualOrder(line, style.size, fonts));
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

/** Characters after which a URL, a record or a marker may break. */
const BREAK_CHARACTERS = /[ /?&=;:,._@+-]/;

/** Splits a word that is too long into parts that fit, after a break character in the last third, or anywhere. */
function splitLongWord(word: Piece[], width: number, style: TextStyle, fonts: Fonts): Piece[][] {
  const parts: Piece[][] = [];
  let part: Piece[] = [];
  let usedWidth = 0;
  for (const unit of word.flatMap((piece) => unitsOf(piece, style.size, fonts))) {
    if (part.length > 0 && usedWidth + unit.width > width) {
      const breakIndex =
        part.findLastIndex(({ text, marker = text }) => BREAK_CHARACTERS.test(marker)) + 1;
      const cut = breakIndex > (part.length * 2) / 3 ? breakIndex : part.length;
      parts.push(joinedPieces(part.slice(0, cut), isAlike, style.size, fonts));
      part = part.slice(cut);
      usedWidth = widthOf(part);
    }
    part.push(unit);
    usedWidth += unit.width;
  }
  return [...parts, joinedPieces(part, isAlike, style.size, fonts)];
}

/** Text of two directions in one piece would be drawn in the direction of its first letter. */
const isAlike = (a: Piece, b: Piece): boolean => a.span === b.span && a.direction === b.direction;

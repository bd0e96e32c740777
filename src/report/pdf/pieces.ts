/** Splits text into pieces of one font and direction, and into text that no font has. */

import { type Face, type FontName, type Fonts, INVISIBLE } from './fonts.ts';

/** Text with its own style. Omitted properties come from the paragraph. */
export interface StyledSpan {
  text: string;
  face?: Face;
  color?: string;
  /** Link target: a URL (http, https) or a destination in the document (`#name`). */
  link?: string;
}

export type StyledText = string | StyledSpan[];

export interface TextStyle {
  size: number;
  leading: number;
  face: Face;
  color: string;
}

/** A number stands within right-to-left text, but is read from the left. */
type Direction = 'ltr' | 'rtl' | 'number' | 'neutral';

export interface Piece {
  /** `missing`: text that no font has, drawn as a marker. */
  kind: 'text' | 'space' | 'missing';
  text: string;
  /** What is drawn instead of the text: for `missing`, or the part of it that fits on the line; a mirrored bracket. */
  marker?: string;
  font: FontName;
  /** For a font that has no bold face. */
  isEmboldened?: boolean;
  direction: Direction;
  /** In points. */
  width: number;
  span: StyledSpan;
}

/** Every face has glyphs for all printable ASCII characters. */
const ASCII = /^[\x20-\x7e]*$/;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const DIGIT = /\p{Nd}/u;
const LEFT_TO_RIGHT = /[\p{L}\p{N}]/u;
const MARK = /^\p{M}/u;
const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Letters with their marks, emoji with their modifiers: what a reader sees as one character. */
export const charactersOf = (text: string): string[] =>
  ASCII.test(text) ? [...text] : [...CHARACTERS.segment(text)].map(({ segment }) => segment);

/** The style that all pieces of a text share. */
export interface PieceStyle {
  face: Face;
  /** In points. */
  size: number;
  /** The font for characters that several fonts have. */
  preferred: FontName | null;
}

/** The pieces of one word or of the space between two words. */
export function piecesOf(
  text: string,
  span: StyledSpan,
  { face, size, preferred }: PieceStyle,
  fonts: Fonts,
): Piece[] {
  if (ASCII.test(text)) {
    const kind = text.trim() === '' ? 'space' : 'text';
    const width = fonts.width(face, text)! * size;
    return [{ kind, text, font: face, direction: directionOf(text), width, span }];
  }
  const runs: Piece[] = [];
  const add = (char: string, font: FontName) => {
    const direction = directionOf(char);
    const last = runs.at(-1);
    if (last?.kind === 'text' && last.font === font && joinsRun(last.direction, direction, char)) {
      last.text += char;
      if (direction === 'ltr') last.direction = direction;
    } else {
      const isEmboldened = face === 'bold' && font !== 'bold' && font !== 'sans';
      runs.push({ kind: 'text', text: char, font, isEmboldened, direction, width: 0, span });
    }
  };
  const addMissing = (char: string) => {
    const last = runs.at(-1);
    const marker = markerFor(char, last);
    if (last?.marker === marker) last.text += char;
    else runs.push(missingPiece(char, marker, span, size, fonts));
  };
  for (const character of charactersOf(text)) {
    const font = fonts.fontFor(character, face, preferred);
    if (font !== null) {
      const drawn = [...character].filter((char) => isDrawn(char, font, fonts)).join('');
      add(drawn, font);
      continue;
    }
    for (const char of character) {
      const charFont = fonts.fontFor(char, face, preferred);
      if (charFont !== null) add(char, charFont);
      else if (!INVISIBLE.test(char)) addMissing(char);
    }
  }
  return runs.flatMap((run) => (run.kind === 'text' ? withWidth(run, size, fonts) : [run]));
}

const isDrawn = (char: string, font: FontName, fonts: Fonts): boolean =>
  !INVISIBLE.test(char) || fonts.has(font, char.codePointAt(0)!);

/** Adds the width to a piece. Text that cannot be drawn as a whole is split into characters. */
function withWidth(piece: Piece, size: number, fonts: Fonts): Piece[] {
  const width = fonts.width(piece.font, piece.text);
  return width === null ? unitsOf(piece, size, fonts) : [{ ...piece, width: width * size }];
}

/** The smallest parts between which a line can break. */
export function unitsOf(piece: Piece, size: number, fonts: Fonts): Piece[] {
  if (piece.kind === 'missing') return markerUnits(piece, size, fonts);
  if (piece.kind !== 'text') return [piece];
  return charactersOf(piece.text).map((text) => {
    const width = fonts.width(piece.font, text);
    return width === null
      ? missingPiece(text, markerFor(text), piece.span, size, fonts)
      : { ...piece, text, width: width * size };
  });
}

// Text that no font has: a marker says what it is. It is copied, searched and read aloud as the text itself.

/** Scripts that people write today, as Unicode names them, and that bundled fonts lack, at least in part. */
const SCRIPTS = [
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Tibetan',
  'Myanmar',
  'Khmer',
  'Lao',
  'Ethiopic',
  'Cherokee',
  'Mongolian',
  'Syriac',
  'Thaana',
  'Javanese',
  'Balinese',
  'Sundanese',
  'Cham',
  'Ol_Chiki',
  'Meetei_Mayek',
  'Vai',
  'Adlam',
  'Tai_Le',
  'New_Tai_Lue',
  'Lepcha',
  'Limbu',
  'Yi',
  'Hanifi_Rohingya',
  'Han',
  'Hangul',
  'Arabic',
  'Hebrew',
  'Thai',
  'Devanagari',
  'Latin',
  'Greek',
  'Cyrillic',
].map((name) => ({
  name: name.replaceAll('_', ' '),
  pattern: new RegExp(`\\p{Script=${name}}`, 'u'),
}));

/** Unassigned, for private use, or half of a surrogate pair. */
const UNKNOWN = /^[\p{Cn}\p{Co}\p{Cs}]/u;
const LETTER = /^[\p{L}\p{N}]/u;

/** A mark belongs to the text before it, so it has the same marker. */
function markerFor(text: string, previous?: Piece): string {
  if (MARK.test(text) && previous?.kind === 'missing') return previous.marker!;
  return `[${missingName(text)}]`;
}

function missingName(text: string): string {
  if (UNKNOWN.test(text)) return 'unknown character';
  const script = SCRIPTS.find(({ pattern }) => pattern.test(text));
  if (script) return `${script.name} text: no font`;
  return LETTER.test(text) ? 'text: no font' : 'symbol: no font';
}

const missingPiece = (
  text: string,
  marker: string,
  span: StyledSpan,
  size: number,
  fonts: Fonts,
): Piece => ({
  kind: 'missing',
  text,
  marker,
  span,
  font: 'sans',
  direction: 'ltr',
  width: fonts.width('sans', marker)! * size,
});

/** The first character of the marker keeps the text. */
const markerUnits = (piece: Piece, size: number, fonts: Fonts): Piece[] =>
  [...piece.marker!].map((marker, index) => ({
    ...piece,
    marker,
    text: index === 0 ? piece.text : '',
    width: fonts.width('sans', marker)! * size,
  }));

/** A combining mark belongs to the letter before it; neutral characters stay with left-to-right text and numbers. */
function joinsRun(run: Direction, direction: Direction, char: string): boolean {
  if (run === direction || MARK.test(char)) return true;
  return direction !== 'rtl' && (run === 'ltr' || run === 'number');
}

function directionOf(text: string): Direction {
  if (RIGHT_TO_LEFT.test(text)) return 'rtl';
  if (!LEFT_TO_RIGHT.test(text)) return 'neutral';
  return DIGIT.test(text) && !/\p{L}/u.test(text) ? 'number' : 'ltr';
}

/**
 * Joins neighboring pieces of one font for which `alike` holds, unless the joined text cannot be drawn. Parts of one
 * marker are joined too.
 */
export function joinedPieces(
  pieces: Piece[],
  alike: (a: Piece, b: Piece) => boolean,
  size: number,
  fonts: Fonts,
): Piece[] {
  const groups: Piece[][] = [];
  for (const piece of pieces) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (last && canJoin(last, piece) && alike(last, piece)) group!.push(piece);
    else groups.push([piece]);
  }
  return groups.flatMap((group) => {
    if (group.length === 1) return group;
    const first = group[0]!;
    const text = group.map((piece) => piece.text).join('');
    if (first.kind === 'missing') {
      const width = group.reduce((sum, piece) => sum + piece.width, 0);
      return [{ ...first, text, marker: group.map(({ marker }) => marker).join(''), width }];
    }
    // Not the sum: Arabic letters are narrower beside others.
    const width = fonts.width(first.font, text);
    return width === null ? group : [{ ...first, kind: 'text', text, width: width * size }];
  });
}

function canJoin(last: Piece, piece: Piece): boolean {
  if (last.kind === 'missing' || piece.kind === 'missing')
    return last.kind === piece.kind && piece.text === '';
  if (last.marker !== undefined || piece.marker !== undefined) return false;
  return last.font === piece.font && !last.isEmboldened === !piece.isEmboldened;
}

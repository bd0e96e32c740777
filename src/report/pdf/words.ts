/** Splits text into words: the parts between which a line can break. */

import { printable } from '../../lib/log.ts';
import { type Fonts, fontForHan } from './fonts.ts';
import {
  type Piece,
  piecesOf,
  type StyledSpan,
  type StyledText,
  type TextStyle,
} from './pieces.ts';

/** Far more than any real text contains. Bounds the work for hostile input. */
const MAX_CHARACTERS = 20_000;

/** Words and the spaces between them. A word may extend over several spans. */
export function wordsOf(
  text: StyledText,
  style: TextStyle,
  fonts: Fonts,
): (Piece[] | 'end of line')[] {
  const spans: StyledSpan[] = typeof text === 'string' ? [{ text }] : text;
  const preferred = fontForHan(spans.map((span) => span.text.slice(0, MAX_CHARACTERS)).join(''));
  const words: (Piece[] | 'end of line')[] = [];
  let remaining = MAX_CHARACTERS;
  let openWord: Piece[] | null = null;
  for (const span of spans) {
    const spanText = span.text.slice(0, remaining);
    remaining -= spanText.length;
    const pieceStyle = { face: span.face ?? style.face, size: style.size, preferred };
    for (const raw of composed(spanText).split(/(\n| +)/)) {
      if (raw === '') continue;
      if (raw === '\n') {
        words.push('end of line');
        openWord = null;
        continue;
      }
      // Names in charts may contain control characters.
      partsOf(printable(raw)).forEach((part, index) => {
        const pieces = piecesOf(part, span, pieceStyle, fonts);
        if (pieces.length === 0) return;
        const isWord = pieces[0]!.kind !== 'space';
        if (isWord && continuesMissing(words, pieces)) openWord = words.at(-1) as Piece[];
        else if (isWord && openWord && index === 0) openWord.push(...pieces);
        else {
          words.push(pieces);
          openWord = isWord ? pieces : null;
        }
      });
    }
  }
  return words;
}

/** Composes Korean syllables, which macOS splits in names of files: fonts have whole syllables. */
const composed = (text: string): string =>
  /[\u1100-\u11ff]/.test(text) ? text.normalize('NFC') : text;

/**
 * Two words of a script without a font have one marker. Extends the marker at the end of `words`, and returns whether
 * it did.
 */
function continuesMissing(words: (Piece[] | 'end of line')[], pieces: Piece[]): boolean {
  const isAfterSpace = (words.at(-1) as Piece[] | undefined)?.[0]?.kind === 'space';
  const before = words.at(isAfterSpace ? -2 : -1);
  if (!Array.isArray(before)) return false;
  const last = before.at(-1)!;
  const [piece, ...rest] = pieces as [Piece, ...Piece[]];
  if (piece.kind !== 'missing' || last.marker !== piece.marker || last.span !== piece.span)
    return false;
  const space = isAfterSpace ? (words.pop() as Piece[])[0]!.text : '';
  last.text += space + piece.text;
  before.push(...rest);
  return true;
}

/** With their punctuation and full-width forms. */
const NO_SPACES =
  /[\u3000-\u303f\uff00-\uff60\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** A line cannot begin or end with these. */
const NOT_FIRST = /^[\p{Pe}\p{Pf}\p{Po}\p{M}\u30fc\u3005]/u;
const NOT_LAST = /[\p{Ps}\p{Pi}]$/u;
/** Created when a text needs it, because it reads dictionaries. */
let segmenter: Intl.Segmenter | undefined;

/** Chinese, Japanese and Thai have no spaces: lines break between words that dictionaries know. */
function partsOf(text: string): string[] {
  if (!NO_SPACES.test(text)) return [text];
  const parts: string[] = [];
  let previous = '';
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  for (const { segment } of segmenter.segment(text)) {
    const canBreak =
      (NO_SPACES.test(previous) || NO_SPACES.test(segment)) &&
      !NOT_FIRST.test(segment) &&
      !NOT_LAST.test(previous);
    if (parts.length > 0 && !canBreak) parts.push(parts.pop() + segment);
    else parts.push(segment);
    previous = segment;
  }
  return parts;
}

/** Text functions for checks and previews: collects text, detects visible characters, compares words in any language. */

export interface TextSink {
  add(piece: string): void;
  /** Inserts a space before the next piece, as at the edge of a block element. */
  space(): void;
  /** The text so far, trimmed. */
  value(): string;
}

/** Joins pieces of text and collapses white space, up to `max` characters. */
export function textSink(max: number): TextSink {
  const pieces: string[] = [];
  let length = 0;
  // Whether the next word must be preceded by a space.
  let needsSpace = false;
  const add = (piece: string) => {
    if (length >= max) return;
    const text = collapseSpace(piece);
    if (text.startsWith(' ')) needsSpace = true;
    const trimmed = text.trim();
    if (trimmed === '') return;
    const clipped = `${needsSpace && length > 0 ? ' ' : ''}${trimmed}`.slice(0, max - length);
    pieces.push(clipped);
    length += clipped.length;
    needsSpace = text.endsWith(' ');
  };
  return {
    add,
    space() {
      needsSpace = true;
    },
    value: () => pieces.join(''),
  };
}

// Runs other than a single space, so that most texts are not copied.
const WHITE_SPACE = / \s+|[^\S ]\s*/g;

/** The text with one space for each run of white space. */
export const collapseSpace = (text: string): string => text.replace(WHITE_SPACE, ' ');

/** Control characters except tab and line feed, and those that override the direction of text. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Well-formed text with a space for each character that controls the layout beyond its own line. */
export const withoutControls = (text: string): string => text.toWellFormed().replace(CONTROLS, ' ');

const ASCII = /^[\0-\x7f]*$/;

/** Most texts are ASCII, for which simpler and faster patterns find the same. */
export const isAscii = (text: string): boolean => ASCII.test(text);

/** The sentence or clause as the beginning of a sentence. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A sentence as the end of another. It must not begin with a name. */
export const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

// Neither white space nor one of the invisible characters used as filler.
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}]/u;

/** Whether the text has any visible character. */
export const hasVisibleText = (text: string): boolean => VISIBLE.test(text);

const INVISIBLE_RUN = /[\s\p{Default_Ignorable_Code_Point}]{2,}/gu;
/** Parts of emoji sequences: variation selector, joiner, flag tags. */
const EMOJI_PART = /^\ufe0f?(?:\u200d$|[\u{e0020}-\u{e007f}]*)/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * Removes invisible filler characters and collapses white space. `longest` is the length of the longest
 * run of filler. A single invisible character, as in Persian words and emoji, stays.
 */
export function stripFiller(text: string): { text: string; longest: number } {
  let longest = 0;
  const withoutFiller = text.replace(INVISIBLE_RUN, (run) => {
    const emoji = EMOJI_PART.exec(run)?.[0] ?? '';
    const filler = run.slice(emoji.length);
    const [first = ''] = filler.trim();
    // White space alone, or a single character surrounded by white space, is not filler.
    if (filler.trim() === first && !(INVISIBLE.test(first) && /\s/.test(filler)))
      return emoji + filler;
    longest = Math.max(longest, run.length);
    return `${emoji} `;
  });
  return { text: collapseSpace(withoutFiller).trim(), longest };
}

// The words of a text, in any language.

// Scripts without spaces between words. Pairs of characters serve as words there.
const SPACELESS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー々]+/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
// The text and HTML parts of a message have different URLs, so these are not words.
const ADDRESS = /(?:https?:\/\/|www\.)\S{1,2000}/giu;
const ASCII_ADDRESS = /(?:https?:\/\/|www\.)\S{1,2000}/g;

// Most texts are ASCII, where the Unicode patterns find the same, but take several times as long.
const ASCII_WORD = /[A-Za-z0-9]+/g;

/** NFKC can expand one character to 18. */
const MAX_TEXT = 300_000;

/**
 * Adds the distinct words of the first 300,000 characters to `words`, normalized (NFKC) and in lower case.
 * In scripts without spaces, pairs of characters.
 */
export function distinctWords(text: string, words = new Set<string>()): Set<string> {
  if (isAscii(text)) return distinctAsciiWords(text, words);
  const normalized = text
    .slice(0, MAX_TEXT)
    .normalize('NFKC')
    .slice(0, MAX_TEXT)
    .toLowerCase()
    .replace(ADDRESS, ' ');
  for (const [run] of normalized.matchAll(SPACELESS)) {
    const characters = [...run];
    if (characters.length === 1) words.add(run);
    for (let i = 1; i < characters.length; i += 1)
      words.add(`${characters[i - 1]}${characters[i]}`);
  }
  for (const [word] of normalized.replace(SPACELESS, ' ').matchAll(WORD))
    words.add(word.slice(0, 100));
  return words;
}

function distinctAsciiWords(text: string, words: Set<string>): Set<string> {
  const searched = text.slice(0, MAX_TEXT).toLowerCase().replace(ASCII_ADDRESS, ' ');
  for (const word of searched.match(ASCII_WORD) ?? []) words.add(word.slice(0, 100));
  return words;
}

/** Counts words; in scripts without spaces, two characters count as one word. */
export function countWords(text: string): number {
  let count = 0;
  if (isAscii(text)) {
    while (ASCII_WORD.test(text)) count += 1;
    return count;
  }
  for (const [run] of text.matchAll(SPACELESS)) count += Math.ceil([...run].length / 2);
  for (const _ of text.replace(SPACELESS, ' ').matchAll(WORD)) count += 1;
  return count;
}

// Normalized words, to search for word stems in any language.

// Ligatures for whole phrases, which NFKD expands to many characters.
const PHRASE_LIGATURES = /[\ufdfa\ufdfb]/g;

/**
 * The first `max` characters in lower case, without accents and invisible characters. Every symbol,
 * every boundary within "camelCase" and both ends become one space. Letters written `a p a r t` are
 * joined.
 */
export function plainWords(text: string, max: number): string {
  if (isAscii(text)) return plainAsciiWords(text.slice(0, max));
  const clipped = text.slice(0, max).replace(PHRASE_LIGATURES, ' ');
  // A Korean syllable decomposes into at most three letters. Text that expands further is not a word.
  const words = ` ${clipped.normalize('NFKD').slice(0, 3 * clipped.length)} `
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} ][^\p{L}\p{N}]*| [^\p{L}\p{N}]+/gu, ' ');
  return / \p{L} \p{L} /u.test(words) ? words.replace(/(?<= \p{L}) (?=\p{L} )/gu, '') : words;
}

/** The patterns skip a single space, which is most of what is not a word. */
function plainAsciiWords(text: string): string {
  const words = ` ${text} `
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z0-9 ][^a-z0-9]*| [^a-z0-9]+/g, ' ');
  return / [a-z] [a-z] /.test(words) ? words.replace(/(?<= [a-z]) (?=[a-z] )/g, '') : words;
}

/** Text put together from pieces, white space collapsed, up to a limit. */

export interface TextSink {
  add(piece: string): void;
  /** Keeps what comes next apart from what came before, as the border of a block does. */
  space(): void;
  /** Without white space at its ends. */
  value(): string;
}

/** Holds at most `max` characters. */
export function textSink(max: number): TextSink {
  const pieces: string[] = [];
  let length = 0;
  // What has not been written yet: at the start and after a space, another one adds nothing.
  let pending = false;
  const add = (piece: string) => {
    if (length >= max) return;
    const text = piece.replace(/\s+/g, ' ');
    if (text.startsWith(' ')) pending = true;
    const inner = text.trim();
    if (inner === '') return;
    const kept = `${pending && length > 0 ? ' ' : ''}${inner}`.slice(0, max - length);
    pieces.push(kept);
    length += kept.length;
    pending = text.endsWith(' ');
  };
  return {
    add,
    space() {
      pending = true;
    },
    value: () => pieces.join(''),
  };
}

// Neither white space nor one of the invisible characters that fill a text without saying anything.
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}]/u;

/** Whether there is anything to see in it. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);

const INVISIBLE_RUN = /[\s\p{Default_Ignorable_Code_Point}]{2,}/gu;
/** What emoji are put together with: the form of what is before, what joins it to the next, flags. */
const OF_EMOJI = /^\ufe0f?(?:\u200d$|[\u{e0020}-\u{e007f}]*)/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * The text without the invisible characters that fill it up, white space collapsed, and how long the
 * longest run of them was. One alone, as in Persian words and in emoji, belongs to the text.
 */
export function withoutFiller(text: string): { text: string; longest: number } {
  let longest = 0;
  const rest = text.replace(INVISIBLE_RUN, (run) => {
    const emoji = OF_EMOJI.exec(run)?.[0] ?? '';
    const filler = run.slice(emoji.length);
    const [first = ''] = filler.trim();
    // White space alone, or a single sign and white space around it: nothing to fill with.
    if (filler.trim() === first && !(INVISIBLE.test(first) && /\s/.test(filler)))
      return emoji + filler;
    longest = Math.max(longest, run.length);
    return `${emoji} `;
  });
  return { text: rest.replace(/\s+/g, ' ').trim(), longest };
}

// The words of a text, for texts in all languages.

// Scripts that put no space between words: what is between two spaces says little, pairs of
// characters say more.
const SPACELESS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー々]+/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
// Addresses differ between the two parts of a message: they are no words of its text.
const ADDRESS = /(?:https?:\/\/|www\.)\S{1,2000}/giu;

/** One character may become 18 by NFKC. */
const MAX_TEXT = 300_000;

/** The distinct words of the first 300,000 characters, without regard to case and form (NFKC); pairs of characters where there are no spaces. */
export function distinctWords(text: string): Set<string> {
  const found = new Set<string>();
  const plain = text
    .slice(0, MAX_TEXT)
    .normalize('NFKC')
    .slice(0, MAX_TEXT)
    .toLowerCase()
    .replace(ADDRESS, ' ');
  for (const [run] of plain.matchAll(SPACELESS)) {
    const signs = [...run];
    if (signs.length === 1) found.add(run);
    for (let i = 1; i < signs.length; i += 1) found.add(`${signs[i - 1]}${signs[i]}`);
  }
  for (const [word] of plain.replace(SPACELESS, ' ').matchAll(WORD)) found.add(word.slice(0, 100));
  return found;
}

/** How many words; where there are no spaces, two characters are taken for one. */
export function countWords(text: string): number {
  let count = 0;
  for (const [run] of text.matchAll(SPACELESS)) count += Math.ceil([...run].length / 2);
  for (const _ of text.replace(SPACELESS, ' ').matchAll(WORD)) count += 1;
  return count;
}

// Texts as plain words, so that stems can be looked for in them, whatever the language.

// Compatibility forms of whole phrases: each would grow to many characters.
const PHRASES_IN_ONE = /[\ufdfa\ufdfb]/g;

/**
 * Lower case without accents and invisible characters; every sign, and every border within
 * `camelCase`, becomes one space, and so do both ends. Letters that are written `a p a r t` are put
 * together. Of the first `max` characters.
 */
export function plainWords(text: string, max: number): string {
  const start = text.slice(0, max).replace(PHRASES_IN_ONE, ' ');
  // Korean syllables are three letters each; what grows more is no word.
  return ` ${start.normalize('NFKD').slice(0, 3 * start.length)} `
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(?<= \p{L}) (?=\p{L} )/gu, '');
}

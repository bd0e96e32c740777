/** The words of a text, for texts in all languages. */

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

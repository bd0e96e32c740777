/** Texts as plain words, so that stems can be looked for in them, whatever the language. */

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

/** Texts as plain words, so that stems can be looked for in them, whatever the language. */

// Compatibility forms of whole phrases: each would grow to many characters.
const PHRASES_IN_ONE = /[\ufdfa\ufdfb]/g;

/**
 * Lower case without accents and invisible characters; every sign, and every border within
 * `camelCase`, becomes one space, and so do both ends. Letters that are written `a p a r t` are put
 * together. At most about `max` characters long.
 */
export function plainWords(text: string, max: number): string {
  const whole = text.slice(0, max).replace(PHRASES_IN_ONE, ' ').normalize('NFKD');
  // Korean syllables are three letters each.
  return ` ${whole.slice(0, 3 * max)} `
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(?<= \p{L}) (?=\p{L} )/gu, '');
}

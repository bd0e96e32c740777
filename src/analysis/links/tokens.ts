/** Long random values in addresses: what stands for a person, a session or a secret. */

/** Shorter values guard nothing. */
const SHORTEST = 20;
/** Of a value that long, this much must look random: a title may hold a year or a product's number. */
const SHORTEST_RANDOM = 16;

const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/i;
const RUN = /[\p{L}\p{N}_~.%=+-]{20,}/gu;

/** Whether a label of its host, a path segment or a query value of the address is a long token. */
export function hasToken(url: URL): boolean {
  // A name in another script looks random in its coded form.
  const labels = url.hostname.split('.').filter((label) => !label.startsWith('xn--'));
  const path = url.pathname.split('/').map(decoded);
  const values = [...labels, ...path, ...url.searchParams.values()];
  // What has no `=` is a name to the parser, and may be a token all the same.
  return [...values, ...url.searchParams.keys()].some(looksRandom);
}

/** The address with its tokens cut to their first characters. */
export function hideTokens(href: string): string {
  return href.replace(RUN, (run) =>
    run
      .split(/([=.])/)
      .map((part) => (looksRandom(part) ? `${part.slice(0, 4)}…` : part))
      .join(''),
  );
}

/** At least 20 characters, of which 16 belong to no word, number or date. */
export function looksRandom(value: string): boolean {
  if (value.length < SHORTEST) return false;
  const start = value.slice(0, 4096);
  if (UUID.test(start)) return true;
  let odd = 0;
  for (const piece of start.split(/[^\p{L}\p{N}]+/u)) if (!isPlain(piece)) odd += piece.length;
  return odd >= SHORTEST_RANDOM;
}

const NUMBER = /^\d{1,14}$/;
const WORD = /^(?:\p{Lu}?\p{Ll}{0,24}|\p{Lu}{1,12}|[\p{Lo}\p{Lm}\p{M}]+)$/u;
const WORD_AND_NUMBER =
  /^(?:\d{1,6}(?:\p{Ll}{1,12}|\p{Lu}{1,6})|(?:\p{Lu}?\p{Ll}{1,12}|\p{Lu}{1,6})\d{1,6})$/u;

function isPlain(piece: string): boolean {
  if (piece === '' || NUMBER.test(piece) || WORD_AND_NUMBER.test(piece)) return true;
  // `SummerSale` is two words; `aBcDeFgH` is none.
  const words = piece.split(/(?<=\p{Ll})(?=\p{Lu})/u);
  return words.every((word) => WORD.test(word)) && piece.length >= (words.length - 1) * 4;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Long random values in URLs, which may identify a person or a session, or be a secret. */

import { percentDecoded } from './percent-encoding.ts';

/** Shorter values are too weak to protect anything. */
const MIN_LENGTH = 20;
/** Characters that must look random: a title may contain a year or a product number. */
const MIN_RANDOM_LENGTH = 16;

const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/i;
const RUN = new RegExp(`[\\p{L}\\p{N}_~.%=+-]{${MIN_LENGTH},}`, 'gu');
/** ASCII text without a match has no token: each is between the dots and equals signs of a run. */
const LONG_PART = new RegExp(`[\\w~%+-]{${MIN_LENGTH}}|[^\\0-\\x7f]`);

/** Labels, path segments, query names and values of at least `MIN_LENGTH`. Decoding makes none of them longer. */
const LONG_LABEL = new RegExp(`[^.]{${MIN_LENGTH}}`);
const LONG_SEGMENT = new RegExp(`[^/]{${MIN_LENGTH}}`);
const LONG_IN_QUERY = new RegExp(`[?&][^&=]{${MIN_LENGTH}}|=[^&]{${MIN_LENGTH}}`);

/** Whether a label of the host, a path segment or a query value is a long token. */
export function hasToken(url: URL): boolean {
  const isShort =
    !LONG_LABEL.test(url.hostname) &&
    !LONG_SEGMENT.test(url.pathname) &&
    !LONG_IN_QUERY.test(url.search);
  if (isShort) return false;
  // An internationalized label looks random in Punycode.
  const labels = url.hostname.split('.').filter((label) => !label.startsWith('xn--'));
  const path = url.pathname.split('/').map(percentDecoded);
  const values = [...labels, ...path, ...url.searchParams.values()];
  // Without `=`, the parser takes a value for a name.
  return [...values, ...url.searchParams.keys()].some(looksRandom);
}

/** The URL with its tokens cut to their first characters. */
export function maskTokens(href: string): string {
  if (!LONG_PART.test(href)) return href;
  return href.replace(RUN, (run) =>
    run
      .split(/([=.])/)
      .map((part) => (looksRandom(part) ? `${part.slice(0, 4)}…` : part))
      .join(''),
  );
}

/** Whether at least 20 characters include 16 that belong to no word, number or date. */
export function looksRandom(value: string): boolean {
  if (value.length < MIN_LENGTH) return false;
  const start = value.slice(0, 4096);
  if (UUID.test(start)) return true;
  let randomLength = 0;
  for (const piece of start.split(/[^\p{L}\p{N}]+/u))
    if (!isOrdinary(piece)) randomLength += piece.length;
  return randomLength >= MIN_RANDOM_LENGTH;
}

const NUMBER = /^\d{1,14}$/;
const WORD = /^(?:\p{Lu}?\p{Ll}{0,24}|\p{Lu}{1,12}|[\p{Lo}\p{Lm}\p{M}]+)$/u;
const WORD_AND_NUMBER =
  /^(?:\d{1,6}(?:\p{Ll}{1,12}|\p{Lu}{1,6})|(?:\p{Lu}?\p{Ll}{1,12}|\p{Lu}{1,6})\d{1,6})$/u;

function isOrdinary(piece: string): boolean {
  if (piece === '' || NUMBER.test(piece) || WORD_AND_NUMBER.test(piece)) return true;
  // "SummerSale" is two words, but "aBcDeFgH" is not a word.
  const words = piece.split(/(?<=\p{Ll})(?=\p{Lu})/u);
  return words.every((word) => WORD.test(word)) && piece.length >= (words.length - 1) * 4;
}

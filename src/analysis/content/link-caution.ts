/** Which links are never asked, because opening them may do something; and why. */

import type { Context } from '../check.ts';
import { fields } from '../message.ts';
import { htmlFacts } from './html-facts.ts';
import { CAUTION_WORDS, type CautionWords, EMPTY_PHRASES } from './link-caution-words.ts';
import { hasToken } from './link-tokens.ts';
import { type MessageLink, messageLinks } from './links.ts';

/** Longer than honest addresses are; what is beyond would go unread. */
const LONGEST_URL = 2000;
/** As much of a message as is read for whether it speaks of unsubscribing, in characters. */
const MAX_TEXT = 200_000;
const MAX_SAID = 500;

export interface Caution {
  /** Why the address is not asked, as the end of "was not asked: "; null where it may be. */
  ofUrl(url: URL): string | null;
  /** Likewise of a link, by what is said about it too. */
  ofLink(link: MessageLink): string | null;
}

const PATTERNS = CAUTION_WORDS.map(patternOf);
const SAYS_NOTHING = new Set(EMPTY_PHRASES.map(plain));

export function linkCaution(context: Context): Caution {
  const unsubscribing = listUnsubscribeUrls(context);
  const around = wordsAround(context);
  const html = context.fact(htmlFacts)?.text.slice(0, MAX_TEXT) ?? '';
  const speaksOfUnsubscribing = purposeOf(html, PATTERNS.slice(0, 1)) !== null;
  const ofUrl = (url: URL): string | null => {
    if (url.href.length > LONGEST_URL) return 'its address is very long';
    if (unsubscribing.some((other) => isSamePlace(url, other)))
      return 'it is in the List-Unsubscribe header';
    const purpose = purposeOf(decoded(url.href));
    if (purpose) return `it looks like a link to ${purpose}`;
    return hasToken(url) ? 'it has a long token in it, which may stand for its reader' : null;
  };
  const ofLink = (link: MessageLink): string | null => {
    const said = link.text ?? around.get(link) ?? '';
    const purpose = purposeOf(said.slice(0, MAX_SAID));
    if (purpose) return `it looks like a link to ${purpose}`;
    if (link.text !== null && speaksOfUnsubscribing && SAYS_NOTHING.has(plain(said)))
      return 'its text does not say what it does, and the message speaks of unsubscribing';
    return link.url ? ofUrl(link.url) : null;
  };
  return { ofUrl, ofLink };
}

/** What a text says that a link is for; null where it says nothing of the kind. */
function purposeOf(text: string, among = PATTERNS): string | null {
  const searched = plain(text);
  return (
    among.find(({ pieces }) => pieces.some((piece) => searched.includes(piece)))?.purpose ?? null
  );
}

interface Pattern {
  purpose: string;
  /** Any of these in a plain text, in which every word stands between spaces. */
  pieces: string[];
}

function patternOf({ purpose, anywhere, atStart, whole }: CautionWords): Pattern {
  const bare = (words: string[]) => words.map((word) => plain(word).trim());
  const joined = bare(atStart).map((word) => word.replaceAll(' ', ''));
  const starts = new Set([...bare(atStart), ...joined]);
  return {
    purpose,
    pieces: [
      ...bare(anywhere),
      ...[...starts].map((word) => ` ${word}`),
      ...bare(whole).map((word) => ` ${word} `),
    ],
  };
}

/**
 * Lower case without accents; every sign, and every border within `camelCase`, becomes one space,
 * and so do both ends.
 */
function plain(text: string): string {
  return ` ${text} `
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ');
}

/** Percent-encoding taken off twice: an address may hold another. */
function decoded(text: string): string {
  return decodedOnce(decodedOnce(text));
}

// What is no UTF-8 costs no more than its own characters.
function decodedOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

function listUnsubscribeUrls(context: Context): URL[] {
  return fields(context.message, 'list-unsubscribe')
    .slice(0, 10)
    .flatMap(({ value }) => value.slice(0, 10_000).match(/<[^<>]*>/g) ?? [])
    .map((uri) => URL.parse(uri.slice(1, -1).replace(/\s/g, '')))
    .filter((url) => url?.protocol === 'https:' || url?.protocol === 'http:') as URL[];
}

/** The same page whatever its parameters; the very address where the page is the root. */
function isSamePlace(url: URL, other: URL): boolean {
  if (url.host !== other.host || url.pathname !== other.pathname) return false;
  return url.pathname !== '/' || url.search === other.search;
}

/** What stands around each address of the text part: its own line, and the one before where it begins it. */
function wordsAround(context: Context): Map<MessageLink, string> {
  const text = context.message.text ?? '';
  const around = new Map<MessageLink, string>();
  let from = 0;
  for (const link of context.fact(messageLinks)) {
    if (link.source !== 'text') continue;
    const at = text.indexOf(link.href, from);
    if (at < 0) continue;
    const lines = text.slice(Math.max(0, at - 300), at).split(/[\r\n]+/);
    const own = lines.pop()!;
    const before = own.trim() === '' ? (lines.pop() ?? '') : own;
    from = at + link.href.length;
    const [after = ''] = text.slice(from, from + 100).split(/[\r\n]/);
    around.set(link, `${before} ${after}`);
  }
  return around;
}

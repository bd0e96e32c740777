/** Which links are never asked, because opening them may do something; and why. */

import type { Context } from '../check.ts';
import { fields } from '../message.ts';
import { htmlFacts } from './html-facts.ts';
import { CAUTION_WORDS, EMPTY_PHRASES } from './link-caution-words.ts';
import { hasToken } from './link-tokens.ts';
import { type MessageLink, messageLinks } from './links.ts';

/** Longer than honest addresses are; what is beyond would go unread. */
const LONGEST_URL = 4000;
/** As much of a message as is read for whether it speaks of unsubscribing, in characters. */
const MAX_TEXT = 500_000;

export interface Caution {
  /** Why the address is not asked, as the end of "was not asked: "; null where it may be. */
  ofUrl(url: URL): string | null;
  /** Likewise of a link, by what is said about it too. */
  ofLink(link: MessageLink): string | null;
}

export function linkCaution(context: Context): Caution {
  const unsubscribing = listUnsubscribeUrls(context);
  const around = wordsAround(context);
  const html = context.fact(htmlFacts)?.text.slice(0, MAX_TEXT) ?? '';
  const speaksOfUnsubscribing = purposeOf(html, [CAUTION_WORDS[0]!]) !== null;
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
    const purpose = purposeOf(said);
    if (purpose) return `it looks like a link to ${purpose}`;
    if (link.text !== null && speaksOfUnsubscribing && EMPTY_PHRASES.has(plain(said).trim()))
      return 'its text does not say what it does, and the message speaks of unsubscribing';
    return link.url ? ofUrl(link.url) : null;
  };
  return { ofUrl, ofLink };
}

/** What a text says that a link is for; null where it says nothing of the kind. */
function purposeOf(text: string, words = CAUTION_WORDS): string | null {
  const searched = plain(text);
  const found = words.find((entry) => patternOf(entry).test(searched));
  return found?.purpose ?? null;
}

const patterns = new Map<(typeof CAUTION_WORDS)[number], RegExp>();

function patternOf(words: (typeof CAUTION_WORDS)[number]): RegExp {
  const known = patterns.get(words);
  if (known) return known;
  const starts = words.atStart.map((word) => plain(word).trim().replaceAll(' ', ' ?'));
  const stems = words.anywhere.map((word) => plain(word).trim().replaceAll(' ', ' ?'));
  const pattern = new RegExp(`(?<=^| )(?:${starts.join('|')})|${stems.join('|')}`, 'u');
  patterns.set(words, pattern);
  return pattern;
}

/** Lower case without accents; every sign, and every border within `camelCase`, becomes one space. */
function plain(text: string): string {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ');
}

/** Percent-encoding taken off twice: an address may hold another. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(decodeURIComponent(text));
  } catch {
    return text;
  }
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

/** What stands around each address of the text part: the end of what comes before, and its own line. */
function wordsAround(context: Context): Map<MessageLink, string> {
  const text = context.message.text ?? '';
  const around = new Map<MessageLink, string>();
  let from = 0;
  for (const link of context.fact(messageLinks)) {
    if (link.source !== 'text') continue;
    const at = text.indexOf(link.href, from);
    if (at < 0) continue;
    const before = text.slice(Math.max(0, at - 300), at).split(/[\r\n]+/);
    from = at + link.href.length;
    const [after = ''] = text.slice(from, from + 100).split(/[\r\n]/);
    around.set(link, `${before.slice(-2).join(' ')} ${after}`);
  }
  return around;
}

/** Which links are never asked, because opening them may do something; and why. */

import type { Context } from '../check.ts';
import { unsubscribeCandidates } from '../compliance/unsubscribe-links.ts';
import { leadsToUnsubscribing, speaksOfUnsubscribing } from '../compliance/unsubscribe-words.ts';
import { fields } from '../message.ts';
import { htmlFacts } from './html-facts.ts';
import { CAUTION_WORDS, type CautionWords } from './link-caution-words.ts';
import { leavesItToOthers, saysNothing } from './link-generic-text.ts';
import { plainWords } from './link-plain-words.ts';
import { hasToken } from './link-tokens.ts';
import { wordsAround } from './link-words-around.ts';
import { type MessageLink, messageLinks } from './links.ts';

/** Longer than honest addresses are; what is beyond would go unread. */
const LONGEST_URL = 2000;
/** As much of a message, at either end, as is read for whether it speaks of unsubscribing, in characters. */
const MAX_TEXT = 100_000;
const MAX_SAID = 2000;

export interface Caution {
  /**
   * Why an address that a link redirects to is not asked, as the end of "was not asked: "; null
   * where it may be.
   */
  ofUrl(url: URL): string | null;
  /** Likewise of a link, by what is said about it and about others with its address too. */
  ofLink(link: MessageLink): string | null;
}

const PATTERNS = CAUTION_WORDS.map(patternOf);
const UNSUBSCRIBE = CAUTION_WORDS[0].purpose;

export function linkCaution(context: Context): Caution {
  const unsubscribing = listUnsubscribePages(context);
  const { places, pages } = cautionedByWords(context);
  const ofAddress = (url: URL): string | null => {
    if (url.href.length > LONGEST_URL) return 'its address is very long';
    if (unsubscribing.has(pageOf(url))) return 'it is in the List-Unsubscribe header';
    const purpose = leadsToUnsubscribing(url.href) ? UNSUBSCRIBE : purposeOf(decoded(url.href));
    if (purpose) return `it looks like a link to ${purpose}`;
    return hasToken(url) ? 'it has a long token in it, which may stand for its reader' : null;
  };
  return {
    ofUrl: (url) => pages.get(pageOf(url)) ?? ofAddress(url),
    ofLink: ({ url }) => (url ? (places.get(placeOf(url)) ?? ofAddress(url)) : null),
  };
}

/** Why addresses are left alone for what the message says of them, by address and by page. */
function cautionedByWords(context: Context) {
  const reasonOf = readerOfWords(context);
  const places = new Map<string, string>();
  const pages = new Map<string, string>();
  for (const link of context.fact(messageLinks)) {
    const reason = link.url && reasonOf(link);
    if (!link.url || !reason) continue;
    places.set(placeOf(link.url), reason);
    pages.set(pageOf(link.url), reason);
  }
  return { places, pages };
}

function readerOfWords(context: Context): (link: MessageLink) => string | null {
  const candidates = new Set(context.fact(unsubscribeCandidates));
  const wordsOf = wordsAround(context.message.text ?? '');
  const unsubscribing = candidates.size > 0 || speaksSomewhere(context);
  return (link) => {
    const { text, label, before, after } = link;
    const purpose = candidates.has(link)
      ? UNSUBSCRIBE
      : purposeOf(text === null ? wordsOf(link) : `${text} ${label}`);
    if (purpose) return `it looks like a link to ${purpose}`;
    if (text === null || !leavesItToOthers(text)) return null;
    const around = purposeOf(`${before} ${after}`);
    if (around)
      return `its text does not say what it does, and what is around it speaks of a link to ${around}`;
    if (unsubscribing && saysNothing(text))
      return 'its text does not say what it does, and the message speaks of unsubscribing';
    return null;
  };
}

/** In its HTML, hidden text included: a link may hide what it says. */
function speaksSomewhere(context: Context): boolean {
  const facts = context.fact(htmlFacts);
  if (!facts) return false;
  const { text, hidden } = facts;
  const unseen = hidden.map((found) => found.text).join(' ');
  return [text, unseen]
    .flatMap((part) => [part.slice(0, MAX_TEXT), part.slice(MAX_TEXT).slice(-MAX_TEXT)])
    .some((part) => hasAny(plainWords(part, MAX_TEXT), PATTERNS[0]!));
}

/** What a text says that a link is for; null where it says nothing of the kind. */
function purposeOf(text: string): string | null {
  if (text.trim() === '') return null;
  if (speaksOfUnsubscribing(text)) return UNSUBSCRIBE;
  const searched = plainWords(text, MAX_SAID);
  return PATTERNS.find((pattern) => hasAny(searched, pattern))?.purpose ?? null;
}

interface Pattern {
  purpose: string;
  /** Any of these in a plain text, in which every word stands between spaces. */
  pieces: string[];
}

const hasAny = (plain: string, { pieces }: Pattern): boolean =>
  pieces.some((piece) => plain.includes(piece));

function patternOf({ purpose, anywhere, atStart, whole }: CautionWords): Pattern {
  const bare = (words: string[]) => words.map((word) => plainWords(word, 100).trim());
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

function listUnsubscribePages(context: Context): Set<string> {
  const urls = fields(context.message, 'list-unsubscribe')
    .slice(0, 10)
    .flatMap(({ value }) => value.slice(0, 10_000).match(/<[^<>]*>/g) ?? [])
    .map((uri) => URL.parse(uri.slice(1, -1).replace(/\s/g, '')))
    .filter((url) => url?.protocol === 'https:' || url?.protocol === 'http:') as URL[];
  return new Set(urls.map(pageOf));
}

/** The address without what changes nothing of where it leads: scheme and fragment. */
const placeOf = (url: URL): string => `${url.host}${url.pathname}${url.search}`;

/** The same page whatever its parameters; the very address where the page is the root. */
const pageOf = (url: URL): string =>
  url.pathname === '/' ? placeOf(url) : `${url.host}${url.pathname}`;

/** Finds links that are never requested because opening them may have an effect, and why. */

import type { Context } from '../check.ts';
import { htmlFacts } from '../html/facts.ts';
import { senderPart } from '../quotes/sender-part.ts';
import { plainWords } from '../text.ts';
import cautionWords from './caution-words.json' with { type: 'json' };
import { dependsOnContext, isGenericText } from './generic-text.ts';
import { type MessageLink, messageLinks } from './links.ts';
import { percentDecodedTwice } from './percent-encoding.ts';
import { hasToken } from './tokens.ts';
import {
  isUnsubscribeUrl,
  listUnsubscribeUrls,
  mentionsUnsubscribe,
  unsubscribeCandidates,
} from './unsubscribe.ts';

/** An entry of `caution-words.json`: words that suggest that opening a link has an effect, in many languages, without accents. */
export interface CautionWords {
  /** What such a link does, after "a link to". */
  purpose: string;
  /** Stems that match anywhere in a word. */
  anywhere: string[];
  /** Beginnings of words. A space matches a space, a symbol or nothing. */
  atStart: string[];
  /** Whole words. */
  whole: string[];
}

/** Ordinary URLs are shorter. The rest of a longer one would not be checked. */
const MAX_URL_LENGTH = 2000;
/** Characters at each end of a message that are searched for unsubscribe words. */
const MAX_TEXT = 100_000;
const MAX_LINK_WORDS = 2000;

export interface LinkSkipReasons {
  /** Why a redirect target must not be requested, as a clause after a colon; null if it may be. */
  forUrl(url: URL): string | null;
  /** The same for a link, also considering the words around it and around other links with the same URL. */
  forLink(link: MessageLink): string | null;
}

const PATTERNS = cautionWords.map(patternOf);
/** Most texts match none. */
const ANY_PATTERN = new RegExp(PATTERNS.map(({ words }) => words.source).join('|'));
/** The first entry is broader than the phrases that identify an unsubscribe link, and adds to them. */
const UNSUBSCRIBE = cautionWords[0]!.purpose;

export function linkSkipReasons(context: Context): LinkSkipReasons {
  const unsubscribePages = new Set(context.fact(listUnsubscribeUrls).map(pageOf));
  const { urls, pages } = reasonsByWords(context);
  const reasonForUrl = (url: URL): string | null => {
    if (url.href.length > MAX_URL_LENGTH) return 'its URL is very long';
    if (unsubscribePages.has(pageOf(url))) return 'it is in the List-Unsubscribe field';
    const purpose = isUnsubscribeUrl(url.href)
      ? UNSUBSCRIBE
      : purposeOf(percentDecodedTwice(url.href));
    if (purpose) return `it looks like a link to ${purpose}`;
    return hasToken(url) ? 'it contains a long token, which may identify the recipient' : null;
  };
  return {
    forUrl: (url) => pages.get(pageOf(url)) ?? reasonForUrl(url),
    forLink: ({ url }) => (url ? (urls.get(urlKey(url)) ?? reasonForUrl(url)) : null),
  };
}

/** Why URLs must not be requested according to the words of the message, by URL and by page. */
function reasonsByWords(context: Context) {
  const reasonOf = createWordReasonFinder(context);
  const urls = new Map<string, string>();
  const pages = new Map<string, string>();
  for (const link of context.fact(messageLinks)) {
    const reason = link.url && reasonOf(link);
    if (!link.url || !reason) continue;
    urls.set(urlKey(link.url), reason);
    pages.set(pageOf(link.url), reason);
  }
  return { urls, pages };
}

function createWordReasonFinder(context: Context): (link: MessageLink) => string | null {
  const candidates = new Set(context.fact(unsubscribeCandidates));
  const wordsOf = wordsAround(context.fact(senderPart).text ?? '');
  const mentionsUnsubscribing = candidates.size > 0 || htmlMentionsUnsubscribing(context);
  return (link) => {
    const { text, label, before, after } = link;
    const purpose = candidates.has(link)
      ? UNSUBSCRIBE
      : purposeOf(text === null ? wordsOf(link) : `${text} ${label}`);
    if (purpose) return `it looks like a link to ${purpose}`;
    if (text === null || !dependsOnContext(text)) return null;
    const surroundingPurpose = purposeOf(`${before} ${after}`);
    if (surroundingPurpose)
      return `its text is vague, and the text around it suggests a link to ${surroundingPurpose}`;
    if (mentionsUnsubscribing && isGenericText(text))
      return 'its text is vague, and the message mentions unsubscribing';
    return null;
  };
}

/** Hidden text counts too: a link may hide its words. */
function htmlMentionsUnsubscribing(context: Context): boolean {
  const facts = context.fact(htmlFacts);
  if (!facts) return false;
  const { text, hidden } = facts;
  const hiddenText = hidden.map((entry) => entry.text).join(' ');
  return [text, hiddenText]
    .flatMap((part) => [part.slice(0, MAX_TEXT), part.slice(MAX_TEXT).slice(-MAX_TEXT)])
    .some((part) => PATTERNS[0]!.words.test(plainWords(part, MAX_TEXT)));
}

/** The effect that a text suggests; null if it suggests none. */
function purposeOf(text: string): string | null {
  if (text.trim() === '') return null;
  if (mentionsUnsubscribe(text)) return UNSUBSCRIBE;
  const searched = plainWords(text, MAX_LINK_WORDS);
  if (!ANY_PATTERN.test(searched)) return null;
  return PATTERNS.find(({ words }) => words.test(searched))?.purpose ?? null;
}

interface Pattern {
  purpose: string;
  /** Matches a normalized text, with spaces around every word. One pattern: hundreds of searches take 50 times as long. */
  words: RegExp;
}

function patternOf({ purpose, anywhere, atStart, whole }: CautionWords): Pattern {
  const normalize = (words: string[]) => words.map((word) => plainWords(word, 100).trim());
  const joined = normalize(atStart).map((word) => word.replaceAll(' ', ''));
  const starts = new Set([...normalize(atStart), ...joined]);
  // Normalized words consist of letters, digits and spaces, so that nothing needs to be escaped.
  const pieces = [
    ...normalize(anywhere),
    ...[...starts].map((word) => ` ${word}`),
    ...normalize(whole).map((word) => ` ${word} `),
  ];
  return { purpose, words: new RegExp(pieces.join('|')) };
}

/** The URL without scheme and fragment, which do not change its target. */
const urlKey = (url: URL): string => `${url.host}${url.pathname}${url.search}`;

/** The URL without its query. The root page keeps it, because there the query selects the page. */
const pageOf = (url: URL): string =>
  url.pathname === '/' ? urlKey(url) : `${url.host}${url.pathname}`;

// The words in the text part that show what a URL is for.

const MAX_TEXT_PART = 5_000_000;
const MAX_REFERENCES = 2000;
const MAX_NOTE_LENGTH = 800;
const MAX_BEFORE = 200;
const MAX_AFTER = 60;

const LINE_END = /\r\n|\r|\n/;
const URL_IN_TEXT = /(?:https?:\/\/|www\.)\S+/gi;

/**
 * For a link in the text part: the rest of its line and the paragraph before it. If the link is a
 * numbered reference, as in `[1] https://…`, also the words where that number appears in the text.
 */
function wordsAround(text: string): (link: MessageLink) => string {
  let notes: Map<number, string> | null = null;
  return ({ before, after }) => {
    const lines = before.split(LINE_END);
    const [, number] = /(?:\[|^\W*)(\d{1,4})[\].):]\W*$/.exec(lines.at(-1)!.slice(-40)) ?? [];
    if (number !== undefined) notes ??= notesOf(text);
    const note = number === undefined ? '' : (notes?.get(Number(number)) ?? '');
    return `${paragraphBefore(lines)} ${restOfLine(after)} ${note}`;
  };
}

/**
 * The line up to the link and the lines above it, up to an empty line or another URL. Empty lines
 * directly above are skipped if the link's own line is vague.
 */
function paragraphBefore(lines: string[]): string {
  const linkLine = lines.at(-1)!;
  const paragraph = [linkLine];
  let index = lines.length - 2;
  if (dependsOnContext(linkLine.replace(/\P{L}+/gu, ' ')))
    while (lines[index]?.trim() === '') index -= 1;
  for (; index >= 0 && lines[index]!.trim() !== ''; index -= 1) {
    const line = lines[index]!;
    const url = [...line.matchAll(URL_IN_TEXT)].at(-1);
    paragraph.unshift(url ? line.slice(url.index + url[0].length) : line);
    if (url) break;
  }
  return paragraph.join(' ');
}

/** Includes the next line if the sentence continues there. */
function restOfLine(after: string): string {
  const [lineRest = '', next = ''] = after.split(LINE_END);
  return `${lineRest.slice(0, 2 * MAX_AFTER)} ${/^\s*\p{Ll}/u.test(next) ? next.slice(0, MAX_AFTER) : ''}`;
}

/** The words around `[1]`, `[2]` and so on. */
function notesOf(text: string): Map<number, string> {
  const notes = new Map<number, string>();
  let count = 0;
  for (const { 0: mark, 1: number, index } of text
    .slice(0, MAX_TEXT_PART)
    .matchAll(/\[(\d{1,4})\]/g)) {
    if (++count > MAX_REFERENCES) break;
    const note = notes.get(Number(number)) ?? '';
    if (note.length >= MAX_NOTE_LENGTH) continue;
    const end = index + mark.length;
    const before = paragraphBefore(
      text.slice(Math.max(0, index - MAX_BEFORE), index).split(LINE_END),
    );
    const [after = ''] = text.slice(end, end + MAX_AFTER).split(/[[\r\n]/, 1);
    notes.set(Number(number), `${note} ${before} ${after}`);
  }
  return notes;
}

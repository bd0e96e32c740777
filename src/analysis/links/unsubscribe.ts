/** Finds unsubscribe links in the body by their words. The links are never requested. */

import type { Context } from '../check.ts';
import { fields } from '../mime/message.ts';
import { isAscii } from '../text.ts';
import { isGenericText, isUrlText } from './generic-text.ts';
import { type MessageLink, messageLinks } from './links.ts';
import { percentDecoded } from './percent-encoding.ts';
import phrases from './unsubscribe-phrases.json' with { type: 'json' };

const OPENABLE = new Set(['http', 'https', 'mailto']);

// A longer text is a whole paragraph inside a link.
const MAX_LINK_TEXT = 300;

// Characters of HTML before a link that shows its own URL: "Unsubscribe: https://…".
const MAX_BEFORE_URL = 40;

/** A fact: call `context.fact(unsubscribeLinks)`. In the order of the message. */
export function unsubscribeLinks(context: Context): MessageLink[] {
  return context
    .fact(unsubscribeCandidates)
    .filter(({ scheme, isTagged }) => OPENABLE.has(scheme) || (isTagged && scheme === ''));
}

/**
 * A fact. Includes links that do not work, such as a URL with an unfilled placeholder. The HTML and the
 * text part are searched separately, because a reader sees only one of them.
 */
export function unsubscribeCandidates(context: Context): MessageLink[] {
  const links = context.fact(messageLinks);
  const named = context.fact(listUnsubscribeUrls);
  const html = links.filter(({ source }) => source === 'html');
  const byLinkWords = html.filter((link) => isNamed(link, named) || matchesInHtml(link));
  return [
    ...(byLinkWords.length > 0 ? byLinkWords : bySurroundingWords(html)),
    ...links.filter(
      (link) => link.source === 'text' && (isNamed(link, named) || matchesInText(link)),
    ),
  ];
}

/** A fact: the web addresses in the List-Unsubscribe field. */
export function listUnsubscribeUrls({ message }: Context): URL[] {
  return fields(message, 'list-unsubscribe')
    .slice(0, 10)
    .flatMap(({ value }) => value.slice(0, 10_000).match(/<[^<>]*>/g) ?? [])
    .map((uri) => URL.parse(uri.slice(1, -1).replace(/\s/g, '')))
    .filter((url) => url?.protocol === 'https:' || url?.protocol === 'http:') as URL[];
}

/** The same address as in the field says in any language what the link is for. */
const isNamed = ({ url }: MessageLink, named: URL[]): boolean =>
  url !== null && named.some(({ href }) => href === url.href);

/** Whether the link offers to unsubscribe from mail, and not to leave a session, account or event. */
export function isMailUnsubscribeLink(link: MessageLink, named: URL[]): boolean {
  if (isNamed(link, named)) return true;
  const { source, text, label, href, before, after } = link;
  const surroundingText = source === 'text' ? lineAround(link) : `${before} ${after}`;
  return unsubscribesFromMail(`${text ?? ''} ${label}`, href, surroundingText);
}

const matchesInHtml = ({ text, label, href }: MessageLink): boolean =>
  isUnsubscribeUrl(href) ||
  ((text ?? '').length <= MAX_LINK_TEXT && mentionsUnsubscribe(`${text} ${label}`));

/** The link is on a line with unsubscribe words, or alone on the line below one. */
const matchesInText = (link: MessageLink): boolean =>
  isUnsubscribeUrl(link.href) || mentionsUnsubscribe(lineAround(link));

/** The line without the link, plus the line above if the link stands alone. */
function lineAround(link: MessageLink): string {
  const above = link.before.split('\n');
  const before = above.pop() ?? '';
  const after = link.after.split('\n', 1)[0] ?? '';
  const isAlone = !/[\p{L}\p{N}]/u.test(before + after);
  const previous = isAlone ? (above.findLast((line) => line.trim() !== '') ?? '') : '';
  return `${previous} ${before} ${after}`;
}

/**
 * A "click here" in a sentence with unsubscribe words. Of several, the last counts, because mail has
 * its unsubscribe link at the end.
 */
function bySurroundingWords(links: MessageLink[]): MessageLink[] {
  const last = links.findLast(({ text, before, after }) => {
    if (text === null) return false;
    if (isUrlText(text)) return mentionsUnsubscribe(before.slice(-MAX_BEFORE_URL));
    return isGenericText(text) && mentionsUnsubscribe(`${before} ${text} ${after}`);
  });
  return last ? [last] : [];
}

/**
 * `unsubscribe-phrases.json`, by language. `ambiguous`: words for leaving anything: a mailing list, but also a device, an
 * account or an event. `unspaced`: for scripts without spaces between words, or that join words to their neighbors.
 *
 * Compared without case and accents. A space matches white space or a dash, `…` up to two more
 * words, and a final `*` any word ending: `abbestell*` also matches "Abbestellung".
 */
const CLEAR_PHRASES = Object.values(phrases.clear).flat();
const AMBIGUOUS_PHRASES = Object.values(phrases.ambiguous).flat();
const UNSPACED_PHRASES = Object.values(phrases.unspaced).flat();

// Whether a text or a URL offers to unsubscribe.

// Abbreviations that are common in URLs and rare in texts.
const ABBREVIATION = /(?<![a-z])(?:unsubs?|desabo)(?![a-z])/;

// "baja" is also a region of Mexico, so it counts only as a whole path segment or a whole value.
const AMBIGUOUS_ABBREVIATION = /(?:^|[/=])(?:baja|signoff)(?:\.[a-z]{2,5})?(?![^/?&#;@])/;

/** Words for mail and mailing lists. */
const MAIL =
  /news ?letter|mailing|e-?mails?(?!\p{L})|rundbrief|rundmail|verteiler|nieuwsbrief|nyhe[dt]sbrev|zpravodaj|novink|odber|spravodaj|bilten|obvestil|novost|boletin|uutiskirje|ενημερωτικ|рассыл/u;

/** Words next to an ambiguous word that do not say what the reader would leave. */
const FILLER =
  /(?<!\p{L})(?:hier|jetzt|bitte|sich|zur|zum|sie|konnen|link|her|nu|se|si|sa|zde|tu|klikk?|meg|deg|dig|mig|je|u|zich)(?!\p{L})/gu;

// More than any link or line needs: a hostile one may have 25 MB.
const MAX_LENGTH = 2000;

// Ligatures of whole phrases, which NFKD expands to many characters.
const PHRASE_LIGATURES = /[\ufdfa\ufdfb]/g;

const GAP = '[\\s-]{1,3}';

const phraseSource = (phrase: string): string =>
  phrase
    .replace(/\*$/, '')
    .split(' … ')
    .map((part) => fold(part).replace(/[ -]/g, GAP))
    .join(`${GAP}(?:[\\p{L}']{1,20}${GAP}){0,2}`) + (phrase.endsWith('*') ? '' : '(?!\\p{L})');

const phrasePattern = (phrases: string[], anywhere: string[]): RegExp =>
  new RegExp(
    [`(?<!\\p{L})(?:${phrases.map(phraseSource).join('|')})`, ...anywhere.map(fold)].join('|'),
    'u',
  );

const WORDS = phrasePattern([...CLEAR_PHRASES, ...AMBIGUOUS_PHRASES], UNSPACED_PHRASES);
const CLEAR_WORDS = phrasePattern(CLEAR_PHRASES, UNSPACED_PHRASES);
const AMBIGUOUS_WORDS = phrasePattern(AMBIGUOUS_PHRASES, []);
const AMBIGUOUS_WHOLE_WORDS = new RegExp(`${AMBIGUOUS_WORDS.source}\\p{L}*`, 'gu');

/** Lower case, plain apostrophes, no accents or invisible characters: `désabonner` → `desabonner`. */
function fold(text: string): string {
  const clipped = text.slice(0, MAX_LENGTH);
  if (isAscii(clipped)) return clipped.toLowerCase();
  const start = clipped.replace(PHRASE_LIGATURES, ' ');
  // A Korean syllable decomposes into three letters. Anything that grows more is not a word.
  return start
    .normalize('NFKD')
    .slice(0, 3 * start.length)
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/\u2019/g, "'")
    .replace(/[\u2010-\u2015]/g, '-');
}

/** Whether the first 2,000 characters of a text offer to unsubscribe. */
export function mentionsUnsubscribe(text: string): boolean {
  return WORDS.test(fold(text));
}

/** The same, without words that may also end a session or cancel a visit. */
export function clearlyMentionsUnsubscribe(text: string): boolean {
  return CLEAR_WORDS.test(fold(text));
}

/** The same for a URL, in any part of it: `https://example.com/u?do=opt-out`. */
export function isUnsubscribeUrl(href: string): boolean {
  const { words, path } = splitUrl(href);
  return WORDS.test(words) || ABBREVIATION.test(words) || AMBIGUOUS_ABBREVIATION.test(path);
}

/**
 * Whether an unsubscribe link is about mail. "Abmelden" alone may also end a session or cancel a visit.
 * In that case, the link itself must mention mail; if it has no other words, the text around it must.
 */
function unsubscribesFromMail(linkText: string, href: string, surroundingText: string): boolean {
  const text = fold(linkText);
  const { words, path } = splitUrl(href);
  if (CLEAR_WORDS.test(text) || CLEAR_WORDS.test(words) || ABBREVIATION.test(words)) return true;
  if (MAIL.test(text) || MAIL.test(path)) return true;
  const surroundings = fold(surroundingText);
  if (AMBIGUOUS_WORDS.test(text)) {
    const otherWords = text.replace(AMBIGUOUS_WHOLE_WORDS, ' ').replace(FILLER, ' ');
    return !/\p{L}/u.test(otherWords) && MAIL.test(surroundings);
  }
  const isAmbiguous = AMBIGUOUS_WORDS.test(words) || AMBIGUOUS_ABBREVIATION.test(path);
  return MAIL.test(surroundings) || (!isAmbiguous && CLEAR_WORDS.test(surroundings));
}

/** The words of a URL, and the part after its host, in lower case and decoded. */
function splitUrl(href: string): { words: string; path: string } {
  const url = fold(percentDecoded(href.slice(0, MAX_LENGTH)));
  return {
    words: url.replace(NOT_LETTERS, ' '),
    path: url.replace(/^mailto:([^@]*)@[^?]*/, '$1').replace(/^[a-z]+:\/\/[^/?#]*/, ''),
  };
}

// Runs other than a single space.
const NOT_LETTERS = /[^\p{L} ]\P{L}*| \P{L}+/gu;

/** Whether a text or an address offers to unsubscribe, told by its words. */

import { ANYWHERE, PHRASES, WIDE } from './unsubscribe-phrases.ts';

// What stands in addresses and hardly in texts.
const SHORT = /(?<![a-z])(?:unsubs?|desabo)(?![a-z])/;

// "baja" is a part of Mexico too: only where it is a whole segment of the path or a whole value.
const SHORT_AND_WIDE = /(?:^|[/=])(?:baja|signoff)(?:\.[a-z]{2,5})?(?![^/?&#;@])/;

/** Words for what a list sends. */
const MAIL =
  /news ?letter|mailing|e-?mails?(?!\p{L})|rundbrief|rundmail|verteiler|nieuwsbrief|nyhe[dt]sbrev|zpravodaj|novink|odber|spravodaj|bilten|obvestil|novost|boletin|uutiskirje|ενημερωτικ|рассыл/u;

/** What stands beside a wide word without saying what is left. */
const FILLING =
  /(?<!\p{L})(?:hier|jetzt|bitte|sich|zur|zum|sie|konnen|link|her|nu|se|si|sa|zde|tu|klikk?|meg|deg|dig|mig|je|u|zich)(?!\p{L})/gu;

// More than any link or line needs: a hostile one may hold 25 MB.
const MAX_LENGTH = 2000;

// Each stands for a phrase, and would grow to many characters.
const PHRASES_IN_ONE = /[\ufdfa\ufdfb]/g;

const GAP = '[\\s-]{1,3}';

const source = (phrase: string): string =>
  phrase
    .replace(/\*$/, '')
    .split(' … ')
    .map((part) => fold(part).replace(/[ -]/g, GAP))
    .join(`${GAP}(?:[\\p{L}']{1,20}${GAP}){0,2}`) + (phrase.endsWith('*') ? '' : '(?!\\p{L})');

const pattern = (phrases: string[][], anywhere: string[][]): RegExp =>
  new RegExp(
    [`(?<!\\p{L})(?:${phrases.flat().map(source).join('|')})`, ...anywhere.flat().map(fold)].join(
      '|',
    ),
    'u',
  );

const WORDS = pattern([...PHRASES, ...WIDE], ANYWHERE);
const CLEAR_WORDS = pattern(PHRASES, ANYWHERE);
const WIDE_WORDS = pattern(WIDE, []);
const WIDE_WHOLE = new RegExp(`${WIDE_WORDS.source}\\p{L}*`, 'gu');

/** Lower case without accents, invisible characters and curled apostrophes: `désabonner` → `desabonner`. */
function fold(text: string): string {
  const start = text.slice(0, MAX_LENGTH).replace(PHRASES_IN_ONE, ' ');
  // Korean syllables are three letters each; what grows more is no word.
  return start
    .normalize('NFKD')
    .slice(0, 3 * start.length)
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/\u2019/g, "'")
    .replace(/[\u2010-\u2015]/g, '-');
}

/** Whether a text offers to unsubscribe; its first 2,000 characters are looked at. */
export function speaksOfUnsubscribing(text: string): boolean {
  return WORDS.test(fold(text));
}

/** The same of an address, in whatever part of it: `https://example.com/u?do=opt-out`. */
export function leadsToUnsubscribing(href: string): boolean {
  const { words, path } = readAddress(href);
  return WORDS.test(words) || SHORT.test(words) || SHORT_AND_WIDE.test(path);
}

/**
 * Whether it is mail that a link which offers to unsubscribe offers to leave. "Abmelden" alone may
 * end a session or cancel a visit: there the link itself has to speak of mail, or where it says no
 * more than that, what stands around it.
 */
export function leavesMail(said: string, href: string, around: string): boolean {
  const text = fold(said);
  const { words, path } = readAddress(href);
  if (CLEAR_WORDS.test(text) || CLEAR_WORDS.test(words) || SHORT.test(words)) return true;
  if (MAIL.test(text) || MAIL.test(path)) return true;
  const near = fold(around);
  if (WIDE_WORDS.test(text)) {
    const more = text.replace(WIDE_WHOLE, ' ').replace(FILLING, ' ');
    return !/\p{L}/u.test(more) && MAIL.test(near);
  }
  const wide = WIDE_WORDS.test(words) || SHORT_AND_WIDE.test(path);
  return MAIL.test(near) || (!wide && CLEAR_WORDS.test(near));
}

/** The words of an address, and what comes after its host, in lower case and decoded. */
function readAddress(href: string): { words: string; path: string } {
  const address = fold(decoded(href.slice(0, MAX_LENGTH)));
  return {
    words: address.replace(/[^\p{L}]+/gu, ' '),
    path: address.replace(/^mailto:([^@]*)@[^?]*/, '$1').replace(/^[a-z]+:\/\/[^/?#]*/, ''),
  };
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}

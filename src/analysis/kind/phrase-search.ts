/** Finds the phrases of `phrases.json` in a text: one lookup for each of its words, not one search for each phrase. */

import { isAscii, plainWords } from '../text.ts';

/** Longer phrases are cut. */
const MAX_PHRASE = 100;
/** Scripts without spaces between words, or with endings on most words. */
const SPACELESS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u;

interface Phrase {
  /** As a reason quotes it. */
  text: string;
  /** As it occurs in the result of `plainWords`: the part before the gap, and the part after it. */
  words: string;
  after: string | null;
  list: PhraseList;
  /** Its position among the phrases of all lists. */
  position: number;
}

/** A list of phrases, prepared for the search. */
export type PhraseList = Phrase[];

/** The phrases of all lists by their first word. */
const BY_FIRST_WORD = new Map<string, Phrase[]>();
/** Those that are the beginning of a word, and those in a script without spaces between words. */
const BEGINNINGS: Phrase[] = [];
const WITHOUT_SPACES: Phrase[] = [];
let phraseCount = 0;
/** Finds any of `BEGINNINGS`; null after one was added. Plain words have no characters that need to be escaped. */
let anyBeginning: RegExp | null = null;

/** Prepares the phrases of a list of `phrases.json`, which are grouped by language. */
export function parsePhrases(byLanguage: Record<string, string[]>): PhraseList {
  const list: PhraseList = [];
  for (const phrase of Object.values(byLanguage).flat()) addPhrase(list, phrase);
  return list;
}

function addPhrase(list: PhraseList, phrase: string): void {
  const [before = '', after] = phrase.split(' … ');
  const words = wordsOf(before);
  const added: Phrase = {
    text: phrase.replace('*', '…'),
    words,
    after: after === undefined ? null : wordsOf(after),
    list,
    position: phraseCount,
  };
  phraseCount += 1;
  anyBeginning = null;
  list.push(added);
  const firstWord = /^ (\S+) /.exec(words)?.[1];
  if (SPACELESS.test(phrase)) WITHOUT_SPACES.push(added);
  else if (firstWord === undefined) BEGINNINGS.push(added);
  else BY_FIRST_WORD.set(firstWord, [...(BY_FIRST_WORD.get(firstWord) ?? []), added]);
}

function wordsOf(phrase: string): string {
  const words = plainWords(phrase, MAX_PHRASE);
  if (SPACELESS.test(phrase)) return words.trim();
  return phrase.endsWith('*') ? words.trimEnd() : words;
}

/** A text that is searched for many lists. */
export interface SearchedText {
  /** A result of `plainWords`. */
  words: string;
  /** The phrases of which it contains the part before the gap, in the order of the lists. */
  found: Phrase[];
}

/** Prepares a result of `plainWords` for the search. */
export function searchedText(words: string): SearchedText {
  const found = new Set<Phrase>();
  const addAt = (phrases: Phrase[], index: number) => {
    for (const phrase of phrases) if (words.startsWith(phrase.words, index)) found.add(phrase);
  };
  let space = -1;
  for (const word of words.split(' ')) {
    const phrases = BY_FIRST_WORD.get(word);
    if (phrases) addAt(phrases, space);
    space += word.length + 1;
  }
  anyBeginning ??= new RegExp(BEGINNINGS.map((phrase) => phrase.words).join('|'), 'g');
  for (const { index } of words.matchAll(anyBeginning)) addAt(BEGINNINGS, index);
  if (!isAscii(words) && SPACELESS.test(words))
    for (const phrase of WITHOUT_SPACES) if (words.includes(phrase.words)) found.add(phrase);
  return { words, found: inOrder(found) };
}

/** Both texts as one. */
export const joinTexts = (a: SearchedText, b: SearchedText): SearchedText => ({
  words: a.words + b.words,
  found: inOrder(new Set([...a.found, ...b.found])),
});

const inOrder = (phrases: Set<Phrase>): Phrase[] =>
  [...phrases].sort((a, b) => a.position - b.position);

/** More occurrences of one phrase are not searched. */
const MAX_OCCURRENCES = 20;
/** The longest gap within a phrase, in characters. */
const MAX_GAP = 24;

/** The phrases that a text contains, at most `max`. */
export function findPhrases(list: PhraseList, text: SearchedText, max: number): string[] {
  const found: string[] = [];
  for (const phrase of text.found) {
    if (found.length >= max) break;
    if (phrase.list === list && hasPartAfter(text.words, phrase)) found.push(phrase.text);
  }
  return found;
}

const hasPartAfter = (text: string, { words, after }: Phrase): boolean =>
  after === null || followedBy(text, words, (rest) => rest.includes(after), MAX_GAP + after.length);

/** Whether an occurrence of the words is followed by what `matches` wants, within `distance` characters. */
function followedBy(
  text: string,
  words: string,
  matches: (rest: string) => boolean,
  distance: number,
): boolean {
  let at = text.indexOf(words);
  for (let count = 0; at >= 0 && count < MAX_OCCURRENCES; count += 1) {
    const end = at + words.length;
    // The space at the end of the words also begins what follows.
    if (matches(text.slice(end - 1, end + distance))) return true;
    at = text.indexOf(words, end);
  }
  return false;
}

/** How far after a phrase a number is looked for. */
const NUMBER_DISTANCE = 24;
const NUMBER = /\d{3}|\d[\p{L}\d]{3}|\d\d \d\d/u;

/** The first phrase that is followed by a number of at least three digits; null if there is none. */
export function findNumbered(list: PhraseList, text: SearchedText): string | null {
  const isNumbered = ({ words }: Phrase) =>
    followedBy(text.words, words, (rest) => NUMBER.test(rest), NUMBER_DISTANCE);
  return text.found.find((phrase) => phrase.list === list && isNumbered(phrase))?.text ?? null;
}

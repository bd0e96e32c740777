/** Removes values from the sentences that quote them. */

/** A stored value, and its public form. */
export interface Quote {
  stored: string;
  shown: string;
}

/** Shorter values are not removed: they also occur in ordinary words. */
export const MIN_QUOTE = 4;
/** The beginning of a value is recognized from this length on. */
const MIN_BEGINNING = 24;

/** Shorter values are replaced only as whole words: `link` is part of "links". */
const MIN_INSIDE_WORD = 8;

interface Range {
  start: number;
  end: number;
  shown: string;
}

/**
 * Replaces values in a text: whole or by their beginning, ignoring case and the amount of white
 * space, percent-encoded or not. Longer values go first; values that overlap are replaced as one.
 */
export function quoteRule(quotes: Quote[]): (text: string) => string {
  const patterns = [...new Map(quotes.map((quote) => [quote.stored, quote])).values()]
    .sort((a, b) => b.stored.length - a.stored.length)
    .flatMap(({ stored, shown }) => formsOf(stored).map((form) => ({ form, shown })));
  if (patterns.length === 0) return (text) => text;
  return (text) => {
    const ranges: Range[] = [];
    const { searched, origins } = singleSpaced(lowercased(text));
    for (const pattern of patterns)
      for (const { start, end, shown } of findMatches(pattern, searched))
        addRange(ranges, { start: origins[start]!, end: origins[end]!, shown });
    return replaceRanges(text, ranges);
  };
}

/** Lowercases every character whose length stays the same, so that positions do not shift. */
const lowercased = (text: string): string =>
  Array.from(text, (character) => {
    const lower = character.toLowerCase();
    return lower.length === character.length ? lower : character;
  }).join('');

/** Collapses white space; `origins` are the original positions of the characters and of the end. */
function singleSpaced(text: string): { searched: string; origins: number[] } {
  let searched = '';
  const origins: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const isSpace = SPACE.test(text[index]!);
    if (isSpace && searched.endsWith(' ')) continue;
    searched += isSpace ? ' ' : text[index];
    origins.push(index);
  }
  return { searched, origins: [...origins, text.length] };
}

const SPACE = /\s/;

function replaceRanges(text: string, ranges: Range[]): string {
  let result = '';
  let end = 0;
  for (const range of ranges.sort((a, b) => a.start - b.start)) {
    result += text.slice(end, range.start) + range.shown;
    end = range.end;
  }
  return result + text.slice(end);
}

function* findMatches({ form, shown }: { form: string; shown: string }, text: string) {
  const needle = form.slice(0, MIN_BEGINNING);
  for (let start = text.indexOf(needle); start >= 0; start = text.indexOf(needle, start + 1)) {
    let end = start + needle.length;
    while (end - start < form.length && text[end] === form[end - start]) end += 1;
    const isWhole = end - start === form.length;
    if (form.length < MIN_INSIDE_WORD && isInsideWord(text, start, end)) continue;
    yield { start, end, shown: isWhole ? shown : shown.slice(0, end - start) };
  }
}

const LETTER = /[\p{L}\p{N}]/u;
const ENCODED_BEFORE = /%[0-9a-f]{2}$/;

function isInsideWord(text: string, start: number, end: number): boolean {
  const isJoined = (before: string | undefined, after: string | undefined) =>
    LETTER.test(before ?? '') && LETTER.test(after ?? '');
  const beginsInside =
    isJoined(text[start - 1], text[start]) &&
    !ENCODED_BEFORE.test(text.slice(Math.max(0, start - 3), start));
  return beginsInside || isJoined(text[end - 1], text[end]);
}

/** The value in lower case with single spaces, and as URLs encode it. */
function formsOf(stored: string): string[] {
  const spaced = stored.replace(/\s+/g, ' ').trim();
  const forms = [spaced];
  for (const text of new Set([stored.toWellFormed(), spaced.toWellFormed()])) {
    const encoded = encodeURIComponent(text);
    forms.push(encodeURI(text), encoded, encoded.replaceAll('%20', '+'));
  }
  const lowerForms = new Set(forms.map(lowercased));
  return [...lowerForms].filter((form) => form.length >= MIN_QUOTE);
}

/** Ignores a range inside another one, and merges ranges that overlap. */
function addRange(ranges: Range[], range: Range): void {
  let merged = range;
  for (let index = ranges.length - 1; index >= 0; index -= 1) {
    const other = ranges[index]!;
    if (merged.start >= other.end || merged.end <= other.start) continue;
    if (merged.start >= other.start && merged.end <= other.end) return;
    ranges.splice(index, 1);
    merged = {
      start: Math.min(merged.start, other.start),
      end: Math.max(merged.end, other.end),
      shown: '…',
    };
  }
  ranges.push(merged);
}

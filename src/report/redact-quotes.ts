/** Takes values out of the sentences that quote them. */

/** A value as it is stored, and what is told in its place. */
export interface Quote {
  stored: string;
  shown: string;
}

/** What is shorter is part of ordinary words, too. */
const MIN_LENGTH = 4;
/** Sentences quote the beginning of a long value: from this length on it is found. */
const MIN_BEGINNING = 24;

interface Range {
  start: number;
  end: number;
  shown: string;
}

/**
 * The text with every value replaced, whole or by its beginning, in any case, percent-encoded or not.
 * The longest goes first; of values that overlap nothing stays.
 */
export function withoutQuotes(text: string, quotes: Quote[]): string {
  const lower = text.toLowerCase();
  // Characters that change their length with their case would shift every place.
  const searched = lower.length === text.length ? lower : text;
  const ranges: Range[] = [];
  for (const quote of quotes.toSorted((a, b) => b.stored.length - a.stored.length))
    for (const range of placesOf(quote, searched)) add(ranges, range);
  let result = '';
  let end = 0;
  for (const range of ranges.sort((a, b) => a.start - b.start)) {
    result += text.slice(end, range.start) + range.shown;
    end = range.end;
  }
  return result + text.slice(end);
}

function* placesOf({ stored, shown }: Quote, text: string): Generator<Range> {
  for (const form of formsOf(stored)) {
    if (form.length < MIN_LENGTH) continue;
    const needle = form.slice(0, MIN_BEGINNING);
    for (let start = text.indexOf(needle); start >= 0; start = text.indexOf(needle, start + 1)) {
      let end = start + needle.length;
      while (end - start < form.length && text[end] === form[end - start]) end += 1;
      const whole = end - start === form.length;
      yield { start, end, shown: whole ? shown : shown.slice(0, end - start) };
    }
  }
}

/** As it is, and as URLs carry it. */
function formsOf(stored: string): Set<string> {
  const text = stored.toWellFormed();
  const encoded = encodeURIComponent(text);
  const forms = [stored, encodeURI(text), encoded, encoded.replaceAll('%20', '+')];
  return new Set(forms.map((form) => form.toLowerCase()));
}

/** Within one that is longer it changes nothing; ranges that overlap are told as one. */
function add(ranges: Range[], range: Range): void {
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

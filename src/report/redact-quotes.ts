/** Removes values from the sentences that quote them. */

/** A stored value, and its public form. */
export interface Quote {
  stored: string;
  shown: string;
}

/** Shorter values also occur in ordinary words. */
export const MIN_QUOTE = 4;
/** A sentence may quote only the beginning of a value: from this length on it is found. */
const MIN_BEGINNING = 24;

interface Range {
  start: number;
  end: number;
  shown: string;
}

/**
 * Replaces values in a text: whole or by their beginning, in any case, percent-encoded or not. Longer
 * values go first; values that overlap are replaced as one.
 */
export function quoteRule(quotes: Quote[]): (text: string) => string {
  const wanted = [...new Map(quotes.map((quote) => [quote.stored, quote])).values()]
    .sort((a, b) => b.stored.length - a.stored.length)
    .flatMap(({ stored, shown }) => formsOf(stored).map((form) => ({ form, shown })));
  if (wanted.length === 0) return (text) => text;
  return (text) => {
    const ranges: Range[] = [];
    const lower = text.toLowerCase();
    // A character whose length depends on its case would shift every position.
    const searched = lower.length === text.length ? lower : text;
    for (const each of wanted)
      for (const range of placesOf(each, searched)) addRange(ranges, range);
    return replaced(text, ranges);
  };
}

function replaced(text: string, ranges: Range[]): string {
  let result = '';
  let end = 0;
  for (const range of ranges.sort((a, b) => a.start - b.start)) {
    result += text.slice(end, range.start) + range.shown;
    end = range.end;
  }
  return result + text.slice(end);
}

function* placesOf({ form, shown }: { form: string; shown: string }, text: string) {
  const needle = form.slice(0, MIN_BEGINNING);
  for (let start = text.indexOf(needle); start >= 0; start = text.indexOf(needle, start + 1)) {
    let end = start + needle.length;
    while (end - start < form.length && text[end] === form[end - start]) end += 1;
    const whole = end - start === form.length;
    yield { start, end, shown: whole ? shown : shown.slice(0, end - start) };
  }
}

/** The value in lower case, and as URLs encode it. */
function formsOf(stored: string): string[] {
  const text = stored.toWellFormed();
  const encoded = encodeURIComponent(text);
  const forms = [stored, encodeURI(text), encoded, encoded.replaceAll('%20', '+')];
  const lower = new Set(forms.map((form) => form.toLowerCase()));
  return [...lower].filter((form) => form.length >= MIN_QUOTE);
}

/** Nothing changes where it lies within another one; ranges that overlap become one. */
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

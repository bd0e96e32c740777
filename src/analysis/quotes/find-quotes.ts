/** Finds the quoted and forwarded messages among the lines of a message. */

import type { Line, Range } from './lines.ts';
import { isAttribution, labelsOf, separatorOf } from './words.ts';

export interface Quotes {
  /** The parts of the source that are quoted, in order. */
  ranges: Range[];
  /** What the words above a quote say; null if only marks show it. */
  relation: 'reply' | 'forward' | null;
}

/**
 * `isReply`: the header says that the message is a reply or forwarded. Otherwise, marks are not enough, because
 * anyone can add them: a line above the quote must say whose words follow.
 */
export function findQuotes(lines: Line[], isReply: boolean): Quotes {
  const ranges: Range[] = [];
  let relation: Quotes['relation'] = null;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index]!;
    if (line.text === '' && line.element === null) continue;
    if (line.mark === 'cited' || line.mark === 'block') {
      const end = endOfMarked(lines, index);
      // Once one quote is certain, the marks of the next ones are too.
      const isTrusted = isReply || ranges.length > 0;
      const above = attributionAbove(lines, index, isTrusted);
      const copied = copyWithin(lines, index, end);
      const isQuote = above !== null || copied !== null || (isTrusted && line.mark === 'cited');
      if (isQuote) {
        addLines(ranges, lines, above ?? index, end);
        relation ??= copied ?? (above === null ? null : 'reply');
      }
      index = end - 1;
    } else {
      const rest = restAt(lines, index, isReply);
      if (rest === null) continue;
      addRest(ranges, lines[rest.from]!);
      return { ranges, relation: relation ?? rest.relation };
    }
  }
  return { ranges, relation };
}

/** The index after the marked lines, with empty lines between them. */
function endOfMarked(lines: Line[], start: number): number {
  const { mark, element } = lines[start]!;
  let end = start + 1;
  for (let index = end; index < lines.length; index += 1) {
    const line = lines[index]!;
    if (line.mark === mark && (element === null || line.element === element)) end = index + 1;
    else if (line.text !== '' || line.element !== null) break;
  }
  return end;
}

/** Lines at the start of a marked part that may say what it is. */
const MAX_INTRO = 6;

/** Some clients put the attribution inside the marked part. */
function copyWithin(lines: Line[], start: number, end: number): Quotes['relation'] {
  let seen = 0;
  for (let index = start; index < end && seen < MAX_INTRO; index += 1) {
    const text = withoutMark(lines[index]!);
    if (text === '') continue;
    seen += 1;
    const separator = separatorOf(text);
    if (separator !== null) return separator;
    if (isAttribution(text)) return 'reply';
    if (seen === 1 && hasCopiedFields(lines, index)) return 'reply';
  }
  return null;
}

/** Only the first level: an older message further in was not written by this sender either. */
const withoutMark = ({ text, mark, element }: Line): string =>
  mark === 'cited' && element === null ? text.replace(/^>\s?/, '') : text;

/** An attribution wraps over at most this many lines. */
const MAX_ATTRIBUTION_LINES = 3;

/** Where the attribution above the line begins; null if there is none. */
function attributionAbove(lines: Line[], index: number, isTrusted: boolean): number | null {
  let last = index - 1;
  while (last >= 0 && lines[last]!.text === '' && lines[last]!.element === null) last -= 1;
  if (last < 0) return null;
  if (isTrusted && lines[last]!.mark === 'intro') {
    while (lines[last - 1]?.mark === 'intro') last -= 1;
    return last;
  }
  let text = '';
  for (let first = last; first >= 0 && last - first < MAX_ATTRIBUTION_LINES; first -= 1) {
    const line = lines[first]!;
    if (line.text === '' || (line.mark !== null && line.mark !== 'intro')) return null;
    text = `${line.text} ${text}`.trim();
    if (isAttribution(text)) return beginningOf(lines, first, last);
  }
  return null;
}

/** "On Tuesday, 3 November," may be a line of its own, before the one that is enough. */
function beginningOf(lines: Line[], first: number, last: number): number {
  const above = lines[first - 1];
  const isPart =
    above !== undefined &&
    last - first < MAX_ATTRIBUTION_LINES - 1 &&
    above.mark === null &&
    /\d/.test(above.text) &&
    /[,，]$/.test(above.text);
  return isPart ? first - 1 : first;
}

interface Rest {
  from: number;
  relation: 'reply' | 'forward';
}

/** Whether all lines from here on are of another message, and why. */
function restAt(lines: Line[], index: number, isReply: boolean): Rest | null {
  const { text, mark } = lines[index]!;
  const separator = separatorOf(text);
  if (separator !== null) {
    // "Original" alone may be a heading, so the copied fields must follow.
    if (isReply || separator === 'forward' || hasCopiedFields(lines, index + 1))
      return { from: index, relation: separator };
  }
  const next = lines.slice(index + 1, index + 10).find((line) => line.text !== '' || line.element);
  if (mark === 'intro')
    return next && next.mark === null && isReply ? { from: index, relation: 'forward' } : null;
  if (!isReply)
    return hasCopiedFields(lines, index, true) ? { from: index, relation: 'forward' } : null;
  if (hasCopiedFields(lines, index)) return { from: index, relation: 'reply' };
  // A quote with a mark ends where the mark ends, so the rest is not quoted.
  if (next === undefined || next.mark !== null || !isAttribution(text)) return null;
  return { from: attributionAbove(lines, index + 1, true) ?? index, relation: 'reply' };
}

/** The lines that the copied fields take; in a table, the label and the value are two. */
const MAX_FIELD_LINES = 12;

/** Empty lines and rules above them. */
const MAX_RULES = 4;

/** Whether the fields of a message are copied here: From, Subject, and Date or To; `areAll`: all four. */
function hasCopiedFields(lines: Line[], index: number, areAll = false): boolean {
  let first = index;
  while (first < index + MAX_RULES && /^[\s>_=*-]*$/.test(lines[first]?.text ?? '')) first += 1;
  if (labelsAt(lines, first).length === 0) return false;
  const found = new Set<string>();
  for (let at = first; at < Math.min(lines.length, first + MAX_FIELD_LINES); at += 1)
    for (const label of labelsAt(lines, at)) found.add(label);
  return found.has('from') && found.has('subject') && found.size >= (areAll ? 4 : 3);
}

const labelsAt = (lines: Line[], index: number) => {
  const line = lines[index];
  return line ? labelsOf(withoutMark(line)) : [];
};

/** The marked element as a whole; of other lines only the text, so that all elements stay in balance. */
function addLines(ranges: Range[], lines: Line[], start: number, end: number): void {
  for (const { ranges: pieces, element } of lines.slice(start, end))
    for (const range of element ? [element] : pieces) add(ranges, range);
}

function addRest(ranges: Range[], { ranges: pieces, element }: Line): void {
  const start = element?.start ?? pieces[0]?.start;
  if (start !== undefined) add(ranges, { start, end: Number.MAX_SAFE_INTEGER });
}

function add(ranges: Range[], { start, end }: Range): void {
  if (start >= (ranges.at(-1)?.end ?? 0)) ranges.push({ start, end });
}

/** The source without these parts. */
export function withoutRanges(source: string, ranges: Range[]): string {
  let from = 0;
  const kept = ranges.map(({ start, end }) => {
    const piece = source.slice(from, start);
    from = end;
    return piece;
  });
  return [...kept, source.slice(from)].join('');
}

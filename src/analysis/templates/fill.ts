/**
 * Fills a template with stand-ins, so that checks read it like a message. A value becomes a word, and a block keeps one or
 * all of its branches. Everything else between delimiters disappears.
 */

import { type Block, matchBlocks } from './blocks.ts';
import { type BrokenTag, MAX_BROKEN, type MergeTag, scanTags } from './syntax.ts';

export interface FilledText {
  text: string;
  tags: MergeTag[];
  broken: BrokenTag[];
}

/** Stand-ins of the tags of one template, the same for the same tag. */
export interface StandIns {
  of(tag: string): string;
  /** The text with the tags as written. */
  restore(text: string): string;
}

/**
 * A word of letters survives URLs, lower case and tokenizers. Its digits are the letters from a to p. A text that was cut
 * can end in a part of it.
 */
const STAND_IN = /zqx([a-p]+)xqz/gi;
const CUT_STAND_IN = /zqx[a-p]*(?:xq?)?(?![a-z])/gi;
const LETTERS = 'abcdefghijklmnop';

export const hasStandIn = (text: string): boolean => text.search(STAND_IN) >= 0;

export function createStandIns(): StandIns {
  const tags: string[] = [];
  const known = new Map<string, string>();
  return {
    of(tag) {
      let word = known.get(tag);
      if (word !== undefined) return word;
      const digits = [...tags.length.toString(16)].map((digit) => LETTERS[parseInt(digit, 16)]!);
      word = `zqx${digits.join('')}xqz`;
      tags.push(tag);
      known.set(tag, word);
      return word;
    },
    restore: (text) =>
      text
        .replace(STAND_IN, (word, letters: string) => {
          const digits = [...letters.toLowerCase()].map((letter) =>
            LETTERS.indexOf(letter).toString(16),
          );
          return tags[parseInt(digits.join(''), 16)] ?? word;
        })
        .replace(CUT_STAND_IN, ''),
  };
}

/** Fills plain text, such as a subject. */
export function fillText(text: string, standIns: Pick<StandIns, 'of'>): FilledText {
  const { tags, broken } = scanTags(text, () => false);
  const { blocks, broken: unmatched } = matchBlocks(tags);
  const kept = withoutRanges(
    tags,
    blocks.flatMap((block) => branchesOf(block).slice(1)),
  );
  return { text: replaceTags(text, kept, standIns), tags, broken: [...broken, ...unmatched] };
}

export function fillHtml(html: string, standIns: Pick<StandIns, 'of'>): FilledText {
  const { tags, broken } = scanTags(html, isWithin(quietRanges(html)));
  const { blocks, broken: unmatched } = matchBlocks(tags);
  const blank = blankTags(html, tags);
  const budget = { left: MAX_READ };
  const kept = withoutRanges(
    tags,
    blocks.flatMap((block) => droppedBranches(block, blank, budget)),
  );
  const text = replaceTags(html, kept, standIns);
  const unquoted = unquotedTags(tags, blank);
  return { text, tags, broken: [...broken, ...unmatched, ...unquoted] };
}

const QUIET_START = /<(style|script)\b|<!--/gi;
const QUIET_ENDS = [/-->/g, /<\/style\s*>/gi, /<\/script\s*>/gi] as const;

/** Styles, scripts and comments. */
function quietRanges(html: string): Range[] {
  const ranges: Range[] = [];
  // Without an end here, there is none further on.
  const endless = new Set<RegExp>();
  QUIET_START.lastIndex = 0;
  for (let found = QUIET_START.exec(html); found; found = QUIET_START.exec(html)) {
    const name = found[1]?.toLowerCase();
    const pattern = QUIET_ENDS[name === undefined ? 0 : name === 'style' ? 1 : 2];
    if (endless.has(pattern)) continue;
    pattern.lastIndex = QUIET_START.lastIndex;
    if (pattern.exec(html) === null) endless.add(pattern);
    else {
      ranges.push([found.index, pattern.lastIndex]);
      QUIET_START.lastIndex = pattern.lastIndex;
    }
  }
  return ranges;
}

/** Whether a position is in one of the ranges, which are in order. */
const isWithin =
  (ranges: Range[]) =>
  (position: number): boolean => {
    let [low, high] = [0, ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ranges[middle]![1] <= position) low = middle + 1;
      else high = middle;
    }
    return low < ranges.length && ranges[low]![0] <= position;
  };

type Range = [start: number, end: number];

interface Replaced {
  start: number;
  end: number;
  tag: MergeTag | null;
}

/** The tags outside of the ranges, and the ranges themselves, in order. */
function withoutRanges(tags: MergeTag[], ranges: Range[]): Replaced[] {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const result: Replaced[] = [];
  let next = 0;
  let end = 0;
  for (const tag of tags) {
    for (; next < sorted.length && sorted[next]![0] <= tag.start; next += 1) {
      const [start, rangeEnd] = sorted[next]!;
      if (rangeEnd <= end) continue;
      result.push({ start: Math.max(start, end), end: rangeEnd, tag: null });
      end = rangeEnd;
    }
    if (tag.start >= end) result.push({ start: tag.start, end: tag.end, tag });
  }
  return result;
}

function replaceTags(text: string, replaced: Replaced[], standIns: Pick<StandIns, 'of'>): string {
  const pieces: string[] = [];
  let position = 0;
  for (const { start, end, tag } of replaced) {
    pieces.push(text.slice(position, start));
    if (tag?.kind === 'value') pieces.push(standIns.of(tag.text));
    position = end;
  }
  return pieces.join('') + text.slice(position);
}

// Which branches of a block stay.

/** The ranges of its branches: up to `else`, up to the next one, up to its end. */
function branchesOf({ open, middles, close }: Block): Range[] {
  const edges = [open, ...middles, close];
  return edges.slice(1).map((edge, index) => [edges[index]!.end, edge.start]);
}

/** Styles that hide an element, which a template may do in some cases only. */
const HIDES =
  /display\s*:\s*none|visibility\s*:\s*hidden|mso-hide|font-size\s*:\s*0|max-height\s*:\s*0/i;

/** Characters of all branches of a template: nested ones are read again for each block around them. */
const MAX_READ = 10_000_000;

function droppedBranches(block: Block, blank: string, budget: { left: number }): Range[] {
  const branches = branchesOf(block);
  const texts = branches.map(([start, end]) => blank.slice(start, end));
  budget.left -= block.close.start - block.open.end + 1000;
  if (budget.left < 0) return [];
  // Only one branch can be in a tag, or open what another one opens too.
  if (isInTag(blank, block.open.start)) {
    const shown = texts.findIndex((text) => !HIDES.test(text));
    return branches.filter((_, index) => index !== shown);
  }
  return texts.every(isBalanced) ? [] : branches.slice(1);
}

/** The HTML with spaces in place of its merge tags, so that positions stay. */
function blankTags(html: string, tags: MergeTag[]): string {
  const pieces: string[] = [];
  let position = 0;
  for (const { start, end } of tags) {
    pieces.push(html.slice(position, start), ' '.repeat(end - start));
    position = end;
  }
  return pieces.join('') + html.slice(position);
}

/** Tags are shorter. */
const MAX_ELEMENT = 10_000;

function isInTag(blank: string, position: number): boolean {
  const before = blank.slice(Math.max(0, position - MAX_ELEMENT), position);
  const start = before.search(/<[a-zA-Z][^<]*$/);
  return start >= 0 && /^<(?:[^"'>]|"[^"]*"|'[^']*')*(?:"[^"]*|'[^']*)?$/.test(before.slice(start));
}

const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

/** Whether it closes each element that it opens. */
function isBalanced(html: string): boolean {
  const open = new Map<string, number>();
  for (const [, slash, name] of html.matchAll(
    /<(\/?)([a-zA-Z][\w:-]*)(?![\w:-])(?:[^"'<>]|"[^"]*"|'[^']*'){0,10000}>/g,
  )) {
    if (VOID.test(name!)) continue;
    const key = name!.toLowerCase();
    open.set(key, (open.get(key) ?? 0) + (slash === '/' ? -1 : 1));
  }
  return [...open.values()].every((count) => count === 0);
}

// Values in attributes without quotes.

const START_TAG = /<[a-zA-Z][^\s<>/"']*(?![^\s<>/"'])((?:[^"'<>]|"[^"]*"|'[^']*'){0,10000})>/g;
const ATTRIBUTE = /=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+|(?=\s))/g;
const MAX_NAME = 100;
/** As `blankTags`, but a tag stays visible in the pattern of an attribute. */
const MARK = '\u0001';

function unquotedTags(tags: MergeTag[], blank: string): BrokenTag[] {
  const values = tags.filter(({ kind, start }) => kind === 'value' || blank[start - 1] === '=');
  if (values.length === 0) return [];
  const marked = markTags(blank, values);
  const starts = new Map(values.map((tag) => [tag.start, tag]));
  const found: BrokenTag[] = [];
  for (const element of marked.matchAll(START_TAG)) {
    if (!element[0].includes(MARK)) continue;
    const offset = element.index + element[0].length - 1 - element[1]!.length;
    for (const attribute of element[1]!.matchAll(ATTRIBUTE)) {
      const at = attribute[0].indexOf(MARK);
      if (at < 0 || /^=\s*["']/.test(attribute[0])) continue;
      const start = offset + attribute.index + at;
      const tag = starts.get(start);
      const before = element[1]!.slice(Math.max(0, attribute.index - MAX_NAME), attribute.index);
      const name = /[\w:@-]+\s*$/.exec(before)?.[0].trim();
      if (tag && found.length < MAX_BROKEN)
        found.push({
          start,
          text: `${name ?? ''}=${tag.text}`.slice(0, 60),
          problem: 'is in an attribute without quotes',
        });
    }
  }
  return found;
}

function markTags(blank: string, values: MergeTag[]): string {
  const pieces: string[] = [];
  let position = 0;
  for (const { start, end } of values) {
    pieces.push(blank.slice(position, start), MARK.repeat(end - start));
    position = end;
  }
  return pieces.join('') + blank.slice(position);
}

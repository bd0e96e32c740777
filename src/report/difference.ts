/**
 * The difference of two messages, side by side: subject, text, HTML and header. Runs in the render thread, because
 * messages may be hostile. Lines, time and result are bounded.
 */

import { parseMessage } from '../analysis/mime/parse-message.ts';
import { textLines } from './blocks.ts';
import { messageView } from './message-view.ts';

/** A line with its number, and where in it the change is. */
export interface DifferentLine {
  number: number;
  text: string;
  /** The changed characters; none if the line has no counterpart that is like it. */
  from: number;
  to: number;
}

/** Two lines side by side; equal ones are context. Null at a side without one. */
export interface DifferenceRow {
  before: DifferentLine | null;
  after: DifferentLine | null;
  isSame: boolean;
}

export interface PartDifference {
  name: 'Subject' | 'Text' | 'HTML' | 'Header';
  /** Changed lines with those around them; null between two places. Empty if nothing changed. */
  rows: (DifferenceRow | null)[];
  omitted: string | null;
}

const MAX = {
  /** Characters of a part; more of them are not compared. */
  text: 1_000_000,
  lines: 20_000,
  lineLength: 2_000,
  shown: 400,
  /** Changed lines that are matched; a larger difference is a replacement. */
  edits: 800,
  rows: 200,
};
const CONTEXT = 2;
/** The share of a line that must be the same for the rest to be marked. */
const MIN_LIKENESS = 0.2;

export async function messageDifference(
  before: Uint8Array,
  after: Uint8Array,
): Promise<PartDifference[]> {
  const [a, b] = await Promise.all([before, after].map(partsOf));
  return (Object.keys(a!) as PartDifference['name'][]).map((name) =>
    partDifference(name, a![name], b![name]),
  );
}

async function partsOf(raw: Uint8Array): Promise<Record<PartDifference['name'], string>> {
  const message = await parseMessage(raw);
  const { headers } = messageView(raw, { ...message, html: null, text: null }, new Set());
  return {
    Subject: message.subject ?? '',
    Text: trimmed(message.text),
    // Written in one line, HTML would be one difference.
    HTML: trimmed(message.html).replace(/(<\/[a-z0-9]+>|<br\s*\/?>)(?=[^\n])/gi, '$1\n'),
    Header: headers.map(({ name, value }) => `${name}: ${value}`).join('\n'),
  };
}

const trimmed = (text: string | null): string => (text ?? '').slice(0, MAX.text + 1).trimEnd();

export function partDifference(
  name: PartDifference['name'],
  before: string,
  after: string,
): PartDifference {
  const [a, b] = [before, after].map((text) =>
    text === ''
      ? []
      : textLines(text, MAX.text, MAX.lines).map((line) => line.slice(0, MAX.lineLength)),
  ) as [string[], string[]];
  const rows = withContext(pairedRows(a, b, matchesOf(a, b)));
  const isCut =
    [before, after].some((text) => text.length > MAX.text) ||
    [a, b].some(({ length }) => length > MAX.lines);
  const more = rows.length - MAX.rows;
  const notes = [
    ...(more > 0 ? [`${more.toLocaleString('en')} more lines are not shown.`] : []),
    ...(isCut ? ['Only the beginning is compared.'] : []),
  ];
  return { name, rows: rows.slice(0, MAX.rows), omitted: notes.join(' ') || null };
}

/** The pairs of equal lines, in order: those at both ends, and those of the shortest edit between them. */
function matchesOf(a: string[], b: string[]): [number, number][] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  )
    end += 1;
  const between = shortestEdit(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [
    ...Array.from({ length: start }, (_, index): [number, number] => [index, index]),
    ...between.map(([x, y]): [number, number] => [x + start, y + start]),
    ...Array.from({ length: end }, (_, index): [number, number] => [
      a.length - end + index,
      b.length - end + index,
    ]),
  ];
}

/** Myers, "An O(ND) difference algorithm", 1986. No pairs if it takes more than `MAX.edits` edits. */
function shortestEdit(a: string[], b: string[]): [number, number][] {
  const limit = Math.min(a.length + b.length, MAX.edits);
  const ends = new Int32Array(2 * limit + 3);
  const steps: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    steps.push(ends.slice(limit - edits, limit + edits + 3));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const at = limit + 1 + diagonal;
      const isDown = diagonal === -edits || (diagonal !== edits && ends[at - 1]! < ends[at + 1]!);
      let x = isDown ? ends[at + 1]! : ends[at - 1]! + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      ends[at] = x;
      if (x >= a.length && x - diagonal >= b.length) return pathBack(a.length, b.length, steps);
    }
  }
  return [];
}

function pathBack(fromX: number, fromY: number, steps: Int32Array[]): [number, number][] {
  const pairs: [number, number][] = [];
  let [x, y] = [fromX, fromY];
  for (let edits = steps.length - 1; edits > 0; edits -= 1) {
    const ends = steps[edits]!;
    // The middle of a step is the diagonal 0.
    const endOf = (diagonal: number) => ends[edits + 1 + diagonal]!;
    const diagonal = x - y;
    const isDown =
      diagonal === -edits || (diagonal !== edits && endOf(diagonal - 1) < endOf(diagonal + 1));
    const [previousX, previous] = isDown
      ? [endOf(diagonal + 1), diagonal + 1]
      : [endOf(diagonal - 1), diagonal - 1];
    const startX = isDown ? previousX : previousX + 1;
    for (; x > startX; x -= 1, y -= 1) pairs.push([x - 1, y - 1]);
    [x, y] = [previousX, previousX - previous];
  }
  for (; x > 0 && y > 0; x -= 1, y -= 1) pairs.push([x - 1, y - 1]);
  return pairs.reverse();
}

function pairedRows(a: string[], b: string[], matches: [number, number][]): DifferenceRow[] {
  const rows: DifferenceRow[] = [];
  let [x, y] = [0, 0];
  for (const [nextX, nextY] of [...matches, [a.length, b.length]] as [number, number][]) {
    while (x < nextX || y < nextY) {
      const [before, after] = [x < nextX ? a[x]! : null, y < nextY ? b[y]! : null];
      rows.push({ ...changedPair(before, after, x + 1, y + 1), isSame: false });
      if (before !== null) x += 1;
      if (after !== null) y += 1;
    }
    if (x < a.length && y < b.length) {
      const line = (number: number) => ({ number, text: shown(a[x]!, 0), from: 0, to: 0 });
      rows.push({ before: line(x + 1), after: line(y + 1), isSame: true });
      x += 1;
      y += 1;
    }
  }
  return rows;
}

function changedPair(
  before: string | null,
  after: string | null,
  beforeNumber: number,
  afterNumber: number,
): Pick<DifferenceRow, 'before' | 'after'> {
  const whole = (text: string | null, number: number) =>
    text === null ? null : line(text, number, 0, 0);
  if (before === null || after === null)
    return { before: whole(before, beforeNumber), after: whole(after, afterNumber) };
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start])
    start += 1;
  let end = 0;
  const room = Math.min(before.length, after.length);
  while (end < room - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  if (start + end < room * MIN_LIKENESS)
    return { before: whole(before, beforeNumber), after: whole(after, afterNumber) };
  return {
    before: line(before, beforeNumber, start, before.length - end),
    after: line(after, afterNumber, start, after.length - end),
  };
}

/** The change of a long line is in the part that is shown. */
function line(text: string, number: number, from: number, to: number): DifferentLine {
  const cut = from > MAX.shown / 2 ? from - MAX.shown / 4 : 0;
  const before = cut > 0 ? 1 : 0;
  const inShown = (index: number) => Math.min(Math.max(index - cut + before, 0), MAX.shown);
  return { number, text: shown(text, cut), from: inShown(from), to: inShown(to) };
}

function shown(text: string, cut: number): string {
  const kept = text.slice(cut, cut + MAX.shown).toWellFormed();
  return `${cut > 0 ? '…' : ''}${kept}${text.length > cut + MAX.shown ? '…' : ''}`;
}

/** Only changes and the lines around them; null stands for what is left out between them. */
function withContext(rows: DifferenceRow[]): (DifferenceRow | null)[] {
  const near = new Set(
    rows.flatMap(({ isSame }, index) =>
      isSame
        ? []
        : Array.from({ length: 2 * CONTEXT + 1 }, (_, offset) => index + offset - CONTEXT),
    ),
  );
  return rows.flatMap((row, index): (DifferenceRow | null)[] => {
    if (near.has(index)) return [row];
    return near.has(index - 1) && index < rows.length - 1 ? [null] : [];
  });
}

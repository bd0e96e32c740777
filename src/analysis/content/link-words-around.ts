/** The words of the text part that tell what an address in it is for. */

import { leavesItToOthers } from './link-generic-text.ts';
import type { MessageLink } from './links.ts';

const MAX_TEXT = 5_000_000;
const MAX_REFERENCES = 2000;
const MAX_WORDS = 800;
const BEFORE = 200;
const AFTER = 60;

const LINE_END = /\r\n|\r|\n/;
const ADDRESS = /(?:https?:\/\/|www\.)\S+/gi;

/**
 * For a link of the text part: the rest of its line, the paragraph before it, and where it stands
 * at a number, as in `[1] https://…`, what stands at that number elsewhere.
 */
export function wordsAround(text: string): (link: MessageLink) => string {
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
 * The line up to the link and those above it, up to an empty line or another address. Empty lines
 * between are passed over where its own line says nothing.
 */
function paragraphBefore(lines: string[]): string {
  const own = lines.at(-1)!;
  const found = [own];
  let at = lines.length - 2;
  if (leavesItToOthers(own.replace(/\P{L}+/gu, ' '))) while (lines[at]?.trim() === '') at -= 1;
  for (; at >= 0 && lines[at]!.trim() !== ''; at -= 1) {
    const line = lines[at]!;
    const address = [...line.matchAll(ADDRESS)].at(-1);
    found.unshift(address ? line.slice(address.index + address[0].length) : line);
    if (address) break;
  }
  return found.join(' ');
}

/** With the next line, where the sentence goes on there. */
function restOfLine(after: string): string {
  const [rest = '', next = ''] = after.split(LINE_END);
  return `${rest.slice(0, 2 * AFTER)} ${/^\s*\p{Ll}/u.test(next) ? next.slice(0, AFTER) : ''}`;
}

/** What stands around `[1]`, `[2]` and so on. */
function notesOf(text: string): Map<number, string> {
  const notes = new Map<number, string>();
  let count = 0;
  for (const { 0: mark, 1: number, index } of text.slice(0, MAX_TEXT).matchAll(/\[(\d{1,4})\]/g)) {
    if (++count > MAX_REFERENCES) break;
    const known = notes.get(Number(number)) ?? '';
    if (known.length >= MAX_WORDS) continue;
    const end = index + mark.length;
    const before = paragraphBefore(text.slice(Math.max(0, index - BEFORE), index).split(LINE_END));
    const [after = ''] = text.slice(end, end + AFTER).split(/[[\r\n]/, 1);
    notes.set(Number(number), `${known} ${before} ${after}`);
  }
  return notes;
}

/** Keeps what a hostile message can put into a result within bounds. */

import type { Json } from './check.ts';

const TEXT_MAX = 2000;
const ITEMS_MAX = 100;
const DEPTH_MAX = 8;

/** Text of at most 2,000 characters, its end marked where it was cut. */
export function trimText(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`;
}

/** Evidence with long text cut, long lists cut (and counted), and nothing nested too deep. */
export function trimEvidence(evidence: { [key: string]: Json }): { [key: string]: Json } {
  return trimValue(evidence, 0) as { [key: string]: Json };
}

function trimValue(value: Json, depth: number): Json {
  if (typeof value === 'string') return trimText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '…';
  if (Array.isArray(value)) {
    const kept = value.slice(0, ITEMS_MAX).map((item) => trimValue(item, depth + 1));
    return value.length > ITEMS_MAX ? [...kept, `… and ${value.length - ITEMS_MAX} more`] : kept;
  }
  const entries = Object.entries(value).slice(0, ITEMS_MAX);
  return Object.fromEntries(
    entries.map(([key, item]) => [trimText(key), trimValue(item, depth + 1)]),
  );
}

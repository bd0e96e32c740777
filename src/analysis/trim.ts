/** Keeps what a hostile message can put into a result within bounds. */

import type { Fix, Json } from './check.ts';

const TEXT_MAX = 2000;
const ITEMS_MAX = 100;
const DEPTH_MAX = 8;

/** What would move or hide the text around it: control characters, and those that turn its direction. */
const CONTROL = /[\0-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const CONTROLS = new RegExp(CONTROL.source, 'g');

/** Text of at most 2,000 characters, its end marked where it was cut, without control characters. */
export function trimText(text: string): string {
  const cut = text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`;
  return CONTROL.test(cut) ? cut.replace(CONTROLS, '·') : cut;
}

/** A fix with its text cut; a record that is longer than any that could be published is left out. */
export function trimFix({ text, record }: Fix): Fix {
  const trimmed = trimText(text);
  if (!record || Math.max(record.name.length, record.value.length) > TEXT_MAX)
    return { text: trimmed };
  const { type, name, value } = record;
  return { text: trimmed, record: { type, name: trimText(name), value: trimText(value) } };
}

/** Evidence with long text cut, long lists cut (and counted), and nothing nested too deep. */
export function trimEvidence(evidence: { [key: string]: Json }): { [key: string]: Json } {
  return fits(evidence, 0) ? evidence : (trimValue(evidence, 0) as { [key: string]: Json });
}

/** Whether nothing has to be cut, as for any honest message. */
function fits(value: Json, depth: number): boolean {
  if (typeof value === 'string') return value.length <= TEXT_MAX && !CONTROL.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= DEPTH_MAX) return false;
  let items = 0;
  for (const key in value) {
    items += 1;
    if (items > ITEMS_MAX || key.length > TEXT_MAX || CONTROL.test(key)) return false;
    if (!fits((value as Record<string, Json>)[key]!, depth + 1)) return false;
  }
  return true;
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

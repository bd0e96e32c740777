/** The fields of a request that its schema does not know, at every depth. */

import type { Schema } from './route.ts';

/** The parts of valibot's schemas that are looked at; one with a pipe has those of its first. */
interface Known {
  type: string;
  entries?: Record<string, Known>;
  item?: Known;
  wrapped?: Known;
}

/**
 * Their paths, such as `metadata.key` or `steps.0.kind`. Only objects that take no other field are
 * looked at: what is in a record or a union is for the schema to judge.
 */
export function unknownFields(schema: Schema, value: unknown): string[] {
  const found: string[] = [];
  look(schema as unknown as Known, value, '', found);
  return found;
}

function look(
  { type, entries, item, wrapped }: Known,
  value: unknown,
  at: string,
  found: string[],
) {
  if (typeof value !== 'object' || value === null) return;
  if (wrapped) look(wrapped, value, at, found);
  else if (item && Array.isArray(value))
    value.forEach((one, i) => {
      look(item, one, `${at}${i}.`, found);
    });
  else if (entries && !Array.isArray(value))
    for (const [name, field] of Object.entries(value)) {
      if (Object.hasOwn(entries, name)) look(entries[name]!, field, `${at}${name}.`, found);
      else if (type === 'strict_object') found.push(`${at}${name}`);
    }
}

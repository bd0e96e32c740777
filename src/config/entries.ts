/** Variables that are a JSON array of objects. Each fault of an entry has its own line, and none quotes a secret. */

import { closestName } from '../lib/closest-name.ts';

/** Several problems of one variable, each of which is reported on its own line. */
export class VariableFaults extends Error {
  readonly faults: string[];
  constructor(faults: string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}

export type Entry<Field extends string> = Partial<Record<Field, unknown>>;

interface EntryList<T> {
  /** What an entry is, for people: one and several. */
  noun: string;
  plural: string;
  /** The fields of a simple entry, for people. */
  fields: string;
  max: number;
  /** The fields that identify an entry for people, if they are set, the best first. */
  labels: string[];
  /** The value of an entry, or what is wrong with it. */
  read(entry: Record<string, unknown>): T | string[];
}

/** The values of all entries; their names are unique. Throws VariableFaults, or an Error if there are no entries. */
export function readEntries<T extends { name: string }>(text: string, list: EntryList<T>): T[] {
  if (text.trim() === '') return [];
  const faults: string[] = [];
  const values: T[] = [];
  for (const [index, entry] of parseArray(text, list).entries()) {
    const value = isObject(entry) ? list.read(entry) : ['must be an object'];
    const label = labelOf(entry, index, list);
    if (Array.isArray(value)) faults.push(...value.map((fault) => `${label}: ${fault}`));
    else if (values.some(({ name }) => name === value.name))
      faults.push(
        `${label}: another ${list.noun} has the name ${value.name}. Set a different "name"`,
      );
    else values.push(value);
  }
  if (faults.length > 0) throw new VariableFaults(faults);
  return values;
}

function parseArray(
  text: string,
  { fields, plural, max }: Pick<EntryList<unknown>, 'fields' | 'plural' | 'max'>,
): unknown[] {
  let parsed: unknown;
  try {
    // Some editors write a byte order mark into files.
    parsed = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // The parser's message quotes the text, which contains secrets.
    throw new Error(`must be JSON: an array of objects with ${fields}`);
  }
  if (!Array.isArray(parsed)) throw new Error(`must be a JSON array of ${plural}`);
  if (parsed.length > max) throw new Error(`must have at most ${max} ${plural}`);
  return parsed;
}

/** Counted from 1. With what identifies the entry, if it is set. */
function labelOf(
  entry: unknown,
  index: number,
  { noun, labels }: Pick<EntryList<unknown>, 'noun' | 'labels'>,
): string {
  const shown = labels
    .map((field) => (isObject(entry) ? entry[field] : undefined))
    .find((value) => typeof value === 'string' && value !== '');
  return `${noun} ${index + 1}${shown === undefined ? '' : ` (${String(shown).slice(0, 100)})`}`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A fault for each field of the entry that is not one of these. */
export const unknownFields = (entry: object, fields: readonly string[]): string[] =>
  Object.keys(entry)
    .filter((key) => !fields.includes(key))
    .map((key) => `"${key.slice(0, 40)}" is not a known field${suggestion(key, fields)}`);

/** What a mistyped name may stand for; empty if nothing is similar. */
export function suggestion(value: unknown, names: readonly string[]): string {
  const closest = typeof value === 'string' ? closestName(value.toLowerCase(), [...names]) : null;
  return closest === null ? '' : `. Did you mean "${closest}"?`;
}

export const isText = (value: unknown, pattern: RegExp): value is string =>
  typeof value === 'string' && pattern.test(value);

/** The names of entries, which commands, paths of the API and the database use: `..` would be another path. */
export const ENTRY_NAME = /^(?=.*\w)[\w.@+-]{1,100}$/;
export const ENTRY_NAME_RULE = 'must be up to 100 letters, digits, dots, hyphens or underscores';

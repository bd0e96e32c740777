/** A body that an operation takes, made from its schema: what must be there, and what shows best what may be. */

import type { JsonSchema } from './operations.ts';
import { withoutNull } from './schema-words.ts';

/** Names tell more than types: what a value of this name could be. */
const BY_NAME: [name: RegExp, example: unknown][] = [
  [/e?mail$|recipients?$/, 'alex@example.com'],
  [/password$/, 'four words make one'],
  [/token$/, 'the-token-of-the-link'],
  [/url$/, 'https://example.com/hook'],
  [/domain$|hostname$/, 'example.com'],
  [/ip$/, '192.0.2.1'],
  [/timezone$/, 'Europe/Berlin'],
  [/\b(?:me|members|accept)\.name$/, 'Alex Morgan'],
  [/\bapi_keys\.name$/, 'Build pipeline'],
  [/selector$/, 's1'],
  [/name$/, 'Spring newsletter'],
];
const ID_PART = '01jd3v9mzq4x8c2n7t5r6w1y0b';
const ID_PREFIXES: Record<string, string> = {
  new_owner: 'mem',
  member: 'mem',
  test: 'test',
  monitor: 'mon',
  domain: 'dom',
};

/** A value that the schema takes. `name` is what it is called, behind what it belongs to: `tests.name`. */
export function exampleOf(given: JsonSchema, name = ''): unknown {
  const { schema } = withoutNull(given);
  if (schema.examples) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (given.default !== undefined && !isEmpty(given.default)) return given.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0]!, name);
  if (schema.type === 'object') return exampleObject(schema, name);
  if (schema.type === 'array')
    return [exampleOf(schema.items ?? {}, name.replace(/ies$/, 'y').replace(/s$/, ''))];
  if (schema.type === 'boolean') return true;
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  return exampleText(schema, name);
}

function exampleObject(schema: JsonSchema, name: string): Record<string, unknown> {
  if (!schema.properties && typeof schema.additionalProperties === 'object')
    return { campaign: exampleOf(schema.additionalProperties, 'campaign') };
  const shown = Object.entries(schema.properties ?? {}).filter(
    ([key, field]) => schema.required?.includes(key) || isTelling(key, field),
  );
  return Object.fromEntries(shown.map(([key, field]) => [key, exampleOf(field, `${name}.${key}`)]));
}

/** Of what may be left out: what has a value to choose, a name, a switch or pairs. Secrets and references stay out. */
function isTelling(name: string, given: JsonSchema): boolean {
  if (/password|token|_ids?$/.test(name)) return false;
  const { schema } = withoutNull(given);
  return (
    given.default !== undefined ||
    schema.enum !== undefined ||
    /name$|^enabled$/.test(name) ||
    typeof schema.additionalProperties === 'object'
  );
}

function exampleText(schema: JsonSchema, name: string): string {
  if (schema.format === 'email') return 'alex@example.com';
  if (schema.format === 'idn-hostname') return 'example.com';
  if (schema.format === 'date-time') return '2026-11-21T10:00:00.000Z';
  const id = /(?:^|\.)(\w+)_id$/.exec(name);
  if (id) return `${ID_PREFIXES[id[1]!] ?? id[1]!.slice(0, 3)}_${ID_PART}`;
  const known = BY_NAME.find(([pattern]) => pattern.test(name));
  return known ? String(known[1]) : 'spring';
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** What a hostile client may send, for fast-check: values, paths, queries, header fields and bodies. */

import fc from 'fast-check';
import type { Route } from '../../src/http/route.ts';
import {
  BROKEN_JSON,
  FORMS,
  HEADERS,
  MESSAGES,
  PLAUSIBLE,
  RAW_JSON,
  TEXTS,
  TYPES,
} from './hostile-texts.ts';

export interface Hostile {
  /** Encoded, one for each variable part. */
  params: string[];
  query: [string, string][];
  headers: [string, string][];
  body: string | Uint8Array | null;
  type: string | null;
  /** An index into the credentials of the caller. */
  credential: number;
}

/** The names of the fields that a schema of an object declares. */
const entriesOf = (schema: unknown): object =>
  (schema as { entries?: object } | undefined)?.entries ?? {};

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);

const jsonText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...RAW_JSON) },
  { weight: 3, arbitrary: text.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
);

function fieldOf(name: string): fc.Arbitrary<string> {
  const good = (PLAUSIBLE[name] ?? ['x']).map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...good) },
    { weight: 2, arbitrary: jsonText },
  );
}

/** An object of the fields of the route, of others, and of the same twice, in any order. */
function objectOf(route: Route): fc.Arbitrary<string> {
  const own = Object.keys(entriesOf(route.body));
  const pair = (name: string) => fieldOf(name).map((value) => `${JSON.stringify(name)}:${value}`);
  const strange = fc
    .tuple(text, jsonText)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return fc
    .tuple(
      fc.tuple(...own.map((name) => fc.option(pair(name), { freq: 6, nil: null }))),
      fc.array(fc.oneof(strange, ...own.map(pair)), { maxLength: 2, size: 'small' }),
      fc.boolean(),
    )
    .map(([fields, more, bare]) => {
      const all = [...fields.filter((field) => field !== null), ...(bare ? [] : more)];
      return `{${all.join(',')}}`;
    });
}

function bodyOf(route: Route): fc.Arbitrary<string | Uint8Array | null> {
  if (route.method === 'GET') return fc.constant(null);
  const plain = route.consumes
    ? fc.constantFrom(...(route.consumes.type === 'message/rfc822' ? MESSAGES : FORMS))
    : objectOf(route);
  return fc.oneof(
    { weight: 8, arbitrary: plain },
    { weight: 1, arbitrary: jsonText },
    { weight: 1, arbitrary: fc.constantFrom(...BROKEN_JSON) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

const header = fc.constantFrom(
  ...HEADERS.flatMap(([name, values]) => values.map((value): [string, string] => [name, value])),
);

/** None that waits: the clock of these requests stands still. */
const waits = ([name, value]: [string, string]) => name === 'wait' && Number(value) > 0;

function queryOf(route: Route): fc.Arbitrary<[string, string][]> {
  const names = [...Object.keys(entriesOf(route.query)), 'limit', '__proto__', 'a[b]', '', 'x'];
  const pair = fc.tuple(fc.constantFrom(...names), text);
  return fc
    .array(pair, { maxLength: 3, size: 'small' })
    .map((all) => all.filter((one) => !waits(one)));
}

/** Requests to this route; `ids` are those of real objects, a slot for each that is filled later. */
export function hostileRequest(route: Route, credentials: number): fc.Arbitrary<Hostile> {
  const variable = [...route.path.matchAll(/:\w+/g)].length;
  const param = fc.oneof(
    { weight: 3, arbitrary: text.map((value) => encodeURIComponent(value.toWellFormed())) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('%', '%ff', '%00', '%2e%2e', '..;', 'a%0d%0ab', '~', '%c0%ae'),
    },
    { weight: 2, arbitrary: fc.constant(REAL) },
  );
  const own = route.consumes?.type ?? 'application/json';
  return fc.record({
    params: fc.tuple(...Array.from({ length: variable }, () => param)),
    query: fc.oneof(
      { weight: 2, arbitrary: fc.constant<[string, string][]>([]) },
      { weight: 1, arbitrary: queryOf(route) },
    ),
    headers: fc.array(header, { maxLength: 2, size: 'small' }),
    body: bodyOf(route),
    type: fc.oneof(
      { weight: 9, arbitrary: fc.constant(own) },
      { weight: 1, arbitrary: fc.constantFrom(null, ...TYPES) },
    ),
    // The first, an owner's, most often: what may nothing is refused at the door.
    credential: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.nat({ max: credentials - 1 }) },
    ),
  });
}

/** Stands for the id of an object that exists. */
export const REAL = 'REAL';

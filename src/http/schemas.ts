/** Schemas that many routes share, and pagination (contract §1). */

import type { SelectQueryBuilder } from 'kysely';
import * as v from 'valibot';
import { AppError, invalidParams } from '../lib/errors.ts';
import { ID_NOUNS, type IdPrefix } from '../lib/ids.ts';
import { canonicalTimeZone, isTimeZone } from '../lib/time-zones.ts';

/** A time in a response. */
export const Time = v.pipe(v.string(), v.isoTimestamp('must be an ISO 8601 date-time'));

/** A text in a response. */
export const Text = v.nullable(v.string());

/** A number of things in a response. */
export const Count = v.pipe(v.number(), v.integer());

// Documentation of schemas. It changes neither types nor validation.

/** What `named` adds to a schema. `http/openapi` moves such a schema to `components.schemas`. */
export interface SchemaName {
  name: string;
  description: string;
  example?: unknown;
}

type Item = { kind: string } & v.GenericSchema;

/** The schema and the actions of a pipe, including those of nested pipes. */
const itemsOf = (schema: v.GenericSchema): Item[] =>
  'pipe' in schema
    ? (schema.pipe as Item[]).flatMap((item) => (item.kind === 'schema' ? itemsOf(item) : item))
    : [schema as Item];

/** Inserts the action before any transformation, because the documentation includes nothing after it. */
function documented<S extends v.GenericSchema>(schema: S, action: unknown): S {
  const [first, ...rest] = itemsOf(schema) as [Item, ...Item[]];
  const end = rest.findIndex(({ kind }) => kind === 'schema' || kind === 'transformation');
  const items = rest.toSpliced(end === -1 ? rest.length : end, 0, action as Item);
  return v.pipe(first, ...(items as never as [])) as v.GenericSchema as S;
}

/** Adds a description for the documentation, in full sentences, and perhaps an example. */
export function described<S extends v.GenericSchema>(
  schema: S,
  text: string,
  example?: v.InferInput<S>,
): S {
  const withText = documented(schema, v.description(text));
  return example === undefined ? withText : documented(withText, v.examples([example]));
}

/**
 * Names a schema in the documentation. The example is one value, and its fields are the examples of
 * the fields that have none of their own. What it leaves out comes from the fields: all, with `{}`.
 */
export function named<S extends v.GenericSchema>(
  name: string,
  schema: S,
  description: string,
  example?: Partial<v.InferInput<S>>,
): S {
  const metadata: SchemaName = { name, description, ...(example === undefined ? {} : { example }) };
  return documented(schema, v.metadata({ $component: metadata }));
}

/** The name that `named` gave to a schema; undefined without one. */
export function nameOf(schema: v.GenericSchema): string | undefined {
  for (const item of itemsOf(schema).toReversed()) {
    const { metadata } = item as { metadata?: { $component?: SchemaName } };
    if (metadata?.$component) return metadata.$component.name;
  }
  return undefined;
}

/** An ID with this prefix in the documentation. */
export const exampleId = (prefix: IdPrefix): string => `${prefix}_01kag5z7m8q4x2c9n6t3r1w5y0`;

/** A URL in a response. */
export const Url = v.pipe(v.string(), v.metadata({ format: 'uri' }));

/** One of these values, in a request. */
export const oneOf = <const Values extends readonly string[]>(values: Values) =>
  v.picklist(values, `must be one of ${values.join(', ')}`);

/** The meaning of each value, for a description. */
export const meaningsOf = (values: Record<string, { meaning: string }>): string =>
  Object.entries(values)
    .map(([value, { meaning }]) => `\`${value}\`: ${meaning}.`)
    .join(' ');

/** The response of a DELETE request. */
export function deletedOf<const Type extends string>(type: Type, prefix: IdPrefix) {
  const name = type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return named(
    `Deleted${name}`,
    v.object({
      id: idOf(prefix, 'The ID of the deleted object.'),
      object: typeField(type),
      deleted: described(v.literal(true), 'Always true.'),
    }),
    `Confirms that a \`${type}\` was deleted.`,
  );
}

/** The ID of an object in a response, or in the path of an operation. */
export const idOf = (prefix: IdPrefix, text = `The ID of the ${ID_NOUNS[prefix]}.`) =>
  described(v.string(), text, exampleId(prefix));

/** The `object` field, which names the type of an object. */
export const typeField = <const Type extends string>(type: Type) =>
  described(v.literal(type), `The type of the object. Always \`${type}\`.`);

/** The `livemode` field of objects that exist in both modes. */
export const LIVEMODE = described(
  v.boolean(),
  'True for live mode. False if a test-mode key created the object.',
);

/** Bidirectional controls and line separators: in a name, they could disguise the text around it. */
const BIDI_CONTROL = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
/** A character that isn't blank, invisible, or a combining mark. */
const VISIBLE = /[^\s\p{C}\p{Z}\p{M}\u115f\u1160\u2800\u3164\uffa0]/u;

/**
 * Limits a text to `max` characters (code points), as JSON Schema counts them. Valibot counts UTF-16
 * units, in which an emoji has two.
 */
export function maxCharacters(max: number, message: string) {
  const limit = v.maxLength<string, number, string>(max, message);
  const run = limit['~run'].bind(limit);
  const withCodePoints: typeof run = (dataset, config) =>
    dataset.typed && characterCount(dataset.value, max) <= max ? dataset : run(dataset, config);
  return { ...limit, '~run': withCodePoints };
}

/** In code points. Doesn't count a text that is certainly longer than `max`. */
export function characterCount(text: string, max: number): number {
  return text.length > 2 * max ? text.length : [...text].length;
}

/** A line that people enter: 1 to `max` characters, at least one of them visible. */
export const lineOfText = (max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.minLength(1, 'must not be empty'),
    maxCharacters(max, `must have at most ${max} characters`),
    v.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'must not contain control characters'),
    v.check((text) => text.isWellFormed(), 'must be well-formed Unicode'),
    v.check(
      (text) => !BIDI_CONTROL.test(text),
      'must not contain characters that change the text direction',
    ),
    v.check((text) => text === '' || VISIBLE.test(text), 'must not be blank'),
  );

/** A name that people enter: 1 to 200 characters, at least one of them visible. It is trimmed. */
// Trimmed last, because the documentation includes nothing after a transformation.
export const Name = v.pipe(lineOfText(200), v.trim());

/** The name of a time zone, in any case. */
export const TimeZone = v.pipe(
  v.string('must be a string'),
  v.check(isTimeZone, 'must be an IANA time zone name, such as Europe/Berlin'),
  v.metadata({ jsonSchema: { type: 'string', minLength: 1, maxLength: 64 } }),
  v.transform(canonicalTimeZone),
);

/** In JSON, where a number is not a text. */
export const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

/** An integer in the query. Documented as an integer, although query values are strings. */
export function queryInteger(min: number, max: number) {
  return v.pipe(
    v.string(),
    v.regex(/^-?\d{1,15}$/, 'must be a whole number'),
    // Before the transformation, because the documentation includes nothing after it.
    v.metadata({ jsonSchema: { type: 'integer', minimum: min, maximum: max } }),
    v.transform(Number),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );
}

/** `Date.parse` accepts 31 February as a day in March. */
function isValidDateTime(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && !Number.isNaN(Date.parse(text));
}

/** A time in the query, normalized to the stored format. */
export const QueryTime = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/,
    'must be an ISO 8601 date or date-time with a time zone',
  ),
  v.check(isValidDateTime, 'must be a real date and time'),
  v.metadata({ jsonSchema: { type: 'string', format: 'date-time' } }),
  v.transform((text) => new Date(text).toISOString()),
);

/** Any text: `fetchPage` rejects one that isn't the ID of an object in the list. */
const Cursor = v.string();

/** The query parameters of every list. At most one of the cursors may be set. */
export const PAGE_QUERY = {
  limit: described(
    v.optional(queryInteger(1, 100), '20'),
    'The maximum number of objects to return.',
  ),
  starting_after: v.optional(
    described(
      Cursor,
      'The ID of the last object on the current page. Returns the next page. An ID that is not in the list gets `invalid_cursor`.',
    ),
  ),
  ending_before: v.optional(
    described(
      Cursor,
      'The ID of the first object on the current page. Returns the previous page. An ID that is not in the list gets `invalid_cursor`.',
    ),
  ),
};

export interface Page {
  limit: number;
  starting_after?: string;
  ending_before?: string;
}

/** `{object: "list", data, has_more}`. Named after its items: `TestList` for `Test` or `TestListItem`. */
export function listSchema<S extends v.GenericSchema>(item: S) {
  const schema = v.object({
    object: typeField('list'),
    data: described(v.array(item), 'The objects of this page.'),
    has_more: described(v.boolean(), 'Whether more objects follow in this direction.'),
  });
  const itemName = nameOf(item);
  if (itemName === undefined) return schema;
  const name = `${itemName.replace(/ListItem$/, '')}List`;
  return named(name, schema, `One page of a list of \`${itemName}\` objects.`);
}

/** A page as `listSchema` describes it. */
export const listOf = <Item>(data: Item[], hasMore: boolean) => ({
  object: 'list' as const,
  data,
  has_more: hasMore,
});

type Rows<DB, TB extends keyof DB, Row> = SelectQueryBuilder<DB, TB, Row>;

/**
 * One page of rows by id, newest first. Rows inserted in the meantime don't shift the pages. `scope`
 * selects all rows that a cursor may name. Without it, these are the rows of `query`: pass it if the
 * query has filters, because a row may stop matching them between two pages. Throws
 * `validation_failed` if both cursors are set, and `invalid_cursor` for one outside the scope.
 */
export async function fetchPage<DB, TB extends keyof DB, Row extends { id: string }>(
  query: Rows<DB, TB, Row>,
  page: Page,
  scope: Rows<DB, TB, object> = query,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  await requireCursors(page, async (cursor) => {
    const named = scope.where('id' as never, '=', cursor as never).clearSelect();
    return (await named.select('id' as never).executeTakeFirst()) !== undefined;
  });
  return selectPage(query, page);
}

/** One page after or before an ID that need not exist. */
export async function selectPage<DB, TB extends keyof DB, Row extends { id: string }>(
  query: Rows<DB, TB, Row>,
  { limit, starting_after, ending_before }: Page,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  const id = 'id' as never;
  let paged = query.limit(limit + 1);
  if (starting_after !== undefined) paged = paged.where(id, '<', starting_after as never);
  if (ending_before !== undefined) paged = paged.where(id, '>', ending_before as never);
  const backwards = ending_before !== undefined;
  const found = await paged.orderBy(id, backwards ? 'asc' : 'desc').execute();
  const rows = found.slice(0, limit) as Row[];
  if (backwards) rows.reverse();
  return { rows, hasMore: found.length > limit };
}

const CURSORS = ['starting_after', 'ending_before'] as const;

/**
 * Throws `validation_failed` if both cursors are set, and `invalid_cursor` for one that isn't in the
 * list. Without this, a client with a wrong cursor would take an empty page for the end of the list.
 */
export async function requireCursors(
  page: Partial<Page>,
  isInList: (cursor: string) => Promise<boolean> | boolean,
): Promise<void> {
  if (CURSORS.every((param) => page[param] !== undefined)) throw bothCursorsError();
  for (const param of CURSORS) {
    const cursor = page[param];
    if (cursor !== undefined && !(await isInList(cursor))) throw cursorError(param, cursor);
  }
}

const MAX_QUOTED_CURSOR = 60;

function cursorError(param: string, cursor: string): AppError {
  const quoted =
    cursor.length > MAX_QUOTED_CURSOR ? `${cursor.slice(0, MAX_QUOTED_CURSOR)}…` : cursor;
  const message = `"${quoted.toWellFormed()}" is not the ID of an object in this list`;
  return new AppError('invalid_cursor', `Invalid ${param}: ${message}.`, [
    { param, code: 'invalid_cursor', message },
  ]);
}

function bothCursorsError(): AppError {
  const [after, before] = CURSORS;
  return invalidParams([
    { param: after, code: 'invalid', message: `must not be combined with ${before}` },
    { param: before, code: 'invalid', message: `must not be combined with ${after}` },
  ]);
}

/**
 * A query parameter with several values, separated by commas: an array of at most `max` items. An empty one has no
 * values.
 */
export const separatedList = <Item extends v.GenericSchema<string, string>>(
  item: Item,
  max: number,
) =>
  v.pipe(
    v.string(),
    v.transform((text) => (text === '' ? [] : text.split(','))),
    v.array(item),
    v.maxLength(max, `must have at most ${max} values`),
    noDuplicates('is a duplicate'),
  );

/** Adds an issue for each repeated value of an array. */
export const noDuplicates = (message: string) =>
  v.rawCheck<string[]>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value: input } = dataset;
    input.forEach((value, key) => {
      if (input.indexOf(value) < key)
        addIssue({ message, path: [{ type: 'array', origin: 'value', input, key, value }] });
    });
  });

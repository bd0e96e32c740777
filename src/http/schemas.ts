/** Schemas that many routes share, and pagination (contract §1). */

import type { SelectQueryBuilder } from 'kysely';
import * as v from 'valibot';
import { type AppError, invalidParams } from '../lib/errors.ts';

/** A time in a response. */
export const Time = v.pipe(v.string(), v.isoTimestamp('must be an ISO 8601 date-time'));

/** Adds a description for the documentation: full sentences. */
export const described = <S extends v.GenericSchema>(schema: S, text: string) =>
  v.pipe(schema, v.description(text));

/** Bidirectional controls and line separators: in a name, they could disguise the text around it. */
const BIDI_CONTROL = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
/** A character that isn't blank, invisible, or a combining mark. */
const VISIBLE = /[^\s\p{C}\p{Z}\p{M}\u115f\u1160\u2800\u3164\uffa0]/u;

/** A name that people enter: 1 to 200 characters, at least one of them visible. It is trimmed. */
export const Name = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'must have at most 200 characters'),
  v.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'must not contain control characters'),
  v.check((text) => text.isWellFormed(), 'must be well-formed Unicode'),
  v.check(
    (text) => !BIDI_CONTROL.test(text),
    'must not contain characters that change the text direction',
  ),
  v.check((text) => text === '' || VISIBLE.test(text), 'must not be blank'),
  // Last, because the documentation includes nothing after a transformation.
  v.trim(),
);

/** An integer in the query, and documented as one although query values are strings. */
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

const Cursor = v.pipe(
  v.string(),
  v.minLength(1, 'must be an ID'),
  v.maxLength(100, 'must have at most 100 characters'),
);

/** The query parameters of every list. At most one of the cursors may be set. */
export const PAGE_QUERY = {
  limit: described(
    v.optional(queryInteger(1, 100), '20'),
    'The maximum number of objects to return.',
  ),
  starting_after: v.optional(
    described(Cursor, 'The ID of the last object on the current page. Returns the next page.'),
  ),
  ending_before: v.optional(
    described(Cursor, 'The ID of the first object on the current page. Returns the previous page.'),
  ),
};

export interface Page {
  limit: number;
  starting_after?: string;
  ending_before?: string;
}

/** `{object: "list", data, has_more}`. */
export function listSchema<S extends v.GenericSchema>(item: S) {
  return v.object({ object: v.literal('list'), data: v.array(item), has_more: v.boolean() });
}

/**
 * One page of rows by id, newest first. Rows inserted in the meantime don't shift the pages. Throws
 * `validation_failed` if both cursors are set.
 */
export async function fetchPage<DB, TB extends keyof DB, Row extends { id: string }>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { limit, starting_after, ending_before }: Page,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  if (starting_after !== undefined && ending_before !== undefined) throw bothCursors();
  const id = 'id' as never;
  let paged = query.limit(limit + 1);
  if (starting_after) paged = paged.where(id, '<', starting_after as never);
  if (ending_before) paged = paged.where(id, '>', ending_before as never);
  const backwards = ending_before !== undefined;
  const found = await paged.orderBy(id, backwards ? 'asc' : 'desc').execute();
  const rows = found.slice(0, limit) as Row[];
  if (backwards) rows.reverse();
  return { rows, hasMore: found.length > limit };
}

function bothCursors(): AppError {
  const [after, before] = ['starting_after', 'ending_before'] as const;
  return invalidParams([
    { param: after, code: 'invalid', message: `must not be combined with ${before}` },
    { param: before, code: 'invalid', message: `must not be combined with ${after}` },
  ]);
}

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

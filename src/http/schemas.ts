/** Small schemas that many routes share, and the conventions of lists (contract §1). */

import type { SelectQueryBuilder } from 'kysely';
import * as v from 'valibot';
import { AppError } from '../lib/errors.ts';

/** A time as the API writes it. */
export const Time = v.pipe(v.string(), v.isoTimestamp('must be an ISO 8601 date-time'));

/** A field with what the documentation is to say of it, in sentences. */
export const described = <S extends v.GenericSchema>(schema: S, text: string) =>
  v.pipe(schema, v.description(text));

/** What turns the direction of text, or ends a line where nobody sees it: a name would lie about what stands beside it. */
const TURNS_TEXT = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
/** Neither blank, nor a sign that is drawn as nothing, nor a mark that needs a letter to stand on. */
const VISIBLE = /[^\s\p{C}\p{Z}\p{M}\u115f\u1160\u2800\u3164\uffa0]/u;

/** A name that people give: 1–200 characters that can be seen and shown; blanks around it are cut off. */
export const Name = v.pipe(
  v.string('must be text'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'must have at most 200 characters'),
  v.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'must have no control characters'),
  v.check((text) => text.isWellFormed(), 'must be well-formed Unicode'),
  v.check(
    (text) => !TURNS_TEXT.test(text),
    'must have no characters that turn the direction of text',
  ),
  v.check((text) => text === '' || VISIBLE.test(text), 'must not be blank'),
  // Behind the others: what comes after a transformation is not part of what is documented.
  v.trim(),
);

/** A whole number in the query; documented as one, although it comes as text. */
export function queryInteger(min: number, max: number) {
  return v.pipe(
    v.string(),
    v.regex(/^-?\d{1,15}$/, 'must be a whole number'),
    // Before the transformation: what comes after it is not part of what is documented.
    v.metadata({ jsonSchema: { type: 'integer', minimum: min, maximum: max } }),
    v.transform(Number),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );
}

/** `Date.parse` turns the 31st of February into a day of March. */
function existsAsTime(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && !Number.isNaN(Date.parse(text));
}

/** A time in the query, normalised to the form in which times are kept. */
export const QueryTime = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/,
    'must be an ISO 8601 date or date-time with its zone',
  ),
  v.check(existsAsTime, 'must be a time that exists'),
  v.metadata({ jsonSchema: { type: 'string', format: 'date-time' } }),
  v.transform((text) => new Date(text).toISOString()),
);

const Cursor = v.pipe(
  v.string(),
  v.minLength(1, 'must be an id'),
  v.maxLength(100, 'must have at most 100 characters'),
);

/** The query of every list; filters are added to it. Of the two cursors only one may be given. */
export const PAGE = {
  limit: v.optional(queryInteger(1, 100), '20'),
  starting_after: v.optional(Cursor),
  ending_before: v.optional(Cursor),
};

export interface Page {
  limit: number;
  starting_after?: string;
  ending_before?: string;
}

/** `{object: "list", data, has_more}`. */
export function listOf<S extends v.GenericSchema>(item: S) {
  return v.object({ object: v.literal('list'), data: v.array(item), has_more: v.boolean() });
}

/**
 * One page of rows, newest first, by id: correct while rows are added. Throws `validation_failed` for
 * both cursors at once.
 */
export async function pageOf<DB, TB extends keyof DB, Row extends { id: string }>(
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
  const params = ['starting_after', 'ending_before'];
  return new AppError(
    'validation_failed',
    `Wrong: ${params.join(', ')}.`,
    params.map((param) => ({
      param,
      code: 'invalid',
      message: 'must not be given with the other',
    })),
  );
}

// Lists that name nothing twice.

/** Names each that was there before. */
export const eachOnce = (message: string) =>
  v.rawCheck<string[]>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value: input } = dataset;
    input.forEach((value, key) => {
      if (input.indexOf(value) < key)
        addIssue({ message, path: [{ type: 'array', origin: 'value', input, key, value }] });
    });
  });

/** Shared reports as the API takes and answers them, and as whoever has the link reads them (contract §5). */

import * as v from 'valibot';
import { eachOnce, Name, PAGE, Time } from '../http/schemas.ts';
import { Test } from '../mailtests/schema.ts';

const MOST_TESTS = 100;
const WEEK_S = 604_800;
const YEAR_S = 31_536_000;

const TestId = v.pipe(
  v.string('must be the id of a test'),
  v.minLength(1, 'must be the id of a test'),
  v.maxLength(100, 'must have at most 100 characters'),
);

export const NewShare = v.pipe(
  v.strictObject({
    test_ids: v.pipe(
      v.array(TestId, 'must be a list of ids of tests'),
      v.minLength(1, 'must name a test at least'),
      v.maxLength(MOST_TESTS, `must name at most ${MOST_TESTS} tests`),
      eachOnce('is a test that is named before'),
    ),
    expires_in: v.optional(
      v.pipe(
        v.number('must be a number of seconds'),
        v.integer('must be a whole number'),
        v.minValue(60, 'must be at least 60'),
        v.maxValue(YEAR_S, `must be at most ${YEAR_S}`),
      ),
      WEEK_S,
    ),
    title: v.optional(v.nullable(Name)),
  }),
  v.metadata({
    examples: [{ test_ids: ['test_01jd6wz3c1h5g7b9d2f4k6m8p0'], title: 'The spring newsletter' }],
  }),
);
export type NewShare = v.InferOutput<typeof NewShare>;

const SHARE = {
  id: v.string(),
  object: v.literal('shared_report'),
  title: v.nullable(v.string()),
  /** As they were shared; some may have been deleted since. */
  test_ids: v.array(v.string()),
  expires_at: Time,
  created_at: Time,
  revoked_at: v.nullable(Time),
  view_count: v.pipe(v.number(), v.integer()),
  last_viewed_at: v.nullable(Time),
};

/** The link is an admin's to see again; null for everybody else. */
export const Share = v.object({
  ...SHARE,
  url: v.nullable(v.string()),
  token: v.nullable(v.string()),
});
export type Share = v.InferOutput<typeof Share>;
export const ShareWithLink = v.object({ ...SHARE, url: v.string(), token: v.string() });

export const ShareListQuery = v.strictObject(PAGE);

/** What others add to a link is nothing to it: any other text is taken for none. */
export const FormQuery = v.object({ format: v.optional(v.string()) });

/** Neither how the test is written to nor what the team noted down about it. A new field is not public. */
export const PublicTest = v.pick(Test, [
  'id',
  'object',
  'status',
  'failure_reason',
  'name',
  'kind',
  'created_at',
  'expires_at',
  'received_at',
  'completed_at',
  'score',
  'grade',
  'summary',
  'coverage',
  'from_address',
  'subject',
  'message_size',
  'line_ends_converted',
  'auth_results',
  'inbox_placement',
  'categories',
  'ruleset',
  'previous',
  'cap',
  'checks',
  'judged_kind',
  'providers',
  'placement',
]);

export const PublicReport = v.object({
  object: v.literal('public_report'),
  title: v.nullable(v.string()),
  created_at: Time,
  expires_at: Time,
  /** How many were deleted after they had been shared. */
  deleted_tests: v.pipe(v.number(), v.integer()),
  tests: v.array(PublicTest),
});

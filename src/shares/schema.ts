/** Schemas of shared reports, for the team and for the public (contract §5). */

import * as v from 'valibot';
import { described, Name, noDuplicates, PAGE_QUERY, Time } from '../http/schemas.ts';
import { Test } from '../mailtests/schema.ts';

const MAX_TESTS = 100;
const WEEK_S = 604_800;
const YEAR_S = 31_536_000;

const TestId = v.pipe(
  v.string('must be the ID of a test'),
  v.minLength(1, 'must be the ID of a test'),
  v.maxLength(100, 'must have at most 100 characters'),
);

export const NewShare = v.pipe(
  v.strictObject({
    test_ids: v.pipe(
      v.array(TestId, 'must be a list of test IDs'),
      v.minLength(1, 'must contain at least one test'),
      v.maxLength(MAX_TESTS, `must contain at most ${MAX_TESTS} tests`),
      noDuplicates('is a duplicate'),
    ),
    expires_in: v.optional(
      v.pipe(
        v.number('must be a number of seconds'),
        v.integer('must be a whole number'),
        v.minValue(60, 'must be at least 60'),
        v.maxValue(YEAR_S, `must be at most ${YEAR_S}`),
        v.description('Seconds until the link expires.'),
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
  test_ids: described(
    v.array(v.string()),
    'The shared tests, in display order. Some may have been deleted since.',
  ),
  expires_at: Time,
  created_at: Time,
  revoked_at: described(v.nullable(Time), 'When the link was revoked. Null if it was not revoked.'),
  view_count: described(
    v.pipe(v.number(), v.integer()),
    'Number of times the report was opened, in any format.',
  ),
  last_viewed_at: v.nullable(Time),
};

export const Share = v.object({
  ...SHARE,
  url: described(
    v.nullable(v.string()),
    'The shared link. Null unless you are an admin or the owner.',
  ),
  token: described(
    v.nullable(v.string()),
    'The secret part of the link. Null unless you are an admin or the owner.',
  ),
});
export type Share = v.InferOutput<typeof Share>;
export const ShareWithLink = v.object({ ...SHARE, url: v.string(), token: v.string() });

export const ShareListQuery = v.strictObject(PAGE_QUERY);

/** Unknown parameters and values are ignored: email clients and trackers add their own. */
export const FormQuery = v.object({ format: v.optional(v.string()) });

/** Excludes the test address and the team's own notes. A new field of `Test` is not public until it is added here. */
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
  deleted_tests: described(
    v.pipe(v.number(), v.integer()),
    'Number of shared tests that have since been deleted.',
  ),
  tests: v.array(PublicTest),
});

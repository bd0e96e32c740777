/** The filters of lists and exports of tests. */

import * as v from 'valibot';
import {
  described,
  exampleId,
  maxCharacters,
  PAGE_QUERY,
  QueryTime,
  queryInteger,
  separatedList,
} from '../../http/schemas.ts';
import { Tag } from '../../http/tags.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { TEST_STATUSES } from '../schema.ts';

/** Two pages of the longest lists. */
export const MAX_FILTER_IDS = 200;

const FILTERS = {
  ids: v.optional(
    described(
      separatedList(v.string(), MAX_FILTER_IDS),
      `Only these tests: up to ${MAX_FILTER_IDS} IDs, separated by commas. Unknown ones are ignored.`,
      exampleId('test'),
    ),
  ),
  status: described(v.optional(v.picklist(TEST_STATUSES)), 'Only tests with this status.'),
  inbox_id: described(
    v.optional(v.string()),
    'Only tests of messages to this inbox.',
    exampleId('ibx'),
  ),
  domain_id: described(
    v.optional(v.string()),
    'Only tests of this domain of your team.',
    exampleId('dom'),
  ),
  from_domain: v.optional(
    described(
      v.pipe(
        v.string(),
        v.check((name) => normalizeDomain(name) !== null, 'must be a domain name'),
        v.transform((name) => normalizeDomain(name)!),
      ),
      'Only tests of messages with this domain in the From address.',
      'example.com',
    ),
  ),
  from_address: described(
    v.optional(v.string()),
    'Only tests of messages with exactly this From address. Its case does not matter.',
    'news@example.com',
  ),
  name: described(
    v.optional(v.string()),
    'Only tests with exactly this name.',
    'Spring newsletter',
  ),
  tag: v.optional(
    described(Tag, 'Only tests with this tag. Its case does not matter.', 'newsletter'),
  ),
  created_after: described(v.optional(QueryTime), 'Only tests created at or after this time.'),
  created_before: described(v.optional(QueryTime), 'Only tests created before this time.'),
  min_score: described(v.optional(queryInteger(0, 100)), 'Only tests with at least this score.'),
  max_score: described(v.optional(queryInteger(0, 100)), 'Only tests with at most this score.'),
  q: v.optional(
    described(
      v.pipe(v.string(), maxCharacters(200, 'must have at most 200 characters')),
      'Text to search for in the name, the subject and the sender.',
      'newsletter',
    ),
  ),
};

export const TestFilters = v.strictObject(FILTERS);

export type TestFilters = v.InferOutput<typeof TestFilters>;

/** An export reads all tests anyway, so it needs no index for its filters. */
export const TestExportQuery = v.strictObject({
  ...FILTERS,
  completed_after: described(
    v.optional(QueryTime),
    'Only tests that completed or failed at or after this time, by which summaries count tests.',
  ),
  completed_before: described(
    v.optional(QueryTime),
    'Only tests that completed or failed before this time.',
  ),
});

export type TestExportQuery = v.InferOutput<typeof TestExportQuery>;

export const TestListQuery = v.strictObject({ ...PAGE_QUERY, ...FILTERS });

export const WaitQuery = v.strictObject({
  wait: described(
    v.optional(queryInteger(0, 50), '0'),
    'The maximum number of seconds to wait for the test to end.',
  ),
  for: described(
    v.optional(v.picklist(['result', 'placement']), 'result'),
    'What to wait for: the result of the analysis, or also the final placement.',
  ),
});

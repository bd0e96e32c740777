/** The period in queries and sums of feedback. */

import * as v from 'valibot';
import { described, exampleId } from '../../http/schemas.ts';
import { isDay } from '../../lib/clock.ts';

/** A day in the query. */
export const Day = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\d$/, 'must be a day such as 2026-11-21'),
  v.check((text) => isDay(text), 'must be a real day from 1980 to 2199'),
  v.metadata({ jsonSchema: { type: 'string', format: 'date' } }),
);

export const PERIOD_QUERY = {
  from: described(
    v.optional(Day),
    'The first day, in UTC. The default is 29 days before `to`.',
    '2026-11-01',
  ),
  to: described(v.optional(Day), 'The last day, in UTC. The default is today.', '2026-11-30'),
};

export const DOMAIN_ID = described(
  v.optional(v.string()),
  'Only those of this domain.',
  exampleId('dom'),
);

// Sums.

export const SummaryQuery = v.strictObject({
  domain_id: v.string('is required'),
  ...PERIOD_QUERY,
});

export type SummaryQuery = v.InferOutput<typeof SummaryQuery>;

/** The period of a summary. */
export const DAYS = {
  domain_id: v.string(),
  from: v.string(),
  to: v.string(),
};

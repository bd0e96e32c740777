/** The operation that sums up a period of tests. */

import * as v from 'valibot';
import { requireDomain } from '../domains/queries.ts';
import { route } from '../http/route.ts';
import { described, Time } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { PERIODS, periodEndingAt, summarize } from './summary.ts';

// The summary of a period as the API answers it (contract §5).

const Period = v.picklist(PERIODS, `must be one of ${PERIODS.join(', ')}`);

const SummaryQuery = v.strictObject({
  period: v.optional(Period, 'week'),
  domain_id: v.optional(
    v.pipe(
      v.string('must be the id of a domain'),
      v.minLength(1, 'must be the id of a domain'),
      v.maxLength(100, 'must have at most 100 characters'),
    ),
  ),
});

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** The mean of the scores, rounded to two digits after the point; 0 where there is none. */
const MeanScore = v.pipe(v.number(), v.minValue(0), v.maxValue(100));
/** A fraction, rounded to four digits after the point; 0 where nothing is known. */
const Rate = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

const Means = {
  scored: described(
    Count,
    'How many of the tests have a score; with 0, `avg_score` tells nothing.',
  ),
  avg_score: MeanScore,
  inbox_rate: Rate,
  placement_samples: described(
    Count,
    'How many samples `inbox_rate` rests on; with 0 it tells nothing.',
  ),
};

export const ReportSummary = v.object({
  object: v.literal('report_summary'),
  period: Period,
  // The beginning of an hour: the present one is the last of the period.
  from: Time,
  to: Time,
  total_tests: Count,
  ...Means,
  grades: v.object({ A: Count, B: Count, C: Count, D: Count, F: Count }),
  auth_rates: v.object({ spf: Rate, dkim: Rate, dmarc: Rate }),
  auth_samples: described(
    v.object({ spf: Count, dkim: Count, dmarc: Count }),
    'How many results each rate rests on; with 0 it is 0 and tells nothing.',
  ),
  top_issues: v.array(v.object({ check: v.string(), issue: v.string(), count: Count })),
  previous: described(
    v.object({ total_tests: Count, ...Means }),
    'The full 24 hours, 7 days or 30 days before `from`. The period itself is shorter by up to an hour, as its last hour is not over.',
  ),
  trend: v.array(v.object({ from: Time, tests: Count, ...Means })),
});

const getSummary = route({
  method: 'GET',
  path: '/v1/reports/summary',
  operation: 'getReportSummary',
  role: 'viewer',
  summary: 'Sum up the completed tests of the last day, week or month, of one domain or of all',
  query: SummaryQuery,
  response: ReportSummary,
  async handle({ app, actor, query }) {
    const { period, domain_id = null } = query;
    await requireDomain(app.db, domain_id);
    const now = app.clock.now();
    const summary = await summarize(app.db, {
      ...periodEndingAt(now, period),
      livemode: actor.livemode,
      domains: domain_id === null ? null : [domain_id],
    });
    return { object: 'report_summary' as const, period, ...summary, to: isoTime(now) };
  },
});

export const summaryRoutes = [getSummary];

/** The operation that summarizes the tests of a period. */

import * as v from 'valibot';
import { requireDomain } from '../domains/queries.ts';
import { route } from '../http/route.ts';
import { described, Time } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { PERIODS, periodEndingAt, summarize } from './summary.ts';

// Schemas of the summary (contract §5).

const Period = v.picklist(PERIODS, `must be one of ${PERIODS.join(', ')}`);

const SummaryQuery = v.strictObject({
  period: v.optional(Period, 'week'),
  domain_id: v.optional(
    v.pipe(
      v.string('must be the ID of a domain'),
      v.minLength(1, 'must be the ID of a domain'),
      v.maxLength(100, 'must have at most 100 characters'),
    ),
  ),
});

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** Rounded to two decimals; 0 without scores. */
const MeanScore = v.pipe(v.number(), v.minValue(0), v.maxValue(100));
/** A fraction, rounded to four decimals; 0 without results. */
const Rate = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

const Means = {
  scored: described(Count, 'Number of tests with a score. If 0, ignore `avg_score`.'),
  avg_score: described(MeanScore, 'Average score of the tests that have one.'),
  inbox_rate: described(Rate, 'Share of placement samples in the inbox, from 0 to 1.'),
  placement_samples: described(
    Count,
    'Number of samples behind `inbox_rate`. If 0, ignore `inbox_rate`.',
  ),
};

export const ReportSummary = v.object({
  object: v.literal('report_summary'),
  period: Period,
  // A whole hour. The current hour is the last one of the period.
  from: Time,
  to: Time,
  total_tests: Count,
  ...Means,
  grades: v.object({ A: Count, B: Count, C: Count, D: Count, F: Count }),
  auth_rates: described(
    v.object({ spf: Rate, dkim: Rate, dmarc: Rate }),
    'Share of known results that are `pass`, from 0 to 1.',
  ),
  auth_samples: described(
    v.object({ spf: Count, dkim: Count, dmarc: Count }),
    'Number of known results behind each rate in `auth_rates`. If 0, ignore the rate.',
  ),
  top_issues: v.array(v.object({ check: v.string(), issue: v.string(), count: Count })),
  previous: described(
    v.object({ total_tests: Count, ...Means }),
    'The same figures for the 24 hours, 7 days or 30 days before `from`. The current period is up to one hour shorter because its last hour is incomplete.',
  ),
  trend: v.array(v.object({ from: Time, tests: Count, ...Means })),
});

const getSummary = route({
  method: 'GET',
  path: '/v1/reports/summary',
  operation: 'getReportSummary',
  role: 'viewer',
  summary: 'Summarize the tests of the last day, week or month, for one domain or for all',
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

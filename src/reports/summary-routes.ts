/** The operation that sums up a period of tests. */

import { requireDomain } from '../domains/require-domain.ts';
import { route } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { periodEndingAt, summarize } from './summary.ts';
import { ReportSummary, SummaryQuery } from './summary-schema.ts';

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

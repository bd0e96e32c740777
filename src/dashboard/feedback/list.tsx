/** The list of domains with what receivers report about them. */

import * as v from 'valibot';
import type { App } from '../../app.ts';
import { feedbackOf } from '../../domains/feedback/state.ts';
import { listDomains } from '../../domains/queries.ts';
import { reporterCounts } from '../../feedback/reporters.ts';
import { feedbackOperations } from '../../feedback/routes.ts';
import { lastDays, sumsOfDomains } from '../../feedback/sums.ts';
import { allows } from '../../http/actor.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { appPage } from '../frame/app-page.tsx';
import { page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { type Column, DataTable, Pager } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { FeedbackTabs } from './tabs.tsx';
import { FeedbackStateMark } from './words.tsx';

export const FEEDBACK = '/feedback';
export const REPORTS = `${FEEDBACK}/reports`;
export const feedbackPath = (id: string): string => `${FEEDBACK}/domains/${id}`;

const PAGE_SIZE = 25;

const show = page({
  path: FEEDBACK,
  operation: 'showFeedback',
  limited: true,
  role: 'viewer',
  summary: 'Show the domains with what receivers report about them',
  query: v.strictObject({
    starting_after: v.optional(v.string()),
    ending_before: v.optional(v.string()),
  }),
  async handle(call) {
    const { app, actor, query } = call;
    const { rows, hasMore } = await listDomains(app.db, { limit: PAGE_SIZE, ...query });
    const domains = await withFeedback(app, rows);
    const { from, to } = lastDays(app);
    return appPage(call, {
      title: 'Feedback',
      section: 'feedback',
      path: FEEDBACK,
      calls: [{ route: feedbackOperations.list, query: {} }],
      children: (
        <>
          <FeedbackTabs current="domains" />
          {domains.length === 0 ? (
            <EmptyState
              title="No domains yet"
              action={
                allows(actor.role, 'member') && (
                  <a class="button primary" href="/domains">
                    Add a domain
                  </a>
                )
              }
            >
              Receivers report who sends mail from a domain, and whether it passes DMARC. Add a
              domain to get an address for these reports.
            </EmptyState>
          ) : (
            <>
              <p class="muted">
                {`What receivers reported in the last 30 days, ${dayInWords(from)} to ${dayInWords(to)} (UTC).`}
              </p>
              <DataTable
                label="Domains"
                columns={COLUMNS}
                rows={domains}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => feedbackPath(id)}
              />
              <Pager path={FEEDBACK} query={{}} cursors={query} rows={domains} hasMore={hasMore} />
            </>
          )}
        </>
      ),
    });
  },
});

type DomainWithFeedback = Awaited<ReturnType<typeof withFeedback>>[number];

async function withFeedback(app: App, rows: { id: string; name: string }[]) {
  const asked = { ids: rows.map(({ id }) => id), ...lastDays(app) };
  const [sums, reporters] = await Promise.all([
    sumsOfDomains(app.db, asked),
    reporterCounts(app.db, asked),
  ]);
  return Promise.all(
    rows.map(async ({ id, name }) => ({
      id,
      name,
      sums: sums.get(id) ?? { messages: 0, passed: 0 },
      reporters: reporters.get(id) ?? 0,
      feedback: await feedbackOf(app, app.db, { id }),
    })),
  );
}

const COLUMNS: Column<DomainWithFeedback>[] = [
  { title: 'Domain', cell: ({ name }) => <bdi>{readableDomain(name)}</bdi> },
  { title: 'State', cell: ({ feedback }) => <FeedbackStateMark state={feedback.state} /> },
  {
    title: 'Pass DMARC',
    number: true,
    cell: ({ sums, reporters }) =>
      sums.messages === 0 ? (
        '–'
      ) : (
        <>
          {formatPercent(sums.passed / sums.messages)}
          <div class="small muted">
            {`of ${formatCount(sums.messages, 'message')}, ${formatCount(reporters, 'reporter')}`}
          </div>
        </>
      ),
  },
  {
    title: 'Last report',
    wide: true,
    cell: ({ feedback }) =>
      feedback.last_report_at === null ? '–' : <Ago at={feedback.last_report_at} />,
  },
];

export const feedbackListPages = [show];

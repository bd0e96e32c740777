/** The list of domains with what receivers report about them. */

import * as v from 'valibot';
import type { App } from '../../app.ts';
import { type FeedbackState, feedbackOf } from '../../domains/feedback/state.ts';
import { mailShares } from '../../feedback/mail-shares.ts';
import {
  type ReportedDomain,
  reportedDomains,
  unreportedDomains,
} from '../../feedback/reported-domains.ts';
import { reporterCounts } from '../../feedback/reporters.ts';
import { feedbackOperations } from '../../feedback/routes.ts';
import { lastDays } from '../../feedback/sums.ts';
import { sharesInWords } from '../../figures/mail-shares.ts';
import { allows } from '../../http/actor.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { appPage } from '../frame/app-page.tsx';
import { catchErrors } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { page } from '../frame/page-route.ts';
import { EmptyState, Fold } from '../frame/states.tsx';
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
    const { from, to } = lastDays(app);
    // A domain may have lost its last report since the page before was shown.
    const { result: page } = await catchErrors(['invalid_cursor'], () =>
      reportedDomains(app.db, { from, to, limit: PAGE_SIZE, ...query }),
    );
    if (page === null) return seeOther(FEEDBACK);
    const reported = await withFeedback(app, page.rows);
    const isFirst = Object.values(query).every((cursor) => cursor === undefined);
    const silent = await unreportedDomains(app.db, { from, limit: PAGE_SIZE });
    return appPage(call, {
      title: 'Feedback',
      section: 'feedback',
      path: FEEDBACK,
      calls: [{ route: feedbackOperations.list, query: {} }],
      children: (
        <>
          <FeedbackTabs current="domains" />
          {reported.length === 0 && silent.count === 0 ? (
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
              {reported.length > 0 && (
                <>
                  <p class="muted">
                    {`What receivers reported in the last 30 days, ${dayInWords(from)} to ${dayInWords(to)} (UTC). Domains with the most messages come first.`}
                  </p>
                  <DataTable
                    label="Domains"
                    columns={COLUMNS}
                    rows={reported}
                    keyOf={({ id }) => id}
                    hrefOf={({ id }) => feedbackPath(id)}
                  />
                  <Pager
                    path={FEEDBACK}
                    query={{}}
                    cursors={query}
                    rows={reported}
                    hasMore={page.hasMore}
                    words={['← More messages', 'Fewer messages →']}
                  />
                </>
              )}
              {isFirst && silent.count > 0 && (
                <Silent
                  count={silent.count}
                  domains={await withFeedback(app, silent.first)}
                  isOpen={reported.length === 0}
                />
              )}
            </>
          )}
        </>
      ),
    });
  },
});

type DomainWithFeedback = Awaited<ReturnType<typeof withFeedback>>[number];

async function withFeedback(
  app: App,
  rows: (Pick<ReportedDomain, 'id' | 'name'> & Partial<ReportedDomain>)[],
) {
  const asked = { ids: rows.map(({ id }) => id), ...lastDays(app) };
  const [shares, reporters] = await Promise.all([
    mailShares(app.db, asked),
    reporterCounts(app.db, asked),
  ]);
  return Promise.all(
    rows.map(async ({ id, name, messages = 0 }) => ({
      id,
      name,
      messages,
      shares: shares.get(id) ?? null,
      reporters: reporters.get(id) ?? 0,
      feedback: await feedbackOf(app, app.db, { id }),
    })),
  );
}

const NAME: Column<DomainWithFeedback> = {
  title: 'Domain',
  cell: ({ name }) => <bdi class="domain-name">{readableDomain(name)}</bdi>,
};
const STATE: Column<DomainWithFeedback> = {
  title: 'State',
  cell: ({ feedback }) => <FeedbackStateMark state={feedback.state} />,
};

const COLUMNS: Column<DomainWithFeedback>[] = [
  NAME,
  {
    title: 'Mail with your name',
    below: true,
    cell: ({ shares, messages, reporters }) => (
      <>
        {shares === null ? 'No DMARC reports' : sharesInWords(shares)}
        <div class="small muted">
          {`${formatCount(messages, 'message')}, ${formatCount(reporters, 'reporter')}`}
        </div>
      </>
    ),
  },
  { ...STATE, wide: true },
  {
    title: 'Last report',
    wide: true,
    cell: ({ feedback }) =>
      feedback.last_report_at === null ? '–' : <Ago at={feedback.last_report_at} />,
  },
];

interface SilentProps {
  count: number;
  domains: DomainWithFeedback[];
  isOpen: boolean;
}

function Silent({ count, domains, isOpen }: SilentProps) {
  return (
    <Fold
      summary={`${formatCount(count, 'domain')} without reports in the last 30 days`}
      open={isOpen}
    >
      <DataTable
        label="Domains without reports"
        columns={[
          NAME,
          STATE,
          { title: 'What to do', wide: true, cell: ({ feedback }) => NEXT_STEPS[feedback.state] },
        ]}
        rows={domains}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => feedbackPath(id)}
      />
      {count > domains.length && (
        <p class="small muted">
          {`${formatCount(count - domains.length)} more are not shown. `}
          <a href="/domains">All domains</a>
        </p>
      )}
    </Fold>
  );
}

const NEXT_STEPS: Record<FeedbackState, string> = {
  not_published: 'Publish the record that requests reports',
  waiting: 'Wait: most receivers report within 48 hours, if they got mail',
  receiving: 'Nothing to do: its reports cover earlier days',
  stopped: 'Check that the record still names the address',
  unknown: 'Wait for the first DNS lookup',
};

export const feedbackListPages = [show];

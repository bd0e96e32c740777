/** The summary of a period: all figures on one page that can be printed, and its tests as CSV. */

import * as v from 'valibot';
import { allows } from '../../http/actor.ts';
import { findIssueExamples } from '../../mailtests/issue-examples.ts';
import { testOperations } from '../../mailtests/routes.ts';
import { summaryOperations } from '../../summary/routes.ts';
import { PublishedFigures, ReportedFigures } from '../feedback/figures.tsx';
import { appPage } from '../frame/app-page.tsx';
import { page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { pathWith } from '../frame/table.tsx';
import { Time } from '../frame/times.tsx';
import { Grades, KeyFigures, PassRates, TopIssues, Trend } from '../overview/figures.tsx';
import { UnknownDomain } from '../overview/overview.tsx';
import {
  PERIOD_NAMES,
  queryOf,
  readScope,
  ScopeControls,
  ScopeQuery,
} from '../overview/period.tsx';
import { Placement } from '../overview/placement.tsx';
import { ReportTabs } from './tabs.tsx';

const PATH = '/reports';

const show = page({
  path: PATH,
  operation: 'showReports',
  limited: true,
  role: 'viewer',
  summary: 'Show the summary of a period',
  query: v.strictObject(ScopeQuery),
  async handle(call) {
    const { app, actor, query } = call;
    const scope = await readScope(call, query);
    const summaryQuery = queryOf(scope);
    const { domain_id } = summaryQuery;
    const summary = await call.invoke(summaryOperations.get, { query: summaryQuery });
    const checks = summary.top_issues.map(({ check }) => check);
    const examples = await findIssueExamples(
      app.db,
      { livemode: actor.livemode, domain_id },
      checks,
    );
    const exportQuery = { status: 'completed', completed_after: summary.from, domain_id };
    return appPage(call, {
      title: 'Reports',
      section: 'reports',
      path: PATH,
      actions: summary.total_tests > 0 && (
        <a class="button" href={pathWith(testOperations.export.path, exportQuery)} download>
          Export tests as CSV
        </a>
      ),
      calls: [
        { route: summaryOperations.get, query: summaryQuery },
        { route: testOperations.export, query: exportQuery },
      ],
      children: (
        <>
          <ReportTabs current="summary" />
          <section class="going" aria-labelledby="period-title">
            <div class="panel-head">
              <div>
                <h2 id="period-title">
                  {PERIOD_NAMES[scope.period]}
                  {scope.domain && (
                    <>
                      {' · '}
                      <bdi>{scope.domain.name}</bdi>
                    </>
                  )}
                </h2>
                <p class="small muted">
                  <Time at={summary.from} /> to <Time at={summary.to} />
                </p>
              </div>
              <ScopeControls path={PATH} scope={scope} />
            </div>
            {scope.unknownDomain && <UnknownDomain />}
            {summary.total_tests === 0 ? (
              <EmptyState title="No completed tests in this period">
                Select a longer period{allows(actor.role, 'member') && ', or test a message'}.
              </EmptyState>
            ) : (
              <>
                <KeyFigures summary={summary} />
                <Trend summary={summary} withTests />
                <div class="halves">
                  <PassRates summary={summary} />
                  <Grades summary={summary} />
                </div>
                <Placement summary={summary} />
                <TopIssues summary={summary} examples={examples} />
              </>
            )}
            <ReportedFigures figures={summary.feedback} domainId={domain_id ?? null} />
            <PublishedFigures figures={summary.receivers} domainId={domain_id ?? null} />
          </section>
        </>
      ),
    });
  },
});

export const summaryPages = [show];

/** The home page: what is broken now, the worst domains, what changed, what to do next, and how it is going. Visitors get the start page. */

import * as v from 'valibot';
import { type TableCounts, tableCounts } from '../../domain-table/queries.ts';
import { DOMAIN_STATES } from '../../domains/states.ts';
import { allows } from '../../http/actor.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { findScoreChanges } from '../../mailtests/history.ts';
import { findIssueExamples } from '../../mailtests/issue-examples.ts';
import { testOperations } from '../../mailtests/routes.ts';
import { summaryOperations } from '../../summary/routes.ts';
import { DomainStateMark } from '../domains/states.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { Notice } from '../frame/form.tsx';
import { memberCallOf, page } from '../frame/page-route.ts';
import { NotSetUp } from '../frame/states.tsx';
import { startPage } from '../public/start.tsx';
import { BrokenNow, findProblems } from './broken.tsx';
import { Changes, findChanges } from './changes.tsx';
import { Grades, KeyFigures, PassRates, TopIssues, Trend } from './figures.tsx';
import { LatestTests } from './latest-tests.tsx';
import { findNextSteps, NextSteps } from './next-steps.tsx';
import { PERIOD_NAMES, queryOf, readScope, ScopeControls, ScopeQuery } from './period.tsx';
import { Placement } from './placement.tsx';
import { findWorst, WorstDomains } from './worst.tsx';

const PATH = '/';
const MAX_ISSUES = 5;

const Query = v.strictObject({ ...ScopeQuery, done: v.optional(v.string()) });

const show = page({
  path: PATH,
  operation: 'showHome',
  role: 'public',
  identifiesMembers: true,
  summary: 'Show the overview, or visitors the start page',
  query: Query,
  async handle(call) {
    const memberCall = memberCallOf(call);
    if (!memberCall) return startPage(call.app, call.query.done);
    const { data } = await memberCall.invoke(testOperations.list, { query: { limit: '1' } });
    const isEmpty = data.length === 0 && !(await seesDomains(memberCall));
    return isEmpty ? emptyOverview(memberCall) : overview(memberCall, call.query);
  },
});

export const overviewPages = [show];

/** Domains have problems before anyone tests a message. In test mode, tests come first. */
const seesDomains = async ({ app, actor }: PageCall): Promise<boolean> =>
  actor.livemode &&
  allows(actor.role, 'member') &&
  (await app.db.selectFrom('domains').select('id').limit(1).executeTakeFirst()) !== undefined;

/** For a team without any test or domain: nothing but the first step. */
function emptyOverview(call: PageCall): Promise<Response> {
  const isMember = allows(call.actor.role, 'member');
  return appPage(call, {
    title: isMember ? 'Test your first message' : 'No tests yet',
    section: 'overview',
    path: PATH,
    children: isMember ? (
      <div class="first-test">
        <form method="post" action="/tests">
          <button type="submit" class="button primary large">
            Get a test address
          </button>
        </form>
        <p>
          Send a message to that address. The report shows its score, and how to fix each problem.
        </p>
        <p>
          Or <a href="/tests/new">upload a message</a>.
        </p>
      </div>
    ) : (
      <p>
        Scores, trends, and reports appear here as soon as someone on your team tests a message.
      </p>
    ),
  });
}

async function overview(call: PageCall, query: v.InferOutput<typeof Query>): Promise<Response> {
  const { app, actor } = call;
  const scope = await readScope(call, query);
  const summaryQuery = { ...queryOf(scope), include: 'tests' as const };
  const { domain_id } = summaryQuery;
  const domains = allows(actor.role, 'member') ? await tableCounts(app.db) : null;
  const [summary, problems, worst, changes, steps, latest] = await Promise.all([
    call.invoke(summaryOperations.get, { query: summaryQuery }),
    domains && findProblems(call),
    domains && findWorst(call),
    domains ? findChanges(call) : [],
    domains ? findNextSteps(call, domains) : [],
    call.invoke(testOperations.list, { query: { limit: '5', domain_id } }),
  ]);
  const issues = summary.top_issues.slice(0, MAX_ISSUES).map(({ check }) => check);
  const examples = await findIssueExamples(app.db, { livemode: actor.livemode, domain_id }, issues);
  return appPage(call, {
    title: 'Overview',
    section: 'overview',
    path: PATH,
    calls: [
      { route: summaryOperations.get, query: summaryQuery },
      { route: testOperations.list, query: { limit: '5', domain_id } },
    ],
    children: (
      <>
        {problems && (
          <BrokenNow
            {...problems}
            isWatching={await isWatching(call, domains, latest.data)}
            isAnyDomainFailing={worst?.isAnyFailing ?? false}
          />
        )}
        {worst && <WorstDomains {...worst} />}
        <Changes lines={changes} />
        <NextSteps steps={steps} />
        <section class="going" aria-labelledby="going-title">
          <div class="panel-head">
            <h2 id="going-title">{PERIOD_NAMES[scope.period]}</h2>
            <ScopeControls path={PATH} scope={scope} />
          </div>
          {scope.unknownDomain && <UnknownDomain />}
          <KeyFigures summary={summary} />
          <div class="main-and-side">
            <Trend summary={summary} />
            <PassRates summary={summary} />
          </div>
          <Placement summary={summary} />
          <div class="main-and-side">
            <TopIssues summary={summary} examples={examples} max={MAX_ISSUES} />
            <div class="side-cards">
              <Grades summary={summary} />
              {domains && <DomainStates counts={domains} />}
            </div>
          </div>
        </section>
        <LatestTests tests={latest.data} changes={await findScoreChanges(app.db, latest.data)} />
      </>
    ),
  });
}

export const UnknownDomain = () => (
  <Notice tone="warn">No such domain. The figures include all domains.</Notice>
);

/** Whether anything would show a problem: a domain with a known health, a rule with a test to look at, or a monitor that runs. */
async function isWatching(
  { app }: PageCall,
  domains: TableCounts | null,
  tests: { status: string }[],
): Promise<boolean> {
  const { healthy = 0, warning = 0, critical = 0 } = domains?.states ?? {};
  if (healthy + warning + critical > 0) return true;
  const any = (table: 'alerts' | 'monitors') =>
    app.db.selectFrom(table).select('id').where('enabled', '=', 1).limit(1).executeTakeFirst();
  if ((await any('monitors')) !== undefined) return true;
  return tests.some(({ status }) => status === 'completed') && (await any('alerts')) !== undefined;
}

function DomainStates({ counts: { total, states } }: { counts: TableCounts }) {
  return (
    <Card
      title="Domains"
      id="domains"
      actions={
        <a class="small" href="/domains">
          All domains
        </a>
      }
    >
      {total === 0 ? (
        <p>
          <NotSetUp>No domain added</NotSetUp>
        </p>
      ) : (
        <ul class="counts">
          {DOMAIN_STATES.filter((state) => states[state] > 0).map((state) => (
            <li key={state}>
              <a href={`/domains?state=${state}`}>
                <DomainStateMark state={state} />
              </a>
              <span class="number">{formatCount(states[state])}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

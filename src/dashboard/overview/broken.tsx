/** What is broken now: one line for each problem, worst first, each a link to the page about it. */

import { conditionOf } from '../../alerts/conditions/index.ts';
import { openedIncident } from '../../alerts/evaluate.ts';
import { listIncidents } from '../../alerts/queries.ts';
import type { App } from '../../app.ts';
import {
  type DomainCounts,
  type FailingDomain,
  listFailingDomains,
} from '../../domains/overview.ts';
import { type Dependency, isWaiting } from '../../health/dependencies.ts';
import { healthOperations } from '../../health/routes.ts';
import { type Actor, allows } from '../../http/actor.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { listAlertingMonitors } from '../../monitors/overview.ts';
import { StateMark } from '../../report/html/components.tsx';
import { formatCount } from '../../report/summary.ts';
import { endpointOperations } from '../../webhooks/routes.ts';
import type { PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { NotSetUp } from '../frame/states.tsx';
import { Ago } from '../frame/times.tsx';
import { dependencyName } from '../system/dependencies.ts';

export interface Problem {
  state: 'fail' | 'warn';
  /** The kind of thing: "Incident". */
  kind: string;
  text: string;
  href: string;
  since: string | null;
}

export interface Problems {
  problems: Problem[];
  /** Lists with more problems than are shown. */
  more: { text: string; href: string }[];
}

/** Lines of each kind. */
const MAX_LINES = 5;

/** What a member may see. `counts` are those of the domains. */
export async function findProblems(call: PageCall, counts: DomainCounts): Promise<Problems> {
  const { app, actor } = call;
  const found = await Promise.all([
    findIncidents(app),
    findDomains(app, counts),
    findMonitors(app),
    ...(allows(actor.role, 'admin') ? [findEndpoints(call, actor), findDependencies(call)] : []),
  ]);
  const problems = found.flatMap((part) => part.problems);
  return {
    problems: [
      ...problems.filter(({ state }) => state === 'fail'),
      ...problems.filter(({ state }) => state === 'warn'),
    ],
    more: found.flatMap((part) => part.more),
  };
}

/** Keeps the first lines, and links to the rest. */
function firstLines<T>(
  rows: T[],
  lineOf: (row: T) => Problem,
  ...more: Problems['more']
): Problems {
  return {
    problems: rows.slice(0, MAX_LINES).map(lineOf),
    more: rows.length > MAX_LINES ? more : [],
  };
}

async function findIncidents({ db }: App): Promise<Problems> {
  const { rows, hasMore } = await listIncidents(db, { limit: MAX_LINES, status: 'open' });
  const problems = rows.map((row): Problem => {
    const { title } = conditionOf(row).openedText(openedIncident(row));
    const href = `/incidents/${row.id}`;
    return { state: 'fail', kind: 'Incident', text: title, href, since: row.opened_at };
  });
  return { problems, more: hasMore ? [{ text: 'All open incidents', href: '/alerts' }] : [] };
}

async function findDomains(
  { db }: App,
  { health, failed, missing }: DomainCounts,
): Promise<Problems> {
  if (health.critical + failed + missing === 0) return { problems: [], more: [] };
  return firstLines(
    await listFailingDomains(db, MAX_LINES + 1),
    (domain) => ({
      kind: 'Domain',
      ...problemOf(domain),
      href: `/domains/${domain.id}`,
      since: domain.missing_since,
    }),
    ...linksToDomains({ critical: health.critical, failed }),
  );
}

/** The list of domains shows one state, or all of them by state. */
function linksToDomains({ critical, failed }: Record<'critical' | 'failed', number>) {
  const links = [
    { count: critical, text: 'All critical domains', href: '/domains?state=critical' },
    { count: failed, text: 'All domains that failed verification', href: '/domains?state=failed' },
  ]
    .filter(({ count }) => count > 0)
    .map(({ count, text, href }) => ({ text: `${text} (${formatCount(count)})`, href }));
  return links.length > 0 ? links : [{ text: 'All domains', href: '/domains' }];
}

function problemOf(domain: FailingDomain): Pick<Problem, 'state' | 'text'> {
  const { status, health_status, health_score } = domain;
  const name = readableDomain(domain.name);
  if (status === 'failed')
    return { state: 'fail', text: `${name} failed verification: its TXT record was not found` };
  if (health_status !== 'critical')
    return {
      state: 'warn',
      text: `${name} is about to lose its verification: its TXT record is missing`,
    };
  const score = health_score === null ? '' : ` (score ${health_score})`;
  return { state: 'fail', text: `${name} has critical problems${score}` };
}

async function findMonitors({ db }: App): Promise<Problems> {
  return firstLines(
    await listAlertingMonitors(db, MAX_LINES + 1),
    ({ id, name, last_run_at }) => ({
      state: 'fail',
      kind: 'Monitor',
      text: `${name} found a problem`,
      href: `/monitors/${id}`,
      since: last_run_at,
    }),
    { text: 'All monitors', href: '/monitors' },
  );
}

async function findEndpoints(call: PageCall, { livemode }: Actor): Promise<Problems> {
  const { data } = await call.invoke(endpointOperations.list, { query: { limit: '100' } });
  return firstLines(
    data.filter(({ status }) => status === 'auto_disabled'),
    ({ id, url }) => ({
      state: 'fail',
      kind: livemode ? 'Webhook' : 'Test-mode webhook',
      text: `${new URL(url).host} gets no events: its endpoint kept failing and was disabled`,
      href: `/webhooks/${id}`,
      since: null,
    }),
    { text: 'All webhooks', href: '/webhooks' },
  );
}

async function findDependencies(call: PageCall): Promise<Problems> {
  const { dependencies } = await call.invoke(healthOperations.readyz);
  const lineOf = ({ name, status, detail }: Dependency): Problem => ({
    state: status === 'down' ? 'fail' : 'warn',
    kind: 'System',
    text: `${dependencyName(name)}: ${detail ?? 'Not working.'}`,
    href: '/system',
    since: null,
  });
  const isBroken = (dependency: Dependency) =>
    ['down', 'degraded'].includes(dependency.status) && !isWaiting(dependency);
  return { problems: dependencies.filter(isBroken).map(lineOf), more: [] };
}

interface Props extends Problems {
  /** Whether there is anything to watch: a domain, a monitor, or an alert rule. */
  isWatching: boolean;
}

export function BrokenNow({ problems, more, isWatching }: Props) {
  if (problems.length === 0)
    return (
      <section class="card panel all-fine" aria-label="Problems">
        {isWatching ? (
          <>
            <StateMark state="pass" word="Nothing is broken" />
            <span class="muted small">No open incidents and no failing domains.</span>
          </>
        ) : (
          <>
            <NotSetUp>Nothing is monitored yet</NotSetUp>
            <span class="muted small">
              Verify a domain or create an alert rule to see problems here.
            </span>
          </>
        )}
      </section>
    );
  return (
    <Card title="Broken now" id="broken">
      <ul class="problems">
        {problems.map(({ state, kind, text, href, since }) => (
          <li key={href + text}>
            <StateMark state={state} word={kind} />
            <a href={href}>
              <bdi>{text}</bdi>
            </a>
            {since && (
              <span class="small muted">
                <Ago at={since} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {more.length > 0 && (
        <p class="links small">
          {more.map(({ text, href }) => (
            <a key={href} href={href}>
              {text}
            </a>
          ))}
        </p>
      )}
    </Card>
  );
}

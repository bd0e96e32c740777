/** What is broken now, beside domains: one line for each problem, worst first, each a link to the page about it. */

import type { ComponentChildren } from 'preact';
import { conditionOf } from '../../alerts/conditions/index.ts';
import { openedIncident } from '../../alerts/evaluate.ts';
import { findIncidentSteps } from '../../alerts/incident-steps.ts';
import { listIncidents } from '../../alerts/queries.ts';
import type { App } from '../../app.ts';
import { type Dependency, isWaiting } from '../../health/dependencies.ts';
import { healthOperations } from '../../health/routes.ts';
import { type Actor, allows } from '../../http/actor.ts';
import { listAlertingMonitors } from '../../monitors/overview.ts';
import { StateMark } from '../../ui/components.tsx';
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
  /** What to do first, in a sentence. */
  step?: string;
}

export interface Problems {
  problems: Problem[];
  /** Lists with more problems than are shown. */
  more: { text: string; href: string }[];
}

/** Lines of each kind. */
const MAX_LINES = 5;

/** What a member may see. */
export async function findProblems(call: PageCall): Promise<Problems> {
  const { app, actor } = call;
  const found = await Promise.all([
    findIncidents(app),
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

async function findIncidents(app: App): Promise<Problems> {
  const { rows, hasMore } = await listIncidents(app.db, { limit: MAX_LINES, status: 'open' });
  const problems: Problem[] = [];
  for (const row of rows) {
    const { title } = conditionOf(row).openedText(openedIncident(row));
    const [step] = await findIncidentSteps(app, row.id);
    problems.push({
      state: 'fail',
      kind: 'Incident',
      text: title,
      href: `/incidents/${row.id}`,
      since: row.opened_at,
      step: step?.text,
    });
  }
  return { problems, more: hasMore ? [{ text: 'All open incidents', href: '/alerts' }] : [] };
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
      step: 'Open the monitor: its last run lists each problem.',
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
      step: 'Fix the endpoint, then enable it again.',
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
  /** Failing domains have a list of their own. */
  isAnyDomainFailing: boolean;
}

export function BrokenNow({ problems, more, isWatching, isAnyDomainFailing }: Props) {
  if (problems.length === 0 && isAnyDomainFailing) return null;
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
        {problems.map(({ state, kind, text, href, since, step }) => (
          <ProblemLine key={href + text} {...{ state, href, text, since }} word={kind}>
            {step && <p class="small muted">{step}</p>}
          </ProblemLine>
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

interface ProblemLineProps {
  state: Parameters<typeof StateMark>[0]['state'];
  word: string;
  href: string;
  text: string;
  since: string | null;
  /** What to do about it. */
  children: ComponentChildren;
}

/** A line of the lists of problems, which leads to the page about it. */
export const ProblemLine = ({ state, word, href, text, since, children }: ProblemLineProps) => (
  <li>
    <StateMark state={state} word={word} />
    <div>
      <a href={href}>
        <bdi>{text}</bdi>
      </a>
      {children}
    </div>
    {since && (
      <span class="small muted">
        <Ago at={since} />
      </span>
    )}
  </li>
);

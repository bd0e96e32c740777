/** The page of a domain: what is wrong and what to do first, then each source, then monitors and settings. */

import type { ComponentChildren } from 'preact';
import * as v from 'valibot';
import { isLookupInProgress } from '../../domains/first-lookup.ts';
import { findRulesOfDomain, latestDomainEvents } from '../../domains/queries.ts';
import { domainOperations } from '../../domains/routes.ts';
import type { Domain } from '../../domains/schema.ts';
import { hostedFilesOf } from '../../hosted-files/files.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { findScoreChanges } from '../../mailtests/history.ts';
import { testOperations } from '../../mailtests/routes.ts';
import { monitorOperations } from '../../monitors/routes.ts';
import { pictureOperations } from '../../picture/routes.ts';
import { receiverOperations } from '../../receivers/routes.ts';
import type { FeedbackFigures } from '../../report/summary.ts';
import { summaryOperations } from '../../summary/routes.ts';
import { ReportedTable } from '../feedback/figures.tsx';
import { feedbackPath } from '../feedback/list.tsx';
import { FeedbackStateMark } from '../feedback/words.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, Notice, ProblemNotice, readForm } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { For, useReader } from '../frame/reader.tsx';
import { NotSetUp } from '../frame/states.tsx';
import { pathWith } from '../frame/table.tsx';
import { splitTags, tagLabels } from '../frame/tags-field.tsx';
import { Ago } from '../frame/times.tsx';
import type { SummaryFigures } from '../overview/figures.tsx';
import { Placement } from '../overview/placement.tsx';
import { Gmail } from '../receivers/gmail.tsx';
import { receiversOf } from '../receivers/of-domain.ts';
import { Outlook } from '../receivers/outlook.tsx';
import { HostedFilesCard } from './files.tsx';
import { Health, LookupInProgress } from './health.tsx';
import { History, LatestTests } from './history.tsx';
import { DOMAINS } from './list.tsx';
import { PictureHead, Problems } from './picture.tsx';
import { Badge, Deletion, DomainMonitors, Selectors, Tags } from './settings.tsx';
import { isRecordWanted, LookupNotice, Verification } from './verification.tsx';

const PATH = `${DOMAINS}/:id`;
const MAX_EVENTS = 10;
const MAX_TESTS = 5;
const MAX_MONITORS = 20;

/** The period of what receivers publish, in days. */
const PERIODS = [
  ['30', '30 days'],
  ['120', '120 days'],
] as const;
const DEFAULT_DAYS = '30';

/** The result of the action that redirected here. `verify` has a notice of its own. */
const DONE: Record<string, string> = {
  added: 'Domain added.',
  checked: 'Health check completed.',
  selectors: 'Selectors saved. The next check uses them.',
  tags: 'Tags saved.',
  'badge-on': 'Badge enabled.',
  'badge-off': 'Badge disabled.',
};

const Query = v.strictObject({
  done: v.optional(v.string()),
  /** Values that do not exist fall back to the default, because links are kept for a long time. */
  days: v.fallback(
    v.optional(v.picklist(PERIODS.map(([days]) => days)), DEFAULT_DAYS),
    DEFAULT_DAYS,
  ),
});

interface State {
  done?: string;
  days?: string;
  problem?: { of: 'check' | 'selectors' | 'tags' | 'delete' | 'verify'; problem: FormProblem };
  /** What was typed. */
  selectors?: string;
  tags?: string;
}

async function render(call: PageCall, id: string, state: State = {}) {
  const { done = '', days = DEFAULT_DAYS, problem, selectors, tags } = state;
  const params = { id };
  const domain = await call.invoke(domainOperations.get, { params });
  const summaryQuery = { domain_id: id, period: 'month' };
  const [picture, published, summary, tests, monitors, events, rules, isInProgress] =
    await Promise.all([
      call.invoke(pictureOperations.get, { params }),
      receiversOf(call, domain, Number(days)),
      call.invoke(summaryOperations.get, { query: summaryQuery }),
      call.invoke(testOperations.list, { query: { domain_id: id, limit: String(MAX_TESTS) } }),
      call.invoke(monitorOperations.list, {
        query: { domain_id: id, limit: String(MAX_MONITORS) },
      }),
      latestDomainEvents(call.app.db, id, MAX_EVENTS),
      findRulesOfDomain(call.app.db, id),
      isLookupInProgress(call.app, id),
    ]);
  const problemOf = (name: string) => (problem?.of === name ? problem.problem : null);
  const readable = readableDomain(domain.name);
  const ofDomain = { domain, monitors: monitors.data, hasMore: monitors.has_more };
  return appPage(call, {
    suggestTags: true,
    title: readable,
    section: 'domains',
    path: pathOf(id, days),
    parents: [{ href: DOMAINS, text: 'Domains' }],
    status: problem?.problem.status,
    headers: problem?.problem.headers,
    calls: [
      { route: pictureOperations.get, params },
      { route: receiverOperations.stats, query: { domain_id: id, ...published.period } },
      { route: pictureOperations.compliance, query: { domain_id: id } },
      { route: domainOperations.get, params },
      { route: domainOperations.verify, params },
      { route: domainOperations.health, params },
    ],
    children: (
      <>
        {readable !== domain.name && <p class="muted under-title">{domain.name}</p>}
        <NoTestMode />
        {Object.hasOwn(DONE, done) && <Notice tone="pass">{DONE[done]}</Notice>}
        {done === 'verify' && <LookupNotice domain={domain} />}
        <ProblemNotice problem={problemOf('check') ?? problemOf('verify')} />
        <FirstLookup domain={domain} isInProgress={isInProgress}>
          <PictureHead picture={picture} />
          <Problems picture={picture} />
        </FirstLookup>
        {isRecordWanted(domain) && <Verification domain={domain} />}
        <div class="columns">
          <LatestTests
            domainId={id}
            tests={tests.data}
            changes={await findScoreChanges(call.app.db, tests.data)}
          />
          <History events={events} />
        </div>
        <DomainPlacement summary={summary} />
        <Feedback domain={domain} figures={summary.feedback} />
        <Gmail {...published.gmail} periods={<Periods id={id} current={days} />} />
        <Outlook {...published.outlook} />
        <div class="columns">
          <DomainMonitors {...ofDomain} />
          <Selectors domain={domain} typed={selectors} problem={problemOf('selectors')} />
        </div>
        <HostedFilesCard domain={domain} row={await hostedFilesOf(call.app.db, id)} />
        <div class="columns">
          <For role="member" team>
            <Tags domain={domain} typed={tags} problem={problemOf('tags')} />
          </For>
          <Badge domain={domain} />
        </div>
        {!isRecordWanted(domain) && <Verification domain={domain} />}
        <For role="member" team>
          <Deletion {...ofDomain} rules={rules.length} problem={problemOf('delete')} />
        </For>
      </>
    ),
  });
}

interface FirstLookupProps {
  domain: Domain;
  isInProgress: boolean;
  children: ComponentChildren;
}

/** What is known, or that the first lookup of a new domain is in progress. It updates itself. */
function FirstLookup({ domain, isInProgress, children }: FirstLookupProps) {
  const isEmpty = isInProgress && domain.health.checked_at === null;
  return (
    <div class="page" id="first-lookup" data-refresh={isInProgress ? '' : undefined}>
      {isInProgress && <LookupInProgress name={domain.name} isEmpty={isEmpty} />}
      {!isEmpty && children}
      {!isEmpty && <Health domain={domain} />}
    </div>
  );
}

const pathOf = (id: string, days: string): string =>
  pathWith(`${DOMAINS}/${id}`, { days: days === DEFAULT_DAYS ? undefined : days });

/** The period of the charts of Gmail and Outlook. */
const Periods = ({ id, current }: { id: string; current: string }) => (
  <nav class="segments screen-only" aria-label="Period of the figures of Gmail and Outlook">
    {PERIODS.map(([days, text]) => (
      <a
        key={days}
        href={`${pathOf(id, days)}#gmail`}
        aria-current={days === current ? 'true' : undefined}
      >
        {text}
      </a>
    ))}
  </nav>
);

function NoTestMode() {
  if (!useReader().testMode) return null;
  return (
    <Notice tone="info">
      Domains have no test mode. Switch to live mode to verify, check or change this domain.
    </Notice>
  );
}

const show = page({
  path: PATH,
  operation: 'showDomain',
  limited: true,
  role: 'member',
  summary: 'Show a domain',
  query: Query,
  handle: (call) => render(call, call.params.id!, call.query),
});

const verify = operationForm({
  path: `${PATH}/verify`,
  operation: 'submitDomainVerification',
  summary: 'Look up the verification record of a domain with the button',
  route: domainOperations.verify,
  next: ({ id }) => `${DOMAINS}/${id}?done=verify`,
  onProblem: (call, problem) =>
    render(call, call.params.id!, { problem: { of: 'verify', problem } }),
});

const check = operationForm({
  path: `${PATH}/check`,
  operation: 'submitDomainCheck',
  summary: 'Check the health of a domain with the button',
  route: domainOperations.health,
  next: (_, { params }) => `${DOMAINS}/${params.id}?done=checked`,
  onProblem: (call, problem) =>
    render(call, call.params.id!, { problem: { of: 'check', problem } }),
});

const selectorsIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

const changeSelectors = operationForm({
  path: `${PATH}/selectors`,
  operation: 'submitDomainSelectors',
  summary: 'Change the DKIM selectors of a domain with the form',
  route: domainOperations.update,
  read: (raw) => readForm(raw)('dkim_selectors'),
  body: (typed) => ({ dkim_selectors: selectorsIn(typed) }),
  // Each selector has a label, so that the message names the one that is wrong.
  labels: (typed) => ({
    ...Object.fromEntries(
      selectorsIn(typed).map((selector, index) => [
        `dkim_selectors.${index}`,
        `selector “${selector}”`,
      ]),
    ),
    dkim_selectors: 'list',
  }),
  next: ({ id }) => `${DOMAINS}/${id}?done=selectors`,
  onProblem(call, problem, selectors) {
    const [first] = Object.values(problem.fields);
    const fields = { dkim_selectors: first };
    return render(call, call.params.id!, {
      selectors,
      problem: { of: 'selectors', problem: { ...problem, fields } },
    });
  },
});

const changeTags = operationForm({
  path: `${PATH}/tags`,
  operation: 'submitDomainTags',
  summary: 'Change the tags of a domain with the form',
  route: domainOperations.update,
  read: (raw) => readForm(raw)('tags'),
  body: (typed) => ({ tags: splitTags(typed) }),
  labels: (typed) => tagLabels(splitTags(typed)),
  next: ({ id }) => `${DOMAINS}/${id}?done=tags`,
  onProblem: (call, problem, tags) =>
    render(call, call.params.id!, { tags, problem: { of: 'tags', problem } }),
});

const switchBadge = operationForm({
  path: `${PATH}/badge`,
  operation: 'submitDomainBadge',
  summary: 'Enable or disable the badge of a domain with the button',
  route: domainOperations.update,
  body: (_, { raw }) => ({ badge_enabled: readForm(raw)('badge') === 'on' }),
  next: ({ id, badge_enabled }) => `${DOMAINS}/${id}?done=badge-${badge_enabled ? 'on' : 'off'}`,
});

const remove = operationForm({
  path: `${PATH}/delete`,
  operation: 'submitDomainDeletion',
  summary: 'Delete a domain with the button',
  route: domainOperations.remove,
  next: () => `${DOMAINS}?done=deleted`,
  onProblem: (call, problem) =>
    render(call, call.params.id!, { problem: { of: 'delete', problem } }),
});

export const domainPages = [show, verify, check, changeSelectors, changeTags, switchBadge, remove];

function DomainPlacement({ summary }: { summary: SummaryFigures }) {
  if (summary.placement.by_provider.length > 0) return <Placement summary={summary} />;
  return (
    <Card title="Inbox placement by provider" id="placement">
      <p>
        <NotSetUp>No placement tests.</NotSetUp>{' '}
        <span class="muted">
          No test of this domain looked into seed mailboxes in the last 30 days.
        </span>{' '}
        <a href="/tests/new">New test</a>
      </p>
    </Card>
  );
}

// What receivers report about the domain, in short.

const WITHOUT_REPORTS = {
  none: 'Receivers report who sends mail from the domain, and whether it passes DMARC.',
  uploaded: 'These figures come from uploaded reports. None has arrived by itself.',
};

interface Props {
  domain: Domain;
  /** Null if nothing was reported. */
  figures: FeedbackFigures | null;
}

function Feedback({ domain, figures }: Props) {
  const { id, feedback } = domain;
  const { state, last_report_at } = feedback;
  return (
    <Card
      title="Feedback"
      id="feedback"
      actions={
        <a href={feedbackPath(id)}>{state === 'not_published' ? 'Set up' : 'All feedback'}</a>
      }
    >
      <p>
        <FeedbackStateMark state={state} />{' '}
        <span class="muted">
          {last_report_at ? (
            <>
              The last report arrived <Ago at={last_report_at} />.
            </>
          ) : (
            WITHOUT_REPORTS[figures ? 'uploaded' : 'none']
          )}
        </span>
      </p>
      {figures && <ReportedTable figures={figures} />}
    </Card>
  );
}

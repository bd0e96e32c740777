/** What receivers report about one domain: the set-up, the advice, the messages by day, and who sends. */

import * as v from 'valibot';
import { type DomainFeedback, feedbackOf } from '../../domains/feedback/state.ts';
import { findDomain } from '../../domains/queries.ts';
import { feedbackOperations } from '../../feedback/routes.ts';
import { sourceOperations } from '../../feedback/sources/routes.ts';
import type { FeedbackSource } from '../../feedback/sources/schema.ts';
import { dayBefore, lastDays, periodOf } from '../../feedback/sums.ts';
import { AppError } from '../../lib/errors.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { formatCount, formatPercent } from '../../report/summary.ts';
import { DnsRecord } from '../domains/dns-record.tsx';
import { appPage } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { Select } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { Fold } from '../frame/states.tsx';
import { type Column, DataTable, Filters, pathWith } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { ShareBar } from '../overview/figures.tsx';
import { Advice } from './advice.tsx';
import { DayChart } from './chart.tsx';
import { FEEDBACK, feedbackPath } from './list.tsx';
import { DomainTabs } from './tabs.tsx';
import { Tls } from './tls.tsx';
import { FeedbackStateMark, KindMark, nextStepOf } from './words.tsx';

export const PERIODS: [days: string, text: string][] = [
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
  ['365', 'Last year'],
];
export const DEFAULT_DAYS = '30';

const SHOWN: [value: string, text: string][] = [
  ['', 'All'],
  ['failing', 'Only failing'],
  ['own', 'Yours'],
  ['forwarder', 'Forwarders'],
  ['spoof', 'Not yours'],
  ['unknown', 'Unknown'],
];

const Query = v.strictObject({ days: v.optional(v.string()), show: v.optional(v.string()) });

const show = page({
  path: `${FEEDBACK}/domains/:id`,
  operation: 'showDomainFeedback',
  role: 'viewer',
  summary: 'Show what receivers report about a domain',
  query: Query,
  async handle(call) {
    const { app, params, query } = call;
    const id = params.id!;
    const domain = await findDomain(app.db, id);
    if (!domain) throw new AppError('not_found', 'No such domain.');
    const days = PERIODS.find(([value]) => value === query.days)?.[0] ?? DEFAULT_DAYS;
    const shown = SHOWN.find(([value]) => value === query.show)?.[0] ?? '';
    const from = dayBefore(lastDays(app).to, Number(days) - 1);
    const asked = { domain_id: id, from };
    const period = await periodOf(app, asked);
    const [sums, sources, advice, tls] = await Promise.all([
      call.invoke(feedbackOperations.dmarc, { query: asked }),
      call.invoke(sourceOperations.list, { query: asked }),
      call.invoke(sourceOperations.advice, { query: { domain_id: id } }),
      call.invoke(feedbackOperations.tls, { query: asked }),
    ]);
    const feedback = await feedbackOf(app, app.db, domain);
    const path = feedbackPath(id);
    const { totals, reporters } = sums;
    return appPage(call, {
      title: `Feedback on ${readableDomain(domain.name)}`,
      section: 'feedback',
      path: pathWith(path, { days: query.days, show: query.show }),
      parents: [{ href: FEEDBACK, text: 'Feedback' }],
      actions: <FeedbackStateMark state={feedback.state} />,
      calls: [
        { route: feedbackOperations.dmarc, query: asked },
        { route: sourceOperations.list, query: asked },
        { route: sourceOperations.advice, query: { domain_id: id } },
      ],
      children: (
        <>
          <DomainTabs id={id} current="overview" />
          <SetUp domain={domain.name} feedback={feedback} />
          {sums.days.length + sources.data.length > 0 && (
            <>
              <Advice domain={domain.name} advice={advice} />
              <Filters path={path} active={Boolean(query.days || query.show)}>
                <Select name="days" label="Period" value={days} options={PERIODS} />
                <Select name="show" label="Sources" value={shown} options={SHOWN} />
              </Filters>
              <Card title="Messages by day" id="by-day">
                <p>
                  {formatCount(totals.messages, 'message')}, of which {formatCount(totals.passed)}{' '}
                  passed DMARC
                  {totals.messages > 0 && ` (${formatPercent(totals.passed / totals.messages)})`}.
                  Receivers sent {formatCount(totals.quarantined)} to spam and rejected{' '}
                  {formatCount(totals.rejected)} because of your policy.
                </p>
                <p class="small muted">
                  {`Counted by ${formatCount(reporters.length, 'reporter')} from ${period.from} to ${period.to} (UTC). `}
                  Only some receivers send reports.
                </p>
                <DayChart days={sums.days} from={period.from} to={period.to} />
              </Card>
              <Sources sources={sources.data} shown={shown} />
            </>
          )}
          <Tls tls={tls} />
        </>
      ),
    });
  },
});

// The set-up, as steps that turn to done by themselves.

const REPORTS_SOON = 'Most receivers send their first report after 24 to 48 hours.';

function SetUp({ domain, feedback }: { domain: string; feedback: DomainFeedback }) {
  const { state, records, address, last_report_at } = feedback;
  const isWorking = state === 'receiving';
  const isPublished = isWorking || state === 'waiting' || state === 'stopped';
  const missing = records.filter(({ published }) => published !== true);
  const steps = (
    <ol class="steps">
      <li class={isPublished ? 'done' : ''}>
        <h3>1. Publish the address</h3>
        <p>
          Reports go to <code>{address}</code>. Publish the records below. They keep your existing
          addresses.
        </p>
        {records.length === 0 && <p class="muted">The records are being looked up.</p>}
        {missing.map((record) => (
          <div key={record.name} class="stack">
            {record.name.startsWith('*.') && (
              <p class="small">
                Publish this record once, at the domain of the feedback addresses. It covers all
                your domains. Without it, receivers do not send reports there.
              </p>
            )}
            <DnsRecord record={record} domain={domain} />
          </div>
        ))}
        {records.length > 0 && missing.length === 0 && <p>All records are published.</p>}
      </li>
      <li class={isWorking ? 'done' : ''}>
        <h3>2. Wait for the first report</h3>
        <p>{REPORTS_SOON}</p>
      </li>
      <li class={isWorking ? 'done' : ''}>
        <h3>3. Receive reports</h3>
        <p>
          {last_report_at === null ? (
            'No report has arrived yet.'
          ) : (
            <>
              The last report arrived <Ago at={last_report_at} />.
            </>
          )}
        </p>
      </li>
    </ol>
  );
  if (isWorking) return <Fold summary="Set up: receiving reports">{steps}</Fold>;
  return (
    <Card title={state === 'stopped' ? 'Reports have stopped' : 'Set up'} id="set-up">
      {state === 'stopped' && (
        <p>Reports arrived for a week or longer, and none in the last 3 days. Check the records.</p>
      )}
      {steps}
    </Card>
  );
}

// Who sends.

function Sources({ sources, shown }: { sources: FeedbackSource[]; shown: string }) {
  const rows = sources.filter((source) => isShown(source, shown));
  return (
    <Card title="Who sends mail from your domain" id="sources">
      {rows.length === 0 ? (
        <p class="muted">
          {sources.length === 0
            ? 'The senders are being looked up, a few each second.'
            : 'No sender matches.'}
        </p>
      ) : (
        <DataTable
          label="Senders"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `${FEEDBACK}/sources/${id}`}
        />
      )}
    </Card>
  );
}

function isShown({ kind, failed }: FeedbackSource, shown: string): boolean {
  if (shown === 'failing') return failed > 0 && kind !== 'spoof';
  if (shown === 'own') return kind === 'own' || kind === 'service' || kind === 'misconfigured';
  return shown === '' || kind === shown;
}

const COLUMNS: Column<FeedbackSource>[] = [
  { title: 'Sender', cell: ({ name, label }) => <bdi>{label ?? name}</bdi> },
  { title: 'Kind', cell: ({ kind }) => <KindMark kind={kind} /> },
  {
    title: 'Messages',
    number: true,
    wide: true,
    cell: ({ messages }) => formatCount(messages),
  },
  {
    title: 'Pass DMARC',
    cell: ({ messages, passed, kind }) => (
      <span class={`pass-share ${kind === 'misconfigured' ? 'fail' : 'pass'}`}>
        <ShareBar share={passed / messages} />
        <span class="small">{formatPercent(passed / messages)}</span>
      </span>
    ),
  },
  { title: 'Last seen', wide: true, cell: ({ last_day }) => last_day },
  { title: 'What to do', wide: true, cell: nextStepOf },
];

export const domainFeedbackPages = [show];

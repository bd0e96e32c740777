/** What TLS reports say: how often servers could not send with TLS, to which mail servers, and why. */

import * as v from 'valibot';
import { feedbackOperations } from '../../feedback/routes.ts';
import type { TlsFeedback } from '../../feedback/schemas/tls.ts';
import { MAX_POLICY_REPORTS } from '../../feedback/tls/policies.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { eventsOf } from '../../picture/explaining-events.ts';
import { DnsRecord } from '../domains/dns-record.tsx';
import { appPage } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { type Column, DataTable, pathWith } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { CountChart } from './count-chart.tsx';
import { type DomainPart, domainPart, periodInWords, reportsPath } from './domain-part.tsx';
import { FEEDBACK, feedbackPath } from './list.tsx';
import { PERIOD_QUERY, PeriodFilters } from './period.tsx';
import { DomainTabs } from './tabs.tsx';

type Sums = v.InferOutput<typeof TlsFeedback>;

/** In two lines, on the page of the domain. */
export function TlsSummary({ tls }: { tls: Sums }) {
  if (tls.succeeded + tls.failed === 0) return null;
  return (
    <Card
      title="TLS to your mail servers"
      id="tls"
      actions={<a href={pathOf(tls.domain_id)}>All TLS figures</a>}
    >
      <InWords tls={tls} />
    </Card>
  );
}

const pathOf = (id: string): string => `${feedbackPath(id)}/tls`;

function InWords({ tls }: { tls: Sums }) {
  const { succeeded, failed, reporter_count } = tls;
  const sessions = succeeded + failed;
  return (
    <>
      <p>
        {failed === 0
          ? `All ${formatCount(sessions, 'session')} used TLS.`
          : `${formatCount(failed)} of ${formatCount(sessions, 'session')} failed (${formatPercent(failed / sessions)}).`}
      </p>
      <p class="small muted">
        {`Counted by ${formatCount(reporter_count, 'reporter')} from ${periodInWords(tls)}. `}A
        session is one connection to your mail servers. Only some senders report. {NOT_OVER_HTTPS}
      </p>
    </>
  );
}

const show = page({
  path: `${FEEDBACK}/domains/:id/tls`,
  operation: 'showTlsFeedback',
  limited: true,
  role: 'viewer',
  summary: 'Show what TLS reports say about a domain',
  query: v.strictObject(PERIOD_QUERY),
  async handle(call) {
    const part = await domainPart(call, { name: 'tls', title: 'TLS reports about' });
    const { id, asked, path, frame, period } = part;
    const tls = await call.invoke(feedbackOperations.tls, { query: asked });
    const events = await eventsOf(call, id, tls);
    return appPage(call, {
      ...frame,
      calls: [{ route: feedbackOperations.tls, query: asked }],
      children: (
        <>
          <DomainTabs id={id} current="tls" />
          <PeriodFilters path={path} period={period} />
          {tls.succeeded + tls.failed === 0 ? (
            <NoReports part={part} />
          ) : (
            <>
              <Card
                title="Sessions by day"
                id="by-day"
                actions={
                  <a class="button" href={pathWith('/v1/feedback/tls/export', asked)} download>
                    Export as CSV
                  </a>
                }
              >
                <InWords tls={tls} />
                <CountChart
                  title="Sessions"
                  lacking="reports"
                  events={events}
                  series={[
                    { title: 'With TLS', count: ({ succeeded }) => succeeded, fill: 'solid' },
                    { title: 'Failed', count: ({ failed }) => failed, fill: 'striped' },
                  ]}
                  days={tls.days}
                  from={tls.from}
                  to={tls.to}
                  hrefOf={({ date }) => reportsPath({ domain_id: id, type: 'tls', day: date })}
                />
              </Card>
              {tls.failed > 0 && <Failures tls={tls} asked={asked} />}
              <Policies tls={tls} />
              <Card title="By reporter" id="by-reporter">
                <DataTable
                  label="Sessions by reporter"
                  rows={tls.reporters}
                  keyOf={({ id: reporter }) => reporter}
                  hrefOf={({ name }) => reportsPath({ domain_id: id, type: 'tls', reporter: name })}
                  columns={REPORTER_COLUMNS}
                />
              </Card>
            </>
          )}
        </>
      ),
    });
  },
});

const NOT_OVER_HTTPS =
  'Reports that arrive over HTTPS never count, because their sender cannot be verified.';

function NoReports({ part: { domain, feedback } }: { part: DomainPart }) {
  const record = feedback.records.find(({ name }) => name.startsWith('_smtp.'));
  const isPublished = record?.published === true;
  return (
    <>
      <EmptyState title="No TLS reports in this period">
        They show whether other servers can send mail to you over TLS and, if not, why.{' '}
        {isPublished
          ? 'The record for them is published. Services such as Google and Microsoft report once a day, after they have sent you mail.'
          : 'They arrive once the record for them is published.'}{' '}
        {NOT_OVER_HTTPS}
      </EmptyState>
      {record && !isPublished && (
        <Card title="The record to publish" id="record">
          <DnsRecord record={record} domain={domain} />
        </Card>
      )}
    </>
  );
}

const serverName = (name: string | null): string => name ?? 'not named';

/** Each reason with what to do, the most frequent first. */
function Failures({ tls, asked }: { tls: Sums; asked: DomainPart['asked'] }) {
  const { failed, reasons, failures, servers } = tls;
  const explained = reasons.reduce((sum, { sessions }) => sum + sessions, 0);
  const serversOf = (type: string, all: number) => {
    const found = failures.filter(({ result_type }) => result_type === type);
    const names = found.map(
      ({ receiving_mx, sessions }) => `${serverName(receiving_mx)} (${formatCount(sessions)})`,
    );
    const rest = all - found.reduce((sum, { sessions }) => sum + sessions, 0);
    if (names.length === 0) return '';
    return ` Mail servers: ${[...names, ...(rest > 0 ? [`others (${formatCount(rest)})`] : [])].join(', ')}.`;
  };
  return (
    <>
      <Card
        title="Why sessions failed"
        id="failures"
        actions={
          reasons.length > 0 && (
            <a class="button" href={pathWith('/v1/feedback/tls/failures/export', asked)} download>
              Export as CSV
            </a>
          )
        }
      >
        <ul class="rejections">
          {reasons.map(({ result_type, sessions, meaning, fix }) => (
            <li key={result_type}>
              <h3>{meaning}</h3>
              <p>{fix}</p>
              <p class="small muted">
                {`${formatCount(sessions)} of ${formatCount(failed, 'failed session')}, reported as `}
                <code>{result_type}</code>
                {`.${serversOf(result_type, sessions)}`}
              </p>
            </li>
          ))}
        </ul>
        {explained < failed && (
          <p class="small muted">
            {`For ${formatCount(failed - explained, 'failed session')}, the reports give no reason.`}
          </p>
        )}
      </Card>
      {servers.length > 0 && (
        <Card title="Failures by mail server" id="by-server">
          <DataTable
            label="Failed sessions by mail server"
            rows={servers}
            keyOf={({ receiving_mx }) => receiving_mx ?? ''}
            columns={[
              {
                title: 'Mail server',
                cell: ({ receiving_mx }) =>
                  receiving_mx === null ? (
                    <span class="muted">Not named in the reports</span>
                  ) : (
                    <code>{receiving_mx}</code>
                  ),
              },
              {
                title: 'Failed sessions',
                number: true,
                cell: ({ sessions }) => formatCount(sessions),
              },
            ]}
          />
          <p class="small muted">Reports do not name the mail server of successful sessions.</p>
        </Card>
      )}
    </>
  );
}

const POLICY_WORDS: Record<string, string> = {
  sts: 'MTA-STS',
  tlsa: 'DANE (TLSA)',
  'no-policy-found': 'No policy',
};

const MODE_WORDS: Record<string, string> = {
  enforce: 'senders deliver only with valid TLS',
  testing: 'senders report failures and deliver anyway',
  none: 'the policy is turned off',
};

function meaningOf({ policy_type, mode }: Sums['policies'][number]): string {
  if (mode !== null) return `mode ${mode}: ${MODE_WORDS[mode]}`;
  if (policy_type === 'no-policy-found') return 'senders use TLS if your servers offer it';
  return policy_type === 'tlsa' ? 'senders deliver only with a certificate that matches' : '';
}

function Policies({ tls: { policies } }: { tls: Sums }) {
  if (policies.length === 0) return null;
  return (
    <Card title="By policy" id="by-policy">
      <DataTable<Sums['policies'][number]>
        label="Sessions by policy"
        rows={policies}
        keyOf={({ policy_type, mode }) => `${policy_type} ${mode}`}
        columns={[
          {
            title: 'Policy',
            cell: (policy) => (
              <>
                {POLICY_WORDS[policy.policy_type] ?? policy.policy_type}
                <div class="small muted">{meaningOf(policy)}</div>
              </>
            ),
          },
          ...SESSION_COLUMNS,
        ]}
      />
      <p class="small muted">
        {`From the newest ${formatCount(MAX_POLICY_REPORTS)} reports at most. Reports whose details have expired are not included.`}
      </p>
    </Card>
  );
}

const SESSION_COLUMNS: Column<{ succeeded: number; failed: number }>[] = [
  {
    title: 'Sessions',
    number: true,
    cell: ({ succeeded, failed }) => formatCount(succeeded + failed),
  },
  { title: 'Failed', number: true, cell: ({ failed }) => formatCount(failed) },
];

const REPORTER_COLUMNS: Column<Sums['reporters'][number]>[] = [
  { title: 'Reporter', cell: ({ name }) => <bdi>{name}</bdi> },
  ...SESSION_COLUMNS,
  { title: 'Reports', number: true, wide: true, cell: ({ reports }) => formatCount(reports) },
  { title: 'Newest report', wide: true, cell: ({ last_at }) => <Ago at={last_at} /> },
];

export const tlsPages = [show];

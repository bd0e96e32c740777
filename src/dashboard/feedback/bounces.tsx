/** Messages of a domain that bounced: how many, why providers rejected them, and what a test found about it. */

import type * as v from 'valibot';
import { explainBounce, RFC_3463 } from '../../feedback/bounces/explain.ts';
import { BOUNCE_CLASSES, CLASSES } from '../../feedback/reading/report.ts';
import { feedbackOperations } from '../../feedback/routes.ts';
import type { ListedBounce } from '../../feedback/schemas/message.ts';
import type { BounceSummary } from '../../feedback/schemas/message-sums.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { printable } from '../../lib/log.ts';
import { eventsOf } from '../../picture/explaining-events.ts';
import { appPage } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { Filters } from '../frame/filters.tsx';
import { Select } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, Pager, pathWith } from '../frame/table.tsx';
import { Ago, Time } from '../frame/times.tsx';
import { CountChart } from './count-chart.tsx';
import { FEEDBACK } from './list.tsx';
import { CountTables, MessagesQuery, messageColumns, messagesPage } from './messages.tsx';
import { PERIODS } from './period.tsx';
import { DomainTabs } from './tabs.tsx';

const PAGE_SIZE = '25';
/** The newest rejections, which are grouped by what they mean. */
const MAX_REJECTIONS = '100';
const MAX_CODES = 10;

const CLASS_FILLS = {
  policy: 'solid',
  hard: 'striped',
  soft: 'hollow',
  unknown: 'dotted',
} as const;

const show = page({
  path: `${FEEDBACK}/domains/:id/bounces`,
  operation: 'showBounces',
  limited: true,
  role: 'viewer',
  summary: 'Show the messages of a domain that bounced',
  query: MessagesQuery,
  async handle(call) {
    const { query } = call;
    const { id, days, asked, path, frame, feedback } = await messagesPage(call, {
      name: 'bounces',
      title: 'Bounces of',
    });
    const bounceClass = BOUNCE_CLASSES.find((one) => one === query.class);
    const { starting_after, ending_before } = query;
    const cursors = { starting_after, ending_before };
    const listed = { ...asked, class: bounceClass, limit: PAGE_SIZE };
    const rejectionQuery = { ...asked, class: 'policy', limit: MAX_REJECTIONS };
    const [sums, list, rejections] = await Promise.all([
      call.invoke(feedbackOperations.bouncesSummary, { query: asked }),
      call.invoke(feedbackOperations.bounces, { query: { ...listed, ...cursors } }),
      call.invoke(feedbackOperations.bounces, { query: rejectionQuery }),
    ]);
    const events = await eventsOf(call, id, sums);
    return appPage(call, {
      ...frame,
      calls: [
        { route: feedbackOperations.bouncesSummary, query: asked },
        { route: feedbackOperations.bounces, query: rejectionQuery },
      ],
      children: (
        <>
          <DomainTabs id={id} current="bounces" />
          <Filters path={path} active={Boolean(query.days || query.class)}>
            <Select name="days" label="Period" value={days} options={PERIODS} />
            <Select
              name="class"
              label="Result"
              value={bounceClass ?? ''}
              options={[
                ['', 'All'],
                ...BOUNCE_CLASSES.map((one): [string, string] => [one, CLASSES[one].word]),
              ]}
            />
          </Filters>
          {sums.total === 0 ? (
            <EmptyState title="No bounces in this period">
              Bounces arrive if your mail uses this address as its envelope sender (MAIL FROM):{' '}
              <code>{feedback.address}</code>. SPF then applies to{' '}
              <code>{feedback.address.split('@')[1]}</code> and does not align with your domain. Use
              this only for mail that you sign with aligned DKIM, and add your servers to that
              domain’s SPF record.
            </EmptyState>
          ) : (
            <>
              <Card
                title="Bounces by day"
                id="by-day"
                actions={
                  <a
                    class="button"
                    href={pathWith('/v1/feedback/bounces/export', {
                      ...asked,
                      to: sums.to,
                      class: bounceClass,
                    })}
                    download
                  >
                    Export as CSV
                  </a>
                }
              >
                <InWords sums={sums} />
                <p class="small muted">
                  Servers rarely sign bounces, so many senders are not authenticated. Bounces alone
                  open no incident.
                </p>
                <CountChart
                  title="Bounces"
                  lacking="bounces"
                  events={events}
                  series={BOUNCE_CLASSES.map((one) => ({
                    title: CLASSES[one].word,
                    count: (day: Sums['days'][number]) => day[one],
                    fill: CLASS_FILLS[one],
                  }))}
                  days={sums.days}
                  from={sums.from}
                  to={sums.to}
                />
              </Card>
              <Rejections bounces={rejections.data} isAll={!rejections.has_more} />
              <CountTables
                title="Bounces"
                providers={sums.providers}
                sources={sums.sources}
                unread={sums.sources_unread}
              />
              <Codes codes={sums.codes} />
              <Card title="Newest bounces" id="newest">
                {list.data.length === 0 ? (
                  <p class="muted">No bounce matches.</p>
                ) : (
                  <>
                    <DataTable
                      label="Newest bounces"
                      rows={list.data}
                      keyOf={({ id }) => id}
                      columns={[
                        ...messageColumns<ListedBounce>(),
                        {
                          title: 'Result',
                          cell: (bounce) => (
                            <>
                              {CLASSES[bounce.class].word}
                              {codeOf(bounce) && ` (${codeOf(bounce)})`}
                            </>
                          ),
                        },
                      ]}
                    />
                    <Pager
                      path={path}
                      cursors={cursors}
                      query={{ days: query.days, class: bounceClass }}
                      rows={list.data}
                      hasMore={list.has_more}
                    />
                  </>
                )}
              </Card>
            </>
          )}
        </>
      ),
    });
  },
});

type Sums = v.InferOutput<typeof BounceSummary>;

/** The sums first, then what they are based on. */
function InWords({ sums }: { sums: Sums }) {
  const { total, classes, providers, messages, from, to } = sums;
  const parts = BOUNCE_CLASSES.flatMap((one) => {
    const count = classes.find((row) => row.class === one)?.count ?? 0;
    return count > 0
      ? [`${formatCount(count)} ${one === 'unknown' ? 'for an unknown reason' : one}`]
      : [];
  });
  return (
    <>
      <p>{`${formatCount(total, 'bounce')}: ${parts.join(', ')}.`}</p>
      <p class="small muted">
        {`From ${formatCount(providers.length, 'provider')}, ${dayInWords(from)} to ${dayInWords(to)} (UTC). Each recipient counts as one bounce. `}
        {messages > 0 && `DMARC reports count ${formatCount(messages, 'message')} in this period. `}
        Bounces can be forged, so they don’t trigger alerts.
      </p>
    </>
  );
}

// What providers mean by their rejections.

function Rejections({ bounces, isAll }: { bounces: ListedBounce[]; isAll: boolean }) {
  if (bounces.length === 0) return null;
  const groups = [
    ...Map.groupBy(bounces, ({ explanation, status_code, finding }) =>
      JSON.stringify([explanation?.provider, explanation?.text ?? status_code, finding?.test_id]),
    ).values(),
  ].sort((a, b) => b.length - a.length);
  return (
    <Card title="Rejected by policy" id="rejected">
      <p>
        Providers reject these messages because of authentication, reputation or content. You can
        fix most of the causes.
      </p>
      <ul class="rejections">
        {groups.map((group) => (
          <Rejection key={group[0]!.id} group={group} total={bounces.length} isAll={isAll} />
        ))}
      </ul>
    </Card>
  );
}

/** Null for the general code that stands for a reply without one. */
const codeOf = ({ status_code }: ListedBounce): string | null =>
  status_code === null || /^\d\.0\.0$/.test(status_code) ? null : status_code;

interface RejectionProps {
  /** The bounces with the same meaning, the newest first. */
  group: ListedBounce[];
  total: number;
  isAll: boolean;
}

function Rejection({ group, total, isAll }: RejectionProps) {
  const { explanation, diagnostic, provider, finding, received_at } = group[0]!;
  const who = explanation?.provider ?? provider;
  const code = codeOf(group[0]!);
  return (
    <li>
      <h3>
        <bdi>{who === 'unknown' ? 'Unknown provider' : who}</bdi>
        {code && ` ${code}`}
      </h3>
      <p>{explanation?.text ?? 'The reply gives no reason that we know.'}</p>
      {diagnostic && (
        <p class="reply">
          <code>{printable(diagnostic)}</code>
        </p>
      )}
      <p class="small muted">
        {`${formatCount(group.length)} of ${isAll ? '' : 'the newest '}${formatCount(total, 'rejection')}, the last one `}
        <Ago at={received_at} />.
        {explanation?.reference && (
          <>
            {' '}
            <a href={explanation.reference} rel="noreferrer">
              {explanation.reference === RFC_3463
                ? 'Status codes in RFC 3463'
                : `${explanation.provider} error codes`}
            </a>
          </>
        )}
      </p>
      {finding && (
        <div class="finding">
          <p>
            Your test of <Time at={finding.completed_at} day /> found a likely cause:{' '}
            <a href={`/tests/${finding.test_id}#check-${finding.check_id}`}>{finding.title}</a>
          </p>
          {finding.fix && <p>{finding.fix}</p>}
        </div>
      )}
    </li>
  );
}

const meaningOf = (status_code: string): string =>
  explainBounce({ provider: '', status_code, diagnostic: null })?.text ?? '–';

/** Without the replies of providers, so they are explained by RFC 3463. */
function Codes({ codes }: Pick<Sums, 'codes'>) {
  const rows = codes.filter(({ status_code }) => status_code !== null).slice(0, MAX_CODES);
  if (rows.length === 0) return null;
  return (
    <Card title="By code" id="by-code">
      <DataTable
        label="Bounces by code"
        rows={rows}
        keyOf={({ status_code }) => status_code!}
        columns={[
          {
            title: 'Code',
            cell: ({ status_code }) => <code class="nowrap">{status_code}</code>,
          },
          { title: 'Meaning', cell: ({ status_code }) => meaningOf(status_code!) },
          { title: 'Bounces', number: true, cell: ({ count }) => formatCount(count) },
        ]}
      />
    </Card>
  );
}

export const bouncePages = [show];

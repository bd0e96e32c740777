/** Complaints about a domain: how many, at which providers, and about whose messages. */

import type * as v from 'valibot';
import { feedbackOperations } from '../../feedback/routes.ts';
import type { ListedComplaint } from '../../feedback/schemas/message.ts';
import type { ComplaintSummary } from '../../feedback/schemas/message-sums.ts';
import { SPAM_LIMIT_TEXT } from '../../figures/gmail.ts';
import { formatCount, rateInWords } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { eventsOf } from '../../picture/explaining-events.ts';
import { appPage } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { Filters } from '../frame/filters.tsx';
import { Select } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, Pager, pathWith } from '../frame/table.tsx';
import { CountChart } from './count-chart.tsx';
import { FEEDBACK } from './list.tsx';
import { CountTables, MessagesQuery, messageColumns, messagesPage } from './messages.tsx';
import { PERIODS } from './period.tsx';
import { DomainTabs } from './tabs.tsx';
import { UnconfirmedNotice } from './unconfirmed.tsx';

const PAGE_SIZE = '25';

const show = page({
  path: `${FEEDBACK}/domains/:id/complaints`,
  operation: 'showComplaints',
  limited: true,
  role: 'viewer',
  summary: 'Show the complaints about a domain',
  query: MessagesQuery,
  async handle(call) {
    const { query } = call;
    const { id, days, asked, path, frame, feedback } = await messagesPage(call, {
      name: 'complaints',
      title: 'Complaints about',
    });
    const { starting_after, ending_before } = query;
    const cursors = { starting_after, ending_before };
    const listed = { ...asked, limit: PAGE_SIZE };
    const [sums, list, unconfirmed] = await Promise.all([
      call.invoke(feedbackOperations.complaintsSummary, { query: asked }),
      call.invoke(feedbackOperations.complaints, { query: { ...listed, ...cursors } }),
      call.invoke(feedbackOperations.unconfirmed, { query: { domain_id: id } }),
    ]);
    const events = await eventsOf(call, id, sums);
    return appPage(call, {
      ...frame,
      calls: [
        { route: feedbackOperations.complaintsSummary, query: asked },
        { route: feedbackOperations.complaints, query: listed },
      ],
      children: (
        <>
          <DomainTabs id={id} current="complaints" />
          <UnconfirmedNotice unconfirmed={unconfirmed} />
          <Filters path={path} active={Boolean(query.days)}>
            <Select name="days" label="Period" value={days} options={PERIODS} />
          </Filters>
          {list.data.length === 0 ? (
            <EmptyState title="No complaints in this period">
              Complaints arrive once you enroll in the feedback loops of providers such as Yahoo and
              Microsoft. Give them this address: <code>{feedback.address}</code>
            </EmptyState>
          ) : (
            <>
              <Card
                title="Complaints by day"
                id="by-day"
                actions={
                  <a
                    class="button"
                    href={pathWith('/v1/feedback/complaints/export', { ...asked, to: sums.to })}
                    download
                  >
                    Export as CSV
                  </a>
                }
              >
                <InWords sums={sums} />
                <CountChart
                  title="Complaints"
                  lacking="complaints"
                  events={events}
                  series={[{ title: 'Complaints', count: ({ count }) => count, fill: 'solid' }]}
                  days={sums.days}
                  from={sums.from}
                  to={sums.to}
                />
              </Card>
              {sums.total > 0 && (
                <CountTables title="Complaints" providers={sums.providers} sources={sums.sources} />
              )}
              <Card title="Newest complaints" id="newest">
                <DataTable
                  label="Newest complaints"
                  rows={list.data}
                  keyOf={({ id }) => id}
                  columns={[
                    ...messageColumns<ListedComplaint>(),
                    { title: 'Kind', cell: ({ kind }) => KIND_WORDS[kind] ?? kind },
                  ]}
                />
                <Pager
                  path={path}
                  cursors={cursors}
                  query={{ days: query.days }}
                  rows={list.data}
                  hasMore={list.has_more}
                />
              </Card>
            </>
          )}
        </>
      ),
    });
  },
});

const KIND_WORDS: Record<string, string> = {
  abuse: 'Spam',
  fraud: 'Fraud',
  virus: 'Virus',
  'not-spam': 'Not spam',
};

/** The sums first, then what they are based on. */
function InWords({ sums }: { sums: v.InferOutput<typeof ComplaintSummary> }) {
  const { total, messages, providers, kinds, from, to } = sums;
  const notSpam = kinds.find(({ kind }) => kind === 'not-spam')?.count ?? 0;
  return (
    <>
      <p>
        {total === 0
          ? 'No provider reported a spam complaint.'
          : `Recipients marked ${formatCount(total, 'message')} as spam.`}
        {total > 0 && messages > 0 && ` ${shareOfMail(total, messages)}`}
        {notSpam > 0 && ` They marked ${formatCount(notSpam, 'message')} as not spam.`}
      </p>
      <p class="small muted">
        {`${providers.length > 0 ? `Reported by ${formatCount(providers.length, 'provider')} from` : 'From'} ${dayInWords(from)} to ${dayInWords(to)} (UTC). `}
        Only providers with a feedback loop report complaints. Gmail shows its rate in Postmaster
        Tools instead.
      </p>
    </>
  );
}

/** Both numbers, because complaints and DMARC reports come from different providers. */
const shareOfMail = (total: number, messages: number): string =>
  `DMARC reports count ${formatCount(messages, 'message')} in the same period, so this is ${rateInWords(total / messages)}. Gmail and Yahoo require a rate below ${SPAM_LIMIT_TEXT}.`;

export const complaintPages = [show];

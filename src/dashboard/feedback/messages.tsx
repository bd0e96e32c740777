/** What the pages of complaints and of bounces have in common: the period, the frame, and tables of counts. */

import * as v from 'valibot';
import { type DomainFeedback, feedbackOf } from '../../domains/feedback/state.ts';
import { findDomain } from '../../domains/queries.ts';
import { providerName } from '../../feedback/bounces/explain.ts';
import type { ListedBounce, ListedComplaint } from '../../feedback/schemas/message.ts';
import { dayBefore, lastDays } from '../../feedback/sums.ts';
import { AppError } from '../../lib/errors.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import type { PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type Column, DataTable, pathWith } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { FEEDBACK, feedbackPath } from './list.tsx';
import { DEFAULT_DAYS, PERIODS } from './period.tsx';

export const MessagesQuery = v.strictObject({
  days: v.optional(v.string()),
  class: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
});
export type MessagesQuery = v.InferOutput<typeof MessagesQuery>;

export interface MessagesPage {
  id: string;
  feedback: DomainFeedback;
  /** The chosen period, one of PERIODS. */
  days: string;
  /** What the API is asked: the domain and the period. */
  asked: { domain_id: string; from: string };
  path: string;
  frame: {
    title: string;
    section: 'feedback';
    path: string;
    parents: { href: string; text: string }[];
  };
}

interface PeriodCall extends Pick<PageCall, 'app'> {
  params: Record<string, string>;
  query: MessagesQuery;
}

/** Throws `not_found`. */
export async function messagesPage(
  { app, params, query }: PeriodCall,
  { name, title }: { name: 'complaints' | 'bounces'; title: string },
): Promise<MessagesPage> {
  const id = params.id!;
  const domain = await findDomain(app.db, id);
  if (!domain) throw new AppError('not_found', 'No such domain.');
  const days = PERIODS.find(([value]) => value === query.days)?.[0] ?? DEFAULT_DAYS;
  const path = `${feedbackPath(id)}/${name}`;
  const readable = readableDomain(domain.name);
  return {
    id,
    days,
    path,
    feedback: await feedbackOf(app, app.db, domain),
    asked: { domain_id: id, from: dayBefore(lastDays(app).to, Number(days) - 1) },
    frame: {
      title: `${title} ${readable}`,
      section: 'feedback',
      path: pathWith(path, { days: query.days, class: query.class }),
      parents: [
        { href: FEEDBACK, text: 'Feedback' },
        { href: feedbackPath(id), text: readable },
      ],
    },
  };
}

interface SourceCount {
  source_id: string | null;
  name: string | null;
  count: number;
  messages: number | null;
}

const MAX_SHOWN = 10;

/** Two cards: who reports or rejects, and who sent the messages. */
export function CountTables({
  title,
  providers,
  sources,
  unread = 0,
}: {
  /** What is counted, such as "Complaints". */
  title: string;
  /** How many the table of sources leaves out. */
  unread?: number;
  providers: { provider: string | null; count: number }[];
  sources: SourceCount[];
}) {
  return (
    <>
      <Card title="By provider" id="by-provider">
        <DataTable
          label={`${title} by provider`}
          rows={providers.slice(0, MAX_SHOWN)}
          keyOf={({ provider }) => provider ?? ''}
          columns={[
            { title: 'Provider', cell: ({ provider }) => <Provider domain={provider} /> },
            { title, number: true, cell: ({ count }) => formatCount(count) },
          ]}
        />
        <Rest count={providers.length - MAX_SHOWN} />
      </Card>
      <Card title="By source" id="by-source">
        <DataTable
          label={`${title} by source`}
          rows={sources.slice(0, MAX_SHOWN)}
          keyOf={({ source_id, name }) => source_id ?? name ?? ''}
          columns={[
            {
              title: 'Source',
              cell: ({ source_id, name }) => <Source source={name && { id: source_id, name }} />,
            },
            { title, number: true, cell: ({ count }) => formatCount(count) },
            {
              title: 'Messages in DMARC reports',
              number: true,
              wide: true,
              cell: ({ messages }) => (messages === null ? '–' : formatCount(messages)),
            },
          ]}
        />
        <Rest count={sources.length - MAX_SHOWN} />
        {unread > 0 && (
          <p class="small muted">
            {`Excludes ${formatCount(unread)} older ${title.toLowerCase()}: their reporting server is not a known source, and only the newest 500 returned messages are read.`}
          </p>
        )}
      </Card>
    </>
  );
}

const Rest = ({ count }: { count: number }) =>
  count > 0 ? <p class="small muted">{`And ${formatCount(count)} more, in the API.`}</p> : null;

export function Provider({ domain }: { domain: string | null }) {
  const name = domain === null ? null : providerName(domain);
  if (domain === null || domain === 'unknown') return <>Unknown provider</>;
  return name === null ? (
    <bdi>{domain}</bdi>
  ) : (
    <>
      {name} <span class="small muted">{domain}</span>
    </>
  );
}

export function Source({ source }: { source: { id: string | null; name: string } | null | '' }) {
  if (!source) return <span class="muted">Unknown source</span>;
  const name = <bdi>{source.name}</bdi>;
  return source.id === null ? name : <a href={`${FEEDBACK}/sources/${source.id}`}>{name}</a>;
}

/** The columns that tables of complaints and bounces begin with. */
export const messageColumns = <Row extends ListedComplaint | ListedBounce>(): Column<Row>[] => [
  {
    title: 'Message',
    cell: ({ subject, recipient_domain, received_at }) => (
      <>
        {/* Many receivers remove it from their reports. */}
        {subject === null ? 'Subject not reported' : <bdi>{subject || 'No subject'}</bdi>}
        <div class="small muted">
          {recipient_domain && (
            <>
              to <bdi>{recipient_domain}</bdi>,{' '}
            </>
          )}
          <Ago at={received_at} />
        </div>
      </>
    ),
  },
  { title: 'Source', wide: true, cell: ({ source }) => <Source source={source} /> },
  {
    title: 'Reported by',
    wide: true,
    cell: ({ reporter }) => <bdi>{reporter ?? 'Not authenticated'}</bdi>,
  },
];

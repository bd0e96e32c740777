/** Sums of complaints and bounces over a period. */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { App } from '../../app.ts';
import type { Db } from '../../store/open.ts';
import { isOfCountedReport } from '../queries.ts';
import { byClass } from '../reading/report.ts';
import { messagesOf as messagesOfSources } from '../sources/queries.ts';
import type { Period } from '../sums.ts';
import { messageCounts, messageDays } from './counts.ts';
import { bounceEvidence, complaintEvidence, messagesOf } from './describe.ts';
import { type MessageSource, readSources, type SenderEvidence } from './sources.ts';

const MAX_LISTED = 400;

/** The largest first. An empty value stands for an unknown one. */
const listed = <Name extends string>(counts: { value: string; count: number }[], name: Name) =>
  counts
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MAX_LISTED)
    .map(
      ({ value, count }) =>
        ({ [name]: value || null, count }) as Record<Name, string> & { count: number },
    );

const totalOf = (rows: { count: number }[]): number =>
  rows.reduce((sum, row) => sum + row.count, 0);

/** The messages of the domain that DMARC reports count, to compare with. */
async function messagesIn(db: Db, { domain, from, to }: Period): Promise<number> {
  const row = await db
    .selectFrom('dmarc_days')
    .select(({ fn }) => fn.sum('messages').as('messages'))
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .executeTakeFirstOrThrow();
  return Number(row.messages ?? 0);
}

/** The sums for each source, with the messages that DMARC reports count for it. */
async function bySource(
  db: Db,
  period: Period,
  counts: { source: MessageSource | null; count: number }[],
) {
  const sums = new Map<string, { source: MessageSource | null; count: number }>();
  for (const { source, count } of counts) {
    const key = source === null ? '' : (source.id ?? source.name);
    sums.set(key, { source, count: (sums.get(key)?.count ?? 0) + count });
  }
  const sorted = [...sums.values()]
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || Number(a.source === null) - Number(b.source === null))
    .slice(0, MAX_LISTED);
  const ids = sorted.flatMap(({ source }) => source?.id ?? []);
  const messages = await messagesOfSources(db, period, ids);
  return sorted.map(({ source, count }) => ({
    source_id: source?.id ?? null,
    name: source?.name ?? null,
    count,
    messages: messages.get(source?.id ?? '')?.messages ?? null,
  }));
}

export async function complaintSummary({ db }: App, period: Period) {
  const { domain, from, to } = period;
  const asked = { domains: [domain.id], from, to };
  const [days, kinds, providers, senders, messages] = await Promise.all([
    messageDays(db, period, 'complaint kind'),
    messageCounts(db, asked, 'complaint kind'),
    messageCounts(db, asked, 'complaint provider'),
    messageCounts(db, asked, 'complaint sender'),
    messagesIn(db, period),
  ]);
  const abuse = senders.map(({ value, count }) => ({ evidence: senderIn(value), count }));
  const find = await readSources(
    db,
    domain.id,
    abuse.map(({ evidence }) => complaintEvidence(evidence)),
  );
  const addresses = new Map<string, number>();
  for (const { evidence, count } of abuse) {
    const address = evidence.address ?? '';
    addresses.set(address, (addresses.get(address) ?? 0) + count);
  }
  return {
    object: 'complaint_summary' as const,
    domain_id: domain.id,
    from,
    to,
    total: totalOf(abuse),
    messages,
    days: days
      .filter(({ value }) => value === 'abuse')
      .map(({ day, count }) => ({ date: day, count })),
    kinds: listed(kinds, 'kind'),
    providers: listed(providers, 'provider'),
    addresses: listed(
      [...addresses].map(([value, count]) => ({ value, count })),
      'address',
    ),
    sources: await bySource(
      db,
      period,
      abuse.map(({ evidence, count }) => ({ source: find(complaintEvidence(evidence)), count })),
    ),
  };
}

/** The address and the signature of a value of `complaint sender`. */
function senderIn(value: string): { address: string | null; dkim_domain: string | null } {
  const space = value.indexOf(' ');
  return { address: value.slice(0, space) || null, dkim_domain: value.slice(space + 1) || null };
}

export async function bounceSummary({ db }: App, period: Period) {
  const { domain, from, to } = period;
  const asked = { domains: [domain.id], from, to };
  const [days, classes, providers, codes, servers, messages] = await Promise.all([
    messageDays(db, period, 'bounce class'),
    messageCounts(db, asked, 'bounce class'),
    messageCounts(db, asked, 'bounce provider'),
    messageCounts(db, asked, 'bounce status'),
    messageCounts(db, asked, 'bounce server'),
    messagesIn(db, period),
  ]);
  const { sources, unread } = await bounceSources(
    db,
    period,
    servers.map(({ value, count }) => ({ reporting_server: value || null, count })),
  );
  return {
    object: 'bounce_summary' as const,
    domain_id: domain.id,
    from,
    to,
    total: totalOf(classes),
    messages,
    days: [...Map.groupBy(days, ({ day }) => day)].map(([date, rows]) => {
      const of = (name: string) => totalOf(rows.filter(({ value }) => value === name));
      return { date, count: totalOf(rows), ...byClass(of) };
    }),
    classes: listed(classes, 'class'),
    providers: listed(providers, 'provider'),
    codes: listed(codes, 'status_code'),
    sources: await bySource(db, period, sources),
    sources_unread: unread,
  };
}

/** Returned messages are read one by one, so only so many. */
const MAX_READ = 500;

interface BounceSources {
  sources: { source: MessageSource | null; count: number }[];
  /** Bounces whose source would need more returned messages than are read. */
  unread: number;
}

/** By the reporting server, over the whole period. If that is no sender, by the returned messages of the newest bounces. */
async function bounceSources(
  db: Db,
  { domain, from, to }: Period,
  servers: { reporting_server: string | null; count: number }[],
): Promise<BounceSources> {
  const evidenceOf = ({ reporting_server }: (typeof servers)[number]): SenderEvidence =>
    bounceEvidence(reporting_server);
  const find = await readSources(db, domain.id, servers.map(evidenceOf));
  const found = servers.map((row) => ({ ...row, source: find(evidenceOf(row)) }));
  const known = found.filter(({ source }) => source !== null);
  const unknown = found.filter(({ source }) => source === null);
  if (unknown.length === 0) return { sources: known, unread: 0 };
  const newest = await db
    .selectFrom('bounces')
    .select(['report_id', 'reporting_server'])
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .where(isOneOf(unknown.map(({ reporting_server }) => reporting_server)))
    .where(isOfCountedReport)
    .orderBy('id', 'desc')
    .limit(MAX_READ)
    .execute();
  const messages = await messagesOf(
    db,
    newest.map(({ report_id }) => report_id),
  );
  const evidence = newest.map(({ report_id, reporting_server }) =>
    bounceEvidence(reporting_server, messages.get(report_id)),
  );
  const findByMessage = await readSources(db, domain.id, evidence);
  const read = evidence.map((one) => ({ source: findByMessage(one), count: 1 }));
  return { sources: [...known, ...read], unread: totalOf(unknown) - totalOf(read) };
}

/** SQLite and PostgreSQL take more parameters than that in one statement. */
const MAX_NAMES = 10_000;

function isOneOf(servers: (string | null)[]): RawBuilder<SqlBool> {
  const names = servers.filter((name) => name !== null).slice(0, MAX_NAMES);
  const isNamed = names.length > 0 ? sql`or reporting_server in (${sql.join(names)})` : sql``;
  return sql<SqlBool>`(reporting_server is null ${isNamed})`;
}

/** Sums of complaints and bounces over a period. */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { App } from '../../app.ts';
import type { Db } from '../../store/open.ts';
import { REPORT_STATUSES } from '../status.ts';
import type { Period } from '../sums.ts';
import { bounceEvidence, complaintEvidence, messagesOf } from './describe.ts';
import { type MessageSource, readSources, type SenderEvidence } from './sources.ts';

const MAX_LISTED = 400;

type Count<Columns extends string> = Record<Columns, string> & { count: number };

/**
 * How many there are for each combination of values: one pass over the rows of the period, from which all sums follow.
 * `uncounted` is the type of the reports of which some rows do not count.
 */
async function countBy<Columns extends string>(
  db: Db,
  { table, columns, uncounted }: { table: string; columns: Columns[]; uncounted?: 'complaint' },
  { domain, from, to }: Period,
): Promise<Count<Columns>[]> {
  const list: RawBuilder<unknown> = sql.join(columns.map((column) => sql.ref(column)));
  // They are few, so this is faster than a look at the report of each row.
  const ofCounted = uncounted
    ? sql`and report_id not in (select id from feedback_reports
        where domain_id = ${domain.id} and type = ${uncounted}
          and status in (${sql.join(REPORT_STATUSES.filter((status) => status !== 'counted'))}))`
    : sql``;
  const { rows } = await sql<Count<Columns>>`
    select ${list}, count(*) as count
    from ${sql.table(table)}
    where domain_id = ${domain.id} and day >= ${from} and day <= ${to} ${ofCounted}
    group by ${list}`.execute(db);
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** The sums for each value of a column, the largest first. */
function sumBy<Name extends string, Row extends Record<Name, string | null> & { count: number }>(
  rows: Row[],
  name: Name,
  limit = MAX_LISTED,
) {
  const sums = new Map<string | null, number>();
  for (const row of rows) sums.set(row[name], (sums.get(row[name]) ?? 0) + row.count);
  return [...sums]
    .map(([value, count]) => ({ [name]: value, count }) as Record<Name, string> & { count: number })
    .sort((a, b) => b.count - a.count || ((a[name] ?? '') < (b[name] ?? '') ? -1 : 1))
    .slice(0, limit);
}

const totalOf = (rows: { count: number }[]): number =>
  rows.reduce((sum, row) => sum + row.count, 0);

const byDate = (a: { date: string }, b: { date: string }) => (a.date < b.date ? -1 : 1);

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
  { from, to }: Period,
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
  const messages = new Map<string, number>();
  if (ids.length > 0) {
    const rows = await db
      .selectFrom('feedback_source_days')
      .select('source_id')
      .select(({ fn }) => fn.sum('messages').as('messages'))
      .where('source_id', 'in', ids)
      .where('day', '>=', from)
      .where('day', '<=', to)
      .groupBy('source_id')
      .execute();
    for (const row of rows) messages.set(row.source_id, Number(row.messages));
  }
  return sorted.map(({ source, count }) => ({
    source_id: source?.id ?? null,
    name: source?.name ?? null,
    count,
    messages: messages.get(source?.id ?? '') ?? null,
  }));
}

export async function complaintSummary({ db }: App, period: Period) {
  const { domain, from, to } = period;
  const [counts, messages] = await Promise.all([
    countBy(
      db,
      {
        ...{ table: 'complaints', uncounted: 'complaint' },
        columns: ['day', 'kind', 'provider', 'address', 'dkim_domain'],
      },
      period,
    ),
    messagesIn(db, period),
  ]);
  const abuse = counts.filter(({ kind }) => kind === 'abuse');
  const find = await readSources(db, domain.id, abuse.map(complaintEvidence));
  return {
    object: 'complaint_summary' as const,
    ...{ domain_id: domain.id, from, to },
    ...{ total: totalOf(abuse), messages },
    days: [...Map.groupBy(abuse, ({ day }) => day)]
      .map(([date, rows]) => ({ date, count: totalOf(rows) }))
      .sort(byDate),
    kinds: sumBy(counts, 'kind'),
    providers: sumBy(abuse, 'provider'),
    addresses: sumBy(abuse, 'address'),
    sources: await bySource(
      db,
      period,
      abuse.map((row) => ({ source: find(complaintEvidence(row)), count: row.count })),
    ),
  };
}

export async function bounceSummary({ db }: App, period: Period) {
  const { domain, from, to } = period;
  const [counts, messages] = await Promise.all([
    // Their rows are stored only if their report counts.
    countBy(
      db,
      {
        table: 'bounces',
        columns: ['day', 'class', 'provider', 'status_code', 'reporting_server'],
      },
      period,
    ),
    messagesIn(db, period),
  ]);
  const { sources, unread } = await bounceSources(db, period, counts);
  return {
    object: 'bounce_summary' as const,
    ...{ domain_id: domain.id, from, to },
    ...{ total: totalOf(counts), messages },
    days: [...Map.groupBy(counts, ({ day }) => day)]
      .map(([date, rows]) => {
        const of = (name: string) => totalOf(rows.filter((row) => row.class === name));
        const classes = { policy: of('policy'), hard: of('hard'), soft: of('soft') };
        return { date, count: totalOf(rows), ...classes };
      })
      .sort(byDate),
    classes: sumBy(counts, 'class'),
    providers: sumBy(counts, 'provider'),
    codes: sumBy(counts, 'status_code'),
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
  counts: Count<'reporting_server'>[],
): Promise<BounceSources> {
  const servers = sumBy(counts, 'reporting_server', Infinity);
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
    .orderBy('day', 'desc')
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

/** The list of sources of a domain: its filters, and one page of it. */

import { sql } from 'kysely';
import { requireCursors } from '../../http/schemas.ts';
import { invalidParams } from '../../lib/errors.ts';
import type { Db } from '../../store/open.ts';
import { dayBefore, daysOfPeriod, type Period } from '../sums.ts';
import { rowSums, SUM_COLUMNS } from './days.ts';
import { type SummedSource, sourcesOf } from './queries.ts';
import type { SourceFilters, SourceListQuery } from './schema.ts';

/** The rows of a reporter are read one by one, so the period is short. */
export const MAX_REPORTER_DAYS = 30;

/** A source is new for so many days. */
const NEW_DAYS = 30;
/** And only if it was not seen for so many days before. */
const UNSEEN_DAYS = 60;

/** The matching sources of a period, those with the most messages first. */
export async function matchingSources(
  db: Db,
  period: Period,
  filters: SourceFilters,
): Promise<SummedSource[]> {
  const { kind, reporter, failing, new: isNew } = filters;
  if (reporter !== undefined && daysOfPeriod(period) > MAX_REPORTER_DAYS)
    throw invalidParams([
      {
        ...{ param: 'from', code: 'invalid' },
        message: `must be at most ${MAX_REPORTER_DAYS} days before to, with reporter`,
      },
    ]);
  let found = await sourcesOf(db, period);
  if (reporter !== undefined) found = await asReportedBy(db, period, reporter, found);
  if (kind) found = found.filter((source) => source.kind === kind);
  if (failing === 'true') found = found.filter(isFailing);
  if (isNew === 'true') {
    const ids = await newSources(db, period);
    found = found.filter(({ row }) => ids.has(row.id));
  }
  return found;
}

/** Spoofed messages are meant to fail. */
const isFailing = ({ kind, messages, passed }: SummedSource): boolean =>
  kind !== 'spoof' && passed < messages;

export async function listSources(
  db: Db,
  period: Period,
  { limit, starting_after, ending_before, ...filters }: SourceListQuery,
): Promise<{ sources: SummedSource[]; hasMore: boolean }> {
  const found = await matchingSources(db, period, filters);
  const indexOf = (id: string) => found.findIndex(({ row }) => row.id === id);
  await requireCursors({ starting_after, ending_before }, (cursor) => indexOf(cursor) !== -1);
  if (ending_before !== undefined) {
    const end = indexOf(ending_before);
    return { sources: found.slice(Math.max(0, end - limit), end), hasMore: end > limit };
  }
  const start = starting_after === undefined ? 0 : indexOf(starting_after) + 1;
  return { sources: found.slice(start, start + limit), hasMore: found.length > start + limit };
}

/**
 * The sources that were first seen in the 30 days that end with `to`, and not in the 60 days before that. Two steps into
 * an index for each source, whatever the number of days.
 */
export async function newSources(
  db: Db,
  { domain, to }: Pick<Period, 'domain' | 'to'>,
): Promise<Set<string>> {
  const since = dayBefore(to, NEW_DAYS - 1);
  const { rows } = await sql<{ id: string; first: string | null; previous: string | null }>`
    select s.id,
      (select min(day) from feedback_source_days d
        where d.source_id = s.id and d.day >= ${since} and d.day <= ${to}) as first,
      (select max(day) from feedback_source_days d
        where d.source_id = s.id and d.day < ${since}) as previous
    from feedback_sources s
    where s.domain_id = ${domain.id}`.execute(db);
  const isNew = ({ first, previous }: (typeof rows)[number]) =>
    first !== null && (previous === null || previous < dayBefore(first, UNSEEN_DAYS));
  return new Set(rows.filter(isNew).map(({ id }) => id));
}

/** The sources that a reporter names, with the messages that it counted. What they are stays what all reporters say. */
async function asReportedBy(
  db: Db,
  { domain, from, to }: Period,
  reporter: string,
  sources: SummedSource[],
): Promise<SummedSource[]> {
  // From the reports of the reporter to their rows, so that the rows of other reporters are not read.
  const { rows } = await sql<Record<(typeof SUM_COLUMNS)[number] | 'source_id', string>>`
    select a.source_id, ${rowSums}
    from feedback_reports f
    inner join dmarc_rows r on r.report_id = f.id
    inner join feedback_addresses a on a.id = r.domain_id || ' ' || r.address
    where f.domain_id = ${domain.id} and f.type = 'dmarc' and f.status = 'counted'
      and f.period_to >= ${from} and f.period_from <= ${`${to}T23:59:59.999Z`}
      and f.reporter_id = (select id from feedback_reporters where name = ${reporter.toLowerCase()})
      and r.day >= ${from} and r.day <= ${to} and a.source_id is not null
    group by a.source_id`.execute(db);
  const counts = new Map(rows.map((row) => [row.source_id, row]));
  return sources
    .flatMap((source) => {
      const counted = counts.get(source.row.id);
      if (!counted) return [];
      const sums = SUM_COLUMNS.map((name) => [name, Number(counted[name])] as const);
      return [{ ...source, ...Object.fromEntries(sums) }];
    })
    .sort((a, b) => b.messages - a.messages);
}

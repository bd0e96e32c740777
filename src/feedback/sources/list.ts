/** The list of sources of a domain: its filters, and one page of it. */

import { sql } from 'kysely';
import { requireCursors } from '../../http/schemas.ts';
import { invalidParams } from '../../lib/errors.ts';
import type { Db } from '../../store/open.ts';
import { reporterTitle } from '../record/reporters.ts';
import { dayBefore, daysOfPeriod, type Period } from '../sums.ts';
import { rowSums, SUM_COLUMNS } from './days.ts';
import { type Appearance, isNew, reportDaysOf } from './new.ts';
import {
  type SourceSums,
  type SummedSource,
  sourceIdsOf,
  sourcesOf,
  withAddresses,
} from './queries.ts';
import type { SourceFilters, SourceListQuery } from './schema.ts';
import { senderOf } from './tenants.ts';

/** The rows of a reporter are read one by one, so the period is short. */
export const MAX_REPORTER_DAYS = 30;

/** In a list, a source is new for so many days. */
const NEW_DAYS = 30;

/** The matching sources of a period, those with the most messages first. */
export async function matchingSources(
  db: Db,
  period: Period,
  filters: SourceFilters,
): Promise<SourceSums[]> {
  const { kind, reporter, failing, new: onlyNew } = filters;
  if (reporter !== undefined && daysOfPeriod(period) > MAX_REPORTER_DAYS)
    throw invalidParams([
      {
        param: 'from',
        code: 'invalid',
        message: `must be at most ${MAX_REPORTER_DAYS} days before to, with reporter`,
      },
    ]);
  const ids = onlyNew === 'true' ? await newSources(db, period) : undefined;
  // A reporter may have seen other messages of a source fail than most.
  const withFailures = failing === 'true' && reporter === undefined;
  let found = await sourcesOf(db, period, { ids, withFailures });
  if (reporter !== undefined) found = await asReportedBy(db, period, reporter, found);
  if (kind) found = found.filter((source) => source.kind === kind);
  if (failing === 'true') found = found.filter(isFailing);
  return found;
}

/** Spoofed messages are meant to fail. */
const isFailing = ({ kind, messages, passed }: SourceSums): boolean =>
  kind !== 'spoof' && passed < messages;

export async function listSources(
  db: Db,
  period: Period,
  { limit, starting_after, ending_before, ...filters }: SourceListQuery,
): Promise<{ sources: SummedSource[]; hasMore: boolean }> {
  const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
  // Most sources are on other pages. Without filters, only IDs are read to find the page; for the first page, not even all.
  const isFirst = starting_after === undefined && ending_before === undefined;
  const found = isFiltered ? await matchingSources(db, period, filters) : null;
  const ids =
    found?.map(({ row }) => row.id) ??
    (await sourceIdsOf(db, period, isFirst ? limit + 1 : undefined));
  await requireCursors({ starting_after, ending_before }, (cursor) => ids.includes(cursor));
  const isBackwards = ending_before !== undefined;
  const end = isBackwards
    ? ids.indexOf(ending_before)
    : (starting_after === undefined ? 0 : ids.indexOf(starting_after) + 1) + limit;
  const start = Math.max(0, end - limit);
  const page =
    found?.slice(start, end) ?? (await sourcesOf(db, period, { ids: ids.slice(start, end) }));
  return {
    sources: await withAddresses(db, page),
    hasMore: isBackwards ? start > 0 : ids.length > end,
  };
}

/** The sources that became new in the 30 days that end with `to`. Two steps into an index for each, whatever the number of days. */
async function newSources(
  db: Db,
  { domain, to }: Pick<Period, 'domain' | 'to'>,
): Promise<string[]> {
  const from = dayBefore(to, NEW_DAYS - 1);
  const { rows } = await sql<Appearance & { id: string }>`
    select s.id,
      (select min(day) from feedback_source_days d
        where d.source_id = s.id and d.day >= ${from} and d.day <= ${to} and d.messages > 0) as first,
      (select max(day) from feedback_source_days d
        where d.source_id = s.id and d.day < ${from} and d.messages > 0) as previous
    from feedback_sources s
    where s.domain_id = ${domain.id} and s.key not like 'rest %'`.execute(db);
  const reportDays = (await reportDaysOf(db, [domain.id], { from, to })).get(domain.id) ?? [];
  return rows.filter((row) => isNew(row, reportDays)).map(({ id }) => id);
}

/** The sources that a reporter names, with the messages that it counted. What they are stays what all reporters say. */
async function asReportedBy(
  db: Db,
  { domain, from, to }: Period,
  reporter: string,
  sources: SourceSums[],
): Promise<SourceSums[]> {
  // From the reports of the reporter to their rows, so that the rows of other reporters are not read.
  const { rows } = await sql<Record<(typeof SUM_COLUMNS)[number] | 'source_id', string>>`
    select a.source_id, ${rowSums}
    from feedback_reports f
    inner join dmarc_rows r on r.report_id = f.id
    inner join feedback_addresses a on a.id = r.domain_id || ' ' || ${senderOf('r')}
    where f.domain_id = ${domain.id} and f.type = 'dmarc' and f.status = 'counted'
      and f.period_to >= ${from} and f.period_from <= ${`${to}T23:59:59.999Z`}
      and f.reporter_id in
        (select id from feedback_reporters where ${reporterTitle} = ${reporter.toLowerCase()})
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

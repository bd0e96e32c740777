/** Which domains receivers reported about in a period, and which not. */

import { sql } from 'kysely';
import { requireCursors } from '../http/schemas.ts';
import type { Db } from '../store/open.ts';
import { isReportedSince } from './queries.ts';
import type { Days } from './sums.ts';

interface NamedDomain {
  id: string;
  name: string;
}

export interface ReportedDomain extends NamedDomain {
  messages: number;
}

interface Page {
  limit: number;
  starting_after?: string;
  ending_before?: string;
}

/** One page of those with reports, those with the most messages first. Throws `invalid_cursor`. */
export async function reportedDomains(
  db: Db,
  { from, to, limit, ...cursors }: Days & Page,
): Promise<{ rows: ReportedDomain[]; hasMore: boolean }> {
  const sums = db
    .selectFrom('dmarc_days')
    .select('domain_id')
    .select(({ fn }) => fn.sum<number | string>('messages').as('messages'))
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy('domain_id');
  const all = await db
    .selectFrom('feedback_domains')
    .innerJoin('domains', 'domains.id', 'feedback_domains.id')
    .leftJoin(sums.as('sums'), 'sums.domain_id', 'domains.id')
    .select(['domains.id', 'domains.name', 'sums.messages'])
    .where(isReportedSince(from))
    .orderBy(sql`coalesce(sums.messages, 0)`, 'desc')
    .orderBy('domains.id')
    .execute();
  const { starting_after, ending_before } = cursors;
  const indexOf = (cursor: string) => all.findIndex(({ id }) => id === cursor);
  await requireCursors(cursors, (cursor) => indexOf(cursor) >= 0);
  const isBackwards = ending_before !== undefined;
  const end = isBackwards
    ? indexOf(ending_before)
    : (starting_after === undefined ? 0 : indexOf(starting_after) + 1) + limit;
  const start = Math.max(0, end - limit);
  return {
    rows: all.slice(start, end).map((row) => ({ ...row, messages: Number(row.messages ?? 0) })),
    hasMore: isBackwards ? start > 0 : all.length > end,
  };
}

/** Those without reports since a day: how many, and the first by name. */
export async function unreportedDomains(
  db: Db,
  { from, limit }: Pick<Days, 'from'> & { limit: number },
): Promise<{ count: number; first: NamedDomain[] }> {
  const query = db
    .selectFrom('domains')
    .where('id', 'not in', (eb) =>
      eb.selectFrom('feedback_domains').select('id').where(isReportedSince(from)),
    );
  const { count } = await query
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  const first = await query.select(['id', 'name']).orderBy('name').limit(limit).execute();
  return { count: Number(count), first };
}

/** Events in the database: found and listed. */

import { type Page, pageOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db } from '../store/open.ts';
import type { EventRow } from '../store/tables.ts';
import type { EventFilters } from './schema.ts';

const ofMode = (db: Db, livemode: boolean) =>
  db
    .selectFrom('events')
    .selectAll()
    .where('livemode', '=', livemode ? 1 : 0);

/** One page of events of this mode that match, newest first. */
export async function listEvents(
  db: Db,
  livemode: boolean,
  { limit, starting_after, ending_before, ...filters }: EventFilters & Page,
): Promise<{ rows: EventRow[]; hasMore: boolean }> {
  let query = ofMode(db, livemode);
  if (filters.type) query = query.where('type', '=', filters.type);
  if (filters.created_after) query = query.where('created_at', '>=', filters.created_after);
  return pageOf(query, { limit, starting_after, ending_before });
}

/** Throws `not_found`, for an event of the other mode too. */
export async function eventOr404(db: Db, livemode: boolean, id: string): Promise<EventRow> {
  const row = await ofMode(db, livemode).where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no event with this id.');
  return row;
}

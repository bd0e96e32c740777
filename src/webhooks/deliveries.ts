/** Deliveries in the database, as the API shows them: found, listed, and with all that belongs to one. */

import { type Page, pageOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { EventRow } from '../store/tables.ts';
import type { DeliveryState, WholeDelivery } from './present.ts';
import type { DeliveryFilters } from './schema.ts';

/** The newest are shown: one that is sent again and again has any number of them. */
const MOST_ATTEMPTS = 100;

function withMode(db: Db | Tx) {
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('events')
        .select('events.livemode')
        .whereRef('events.id', '=', 'webhook_deliveries.event_id')
        .as('event_livemode'),
    );
}

/** One page of those to an endpoint that match, newest first. */
export async function listDeliveries(
  db: Db,
  endpointId: string,
  { limit, starting_after, ending_before, ...filters }: DeliveryFilters & Page,
): Promise<{ rows: DeliveryState[]; hasMore: boolean }> {
  let query = withMode(db).where('endpoint_id', '=', endpointId);
  if (filters.status) query = query.where('status', '=', filters.status);
  if (filters.event_id) query = query.where('event_id', '=', filters.event_id);
  if (filters.event_type) query = query.where('event_type', '=', filters.event_type);
  if (filters.created_after) query = query.where('created_at', '>=', filters.created_after);
  return pageOf(query, { limit, starting_after, ending_before });
}

/** Throws `not_found`, for one to a deleted endpoint too, although it may still be there. */
export async function deliveryOr404(db: Db | Tx, id: string): Promise<DeliveryState> {
  const row = await withMode(db)
    .where('webhook_deliveries.id', '=', id)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_endpoints')
          .select('webhook_endpoints.id')
          .whereRef('webhook_endpoints.id', '=', 'webhook_deliveries.endpoint_id')
          .where('deleted_at', 'is', null),
      ),
    )
    .executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no webhook delivery with this id.');
  return row;
}

/** The event of a delivery; null for a sample, and where it is no longer kept. */
export async function findEventOf(
  db: Db | Tx,
  { sample, event_id }: Pick<DeliveryState, 'sample' | 'event_id'>,
): Promise<EventRow | null> {
  if (sample !== null) return null;
  const row = await db
    .selectFrom('events')
    .selectAll()
    .where('id', '=', event_id)
    .executeTakeFirst();
  return row ?? null;
}

/** With its event and its attempts. */
export async function wholeDelivery(db: Db | Tx, row: DeliveryState): Promise<WholeDelivery> {
  const attempts = await db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', '=', row.id)
    .orderBy('number', 'desc')
    .limit(MOST_ATTEMPTS)
    .execute();
  return { row, event: await findEventOf(db, row), attempts: attempts.reverse() };
}

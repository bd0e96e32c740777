/** Deletes deliveries and attempts after the event retention time, and those of deleted endpoints. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { type Tx, transact } from '../store/open.ts';
import { inSteps } from '../store/steps.ts';
import { channel } from '../store/subscribers.ts';
import { bringDeliveriesForward, holdInterrupted } from './claim.ts';

/**
 * Published with the IDs of events whose last delivery is about to be deleted, in the same transaction.
 * Subscribers store the delivery status that they still need.
 */
export const deliveriesRemoved = channel<[eventIds: string[]]>('deliveries removed');

type Context = Pick<App, 'db' | 'clock' | 'config' | 'subscribers'>;

export function expireDeliveriesJob(app: App): Job {
  return { name: EXPIRE_DELIVERIES_JOB, tick: '0 19 * * * *', run: () => expireDeliveries(app) };
}

export const EXPIRE_DELIVERIES_JOB = 'webhooks.expire';

/** In steps, so that a large backlog doesn't block the event loop. */
export async function expireDeliveries(app: Context): Promise<void> {
  const { db, clock, config } = app;
  await bringDeliveriesForward(app);
  await holdInterrupted(app);
  if (config.EVENT_RETENTION > 0) {
    const cutoff = isoTime(clock.now() - config.EVENT_RETENTION);
    await inSteps((limit) =>
      deleteSome(app, limit, (query) => query.where('created_at', '<', cutoff)),
    );
  }
  const deletedEndpoints = await db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('deleted_at', 'is not', null)
    .execute();
  for (const { id } of deletedEndpoints) {
    await inSteps((limit) =>
      deleteSome(app, limit, (query) => query.where('endpoint_id', '=', id)),
    );
    await db.deleteFrom('webhook_endpoints').where('id', '=', id).execute();
  }
}

type DeliveryQuery = ReturnType<typeof deliveryIds>;

const deliveryIds = ({ db }: Pick<App, 'db'>) =>
  db.selectFrom('webhook_deliveries').select(['id', 'event_id']);

async function deleteSome(
  app: Context,
  limit: number,
  filter: (query: DeliveryQuery) => DeliveryQuery,
): Promise<number> {
  return transact(app.db, async (tx) => {
    const { rows } = await tx.executeQuery(filter(deliveryIds(app)).limit(limit));
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return 0;
    const eventIds = await findEventsWithoutOtherDeliveries(tx, rows);
    if (eventIds.length > 0) await app.subscribers.publish(deliveriesRemoved, tx, eventIds);
    await tx.deleteFrom('webhook_attempts').where('delivery_id', 'in', ids).execute();
    await tx.deleteFrom('webhook_deliveries').where('id', 'in', ids).execute();
    return ids.length;
  });
}

/** The IDs of events that have no deliveries other than these. */
async function findEventsWithoutOtherDeliveries(
  tx: Tx,
  deliveries: { id: string; event_id: string }[],
): Promise<string[]> {
  const events = [...new Set(deliveries.map(({ event_id }) => event_id))];
  const eventDeliveries = await tx
    .selectFrom('webhook_deliveries')
    .select(['id', 'event_id'])
    .where('event_id', 'in', events)
    .execute();
  const ids = new Set(deliveries.map(({ id }) => id));
  const remaining = new Set(
    eventDeliveries.filter(({ id }) => !ids.has(id)).map(({ event_id }) => event_id),
  );
  return events.filter((id) => !remaining.has(id));
}

/** What became of notifications that the outbox (mail) or webhook deliveries (events) carry. */

import { sql } from 'kysely';
import type { MailEnd } from '../outbox/expire.ts';
import type { Db, Tx } from '../store/open.ts';
import type { AlertNotificationRow } from '../store/tables.generated.ts';
import type { AlertNotification } from './schema.ts';

/** What became of it, as the outbox or the deliveries of its event have it. */
export type DeliveryStatus = Pick<AlertNotification, 'status' | 'error' | 'sent_at'>;

/** `delivery`: how its mail or event fares while it can still change; null where the row itself is final. */
export type NotificationState = AlertNotificationRow & { delivery: DeliveryStatus | null };

/** Kept with the notification: the outbox forgets its mail after a month. */
export async function keepMailEnds(tx: Tx, ends: MailEnd[]): Promise<void> {
  for (const { id, ...end } of ends)
    await tx.updateTable('alert_notifications').set(end).where('mail_id', '=', id).execute();
}

/** In their order. */
export async function withDeliveryStatus(
  db: Db | Tx,
  rows: AlertNotificationRow[],
): Promise<NotificationState[]> {
  const mails = await mailStates(db, rows);
  const events = await deliveryStates(
    db,
    rows.flatMap(({ event_id }) => event_id ?? []),
  );
  return rows.map((row) => ({
    ...row,
    delivery: mails.get(row.mail_id ?? '') ?? events.get(row.event_id ?? '') ?? null,
  }));
}

/** Of what waits, how the last attempt went. */
async function mailStates(
  db: Db | Tx,
  rows: AlertNotificationRow[],
): Promise<Map<string, DeliveryStatus>> {
  const ids = rows.flatMap(({ status, mail_id }) => (status === 'queued' && mail_id) || []);
  if (ids.length === 0) return new Map();
  const mails = await db
    .selectFrom('outbox')
    .select(['id', 'status', 'error', 'sent_at'])
    .where('id', 'in', [...new Set(ids)])
    .execute();
  return new Map(mails.map(({ id, ...state }) => [id, state]));
}

const HELD =
  'it is held: the endpoint has only failed, and was disabled. Switch it on again, and recover what it has missed';
const FORGOTTEN = 'it could not be delivered, and its event is kept no longer';

const GONE =
  'it was not delivered before its endpoint was deleted, or its event was kept no longer';

interface Delivered {
  status: 'pending' | 'succeeded' | 'failed' | 'held';
  error: string | null;
  started_at: string | null;
}

/**
 * By the id of the event, for those of which a delivery is still kept: queued while one is under
 * way, sent when all have succeeded. One that failed may be sent again by hand.
 */
async function deliveryStates(
  db: Db | Tx,
  eventIds: string[],
): Promise<Map<string, DeliveryStatus>> {
  if (eventIds.length === 0) return new Map();
  const deliveries = await db
    .selectFrom('webhook_deliveries as delivery')
    .leftJoin('webhook_attempts as attempt', (join) =>
      join
        .onRef('attempt.delivery_id', '=', 'delivery.id')
        .onRef('attempt.number', '=', 'delivery.attempts'),
    )
    .select(['delivery.event_id', 'delivery.status', 'attempt.error', 'attempt.started_at'])
    .where('delivery.event_id', 'in', [...new Set(eventIds)])
    .orderBy('delivery.id')
    .execute();
  const all = Map.groupBy(deliveries, ({ event_id }) => event_id);
  return new Map([...all].map(([id, some]) => [id, stateOf(some)]));
}

function stateOf(deliveries: Delivered[]): DeliveryStatus {
  const of = (status: Delivered['status']) => deliveries.find((one) => one.status === status);
  const [pending, failed] = [of('pending'), of('failed')];
  if (pending) return { status: 'queued', error: pending.error, sent_at: null };
  if (failed) return { status: 'failed', error: failed.error ?? FORGOTTEN, sent_at: null };
  if (of('held')) return { status: 'failed', error: HELD, sent_at: null };
  const times = deliveries.flatMap(({ started_at }) => started_at ?? []);
  return { status: 'sent', error: null, sent_at: times.sort().at(-1) ?? null };
}

/** Written out, so that the index of these is used. */
const CARRIED = sql<boolean>`channel = 'webhook' and status = 'queued'`;

/** Keeps the end of deliveries with the notification before they are deleted. */
export async function keepGoneDeliveries(tx: Tx, eventIds: string[]): Promise<void> {
  const rows = await tx
    .selectFrom('alert_notifications')
    .selectAll()
    .where(CARRIED)
    .where('event_id', 'in', eventIds)
    .execute();
  for (const { id, delivery } of await withDeliveryStatus(tx, rows)) {
    const isOver = delivery && delivery.status !== 'queued' && delivery.error !== HELD;
    await keep(tx, id, isOver ? delivery : UNDELIVERED);
  }
}

const UNDELIVERED: DeliveryStatus = { status: 'failed', error: GONE, sent_at: null };

async function keep(tx: Tx, id: string, state: DeliveryStatus): Promise<void> {
  await tx
    .updateTable('alert_notifications')
    .set(state)
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .execute();
}

const BATCH = 200;

/** Keeps the end of deliveries with the notification, for the time when they are no longer kept. */
export async function keepDeliveryEnds(db: Db): Promise<void> {
  let after = '';
  for (;;) {
    const rows = await db
      .selectFrom('alert_notifications')
      .selectAll()
      .where(CARRIED)
      .where('id', '>', after)
      .orderBy('id')
      .limit(BATCH)
      .execute();
    const states = await withDeliveryStatus(db, rows);
    await db.transaction().execute(async (tx) => {
      for (const { id, event_id, delivery } of states) {
        // Its deliveries went while nobody kept their end.
        const state = event_id === null ? delivery : (delivery ?? UNDELIVERED);
        if (state && state.status !== 'queued') await keep(tx, id, state);
      }
    });
    if (rows.length < BATCH) return;
    after = rows.at(-1)!.id;
  }
}

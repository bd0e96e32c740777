/** The delivery status of notifications sent through the outbox (email) or webhook deliveries (events). */

import { sql } from 'kysely';
import type { SettledMail } from '../outbox/expire.ts';
import { type Db, type Tx, transact } from '../store/open.ts';
import type { AlertNotificationRow } from '../store/tables.generated.ts';
import type { AlertNotification } from './schema.ts';

/** The status according to the outbox or the deliveries of the event. */
export type DeliveryStatus = Pick<AlertNotification, 'status' | 'error' | 'sent_at'>;

/** `delivery` is the status of its email or event while that can change; null if the row is final. */
export type NotificationState = AlertNotificationRow & { delivery: DeliveryStatus | null };

/** Stores the outcome with the notification, because the outbox deletes its emails after a month. */
export async function recordMailOutcomes(tx: Tx, mails: SettledMail[]): Promise<void> {
  for (const { id, ...outcome } of mails)
    await tx.updateTable('alert_notifications').set(outcome).where('mail_id', '=', id).execute();
}

/** Adds the delivery status to notifications, in the given order. */
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

/** For queued emails, the outcome of the last attempt. */
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
  'held: the endpoint was disabled because every attempt failed; enable it, then recover its deliveries';
const EVENT_EXPIRED = 'not delivered: its event is no longer stored';

const DELIVERY_REMOVED = 'not delivered before its endpoint was deleted or its event expired';

interface DeliveryRow {
  status: 'pending' | 'succeeded' | 'failed' | 'held';
  error: string | null;
  started_at: string | null;
}

/**
 * By event ID, for events with deliveries that are still stored: `queued` while one is in progress,
 * `sent` once all have succeeded. A failed delivery can be resent manually.
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
  const byEvent = Map.groupBy(deliveries, ({ event_id }) => event_id);
  return new Map([...byEvent].map(([id, rows]) => [id, combineStates(rows)]));
}

function combineStates(deliveries: DeliveryRow[]): DeliveryStatus {
  const find = (status: DeliveryRow['status']) => deliveries.find((row) => row.status === status);
  const [pending, failed] = [find('pending'), find('failed')];
  if (pending) return { status: 'queued', error: pending.error, sent_at: null };
  if (failed) return { status: 'failed', error: failed.error ?? EVENT_EXPIRED, sent_at: null };
  if (find('held')) return { status: 'failed', error: HELD, sent_at: null };
  const times = deliveries.flatMap(({ started_at }) => started_at ?? []);
  return { status: 'sent', error: null, sent_at: times.sort().at(-1) ?? null };
}

/** Literals, so that SQLite uses the partial index. */
const QUEUED_WEBHOOKS = sql<boolean>`channel = 'webhook' and status = 'queued'`;

/** Stores the outcome of deliveries with their notifications before the deliveries are deleted. */
export async function recordRemovedDeliveries(tx: Tx, eventIds: string[]): Promise<void> {
  const rows = await tx
    .selectFrom('alert_notifications')
    .selectAll()
    .where(QUEUED_WEBHOOKS)
    .where('event_id', 'in', eventIds)
    .execute();
  for (const { id, delivery } of await withDeliveryStatus(tx, rows)) {
    const isFinal = delivery && delivery.status !== 'queued' && delivery.error !== HELD;
    await recordStatus(tx, id, isFinal ? delivery : UNDELIVERED);
  }
}

const UNDELIVERED: DeliveryStatus = { status: 'failed', error: DELIVERY_REMOVED, sent_at: null };

async function recordStatus(tx: Tx, id: string, state: DeliveryStatus): Promise<void> {
  await tx
    .updateTable('alert_notifications')
    .set(state)
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .execute();
}

const BATCH_SIZE = 200;

/** Stores the outcome of finished deliveries with their notifications, which outlive them. */
export async function recordDeliveryOutcomes(db: Db): Promise<void> {
  let after = '';
  for (;;) {
    const rows = await db
      .selectFrom('alert_notifications')
      .selectAll()
      .where(QUEUED_WEBHOOKS)
      .where('id', '>', after)
      .orderBy('id')
      .limit(BATCH_SIZE)
      .execute();
    const states = await withDeliveryStatus(db, rows);
    await transact(db, async (tx) => {
      for (const { id, event_id, delivery } of states) {
        // If an event has no delivery, its deliveries were deleted before their outcome was stored.
        const state = event_id === null ? delivery : (delivery ?? UNDELIVERED);
        if (state && state.status !== 'queued') await recordStatus(tx, id, state);
      }
    });
    if (rows.length < BATCH_SIZE) return;
    after = rows.at(-1)!.id;
  }
}

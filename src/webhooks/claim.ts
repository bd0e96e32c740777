/** Takes deliveries that are due, and writes down the attempt of each before it is made. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { bringForward } from '../store/leases.ts';
import type { Db, Tx } from '../store/open.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow } from '../store/tables.generated.ts';
import { holdPending } from './endpoint-health.ts';
import type { ClaimedDelivery } from './enqueue.ts';
import { eventPayload } from './enqueue.ts';
import { openSigningSecrets, type SigningSecrets, signatureHeaders } from './signatures.ts';

/** How long others leave a claimed delivery alone: longer than its call and the record may take. */
const LEASE_MS = 90_000;

type Context = Pick<App, 'clock' | 'newId' | 'secrets' | 'version' | 'log'>;

/** What calls take of, and which are under way here. */
export interface DeliveryCapacity {
  /** How many more calls to an endpoint may begin. */
  room(endpointId: string): number;
  take(delivery: ClaimedDelivery): void;
  /** Whether this process has not recorded its last attempt yet, whatever the clock says of the lease. */
  isInHand(deliveryId: string): boolean;
}

/** Mostly there is nothing: to be asked before the write lock is taken. */
export async function hasDueDeliveries(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  { room }: Pick<DeliveryCapacity, 'room'>,
): Promise<boolean> {
  const ready = await endpointsWithDue(db, clock.now()).select('id').execute();
  return ready.some(({ id }) => room(id) > 0);
}

/** At most as many for each endpoint as it has room for; the room is taken. */
export async function claimDueDeliveries(
  tx: Tx,
  app: Context,
  room: DeliveryCapacity,
): Promise<ClaimedDelivery[]> {
  const now = app.clock.now();
  const all: ClaimedDelivery[] = [];
  for (const endpoint of await endpointsWithDue(tx, now).selectAll().execute()) {
    const limit = room.room(endpoint.id);
    if (limit <= 0) continue;
    const due = await dueOf(tx, endpoint.id, now, limit);
    const claimed = await claimOf(
      tx,
      app,
      endpoint,
      due.filter(({ id }) => !room.isInHand(id)),
      now,
    );
    // Room that one endpoint takes is gone for the next.
    for (const delivery of claimed) room.take(delivery);
    all.push(...claimed);
  }
  return all;
}

/** Those that may be called and have something due, or something whose lease has run out. */
function endpointsWithDue(db: Db | Tx, now: number) {
  return db
    .selectFrom('webhook_endpoints as endpoint')
    .where('enabled', '=', 1)
    .where('deleted_at', 'is', null)
    .where('auto_disabled_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_deliveries')
          .select('webhook_deliveries.id')
          .whereRef('endpoint_id', '=', 'endpoint.id')
          .where('due_at', '<=', isoTime(now)),
      ),
    );
}

async function claimOf(
  tx: Tx,
  app: Context,
  endpoint: WebhookEndpointRow,
  due: DueRow[],
  now: number,
): Promise<ClaimedDelivery[]> {
  if (due.length === 0) return [];
  const secrets = openSigningSecrets(app.secrets, endpoint, now);
  if (secrets === null) {
    // Nothing is lost: with a new secret, they can be recovered.
    await holdPending(tx, endpoint.id);
    app.log.error('the secret of a webhook endpoint cannot be decrypted: rotate it', {
      endpoint: endpoint.id,
    });
    return [];
  }
  const beginnings: Beginning[] = [];
  for (const row of due) {
    const payload = payloadOf(row);
    if (payload === null) await giveUp(tx, row.id);
    else beginnings.push({ row, payload });
  }
  return beginnings.length === 0 ? [] : begin(tx, app, endpoint, secrets, beginnings, now);
}

type DueRow = Awaited<ReturnType<typeof dueOf>>[number];

interface Beginning {
  row: DueRow;
  payload: string;
}

const dueOf = (tx: Tx, endpointId: string, now: number, limit: number) =>
  tx
    .selectFrom('webhook_deliveries as delivery')
    .leftJoin('events', 'events.id', 'delivery.event_id')
    .selectAll('delivery')
    .select(['events.livemode', 'events.data', 'events.created_at as event_created_at'])
    .where('endpoint_id', '=', endpointId)
    .where('due_at', '<=', isoTime(now))
    .orderBy('due_at')
    .limit(limit)
    .execute();

/** null where the event is no longer kept. */
function payloadOf(row: DueRow): string | null {
  const { sample, event_id: id, event_type: type, event_created_at, livemode, data } = row;
  if (sample !== null) return sample;
  if (data === null || event_created_at === null || livemode === null) return null;
  return eventPayload({ id, type, created_at: event_created_at, livemode, data });
}

/** The attempt of each is written down; all are claimed by one lease. */
async function begin(
  tx: Tx,
  { newId, version }: Context,
  endpoint: WebhookEndpointRow,
  secrets: SigningSecrets,
  beginnings: Beginning[],
  now: number,
): Promise<ClaimedDelivery[]> {
  for (const { row } of beginnings) if (row.lease !== null) await interrupt(tx, row);
  const lease = newId('req');
  const { url } = endpoint;
  const claimed = beginnings.map(({ row, payload }) => ({
    id: row.id,
    endpoint_id: endpoint.id,
    round_failures: row.round_failures,
    lease,
    number: row.attempts + 1,
    startedAt: now,
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': `deliverability/${version} (webhooks)`,
      ...signatureHeaders({ eventId: row.event_id, payload, sentAt: now }, secrets),
    },
    payload,
  }));
  await tx
    .updateTable('webhook_deliveries')
    .set((eb) => ({ lease, due_at: isoTime(now + LEASE_MS), attempts: eb('attempts', '+', 1) }))
    .where(
      'id',
      'in',
      claimed.map(({ id }) => id),
    )
    .execute();
  await tx
    .insertInto('webhook_attempts')
    .values(
      claimed.map(({ id, number, headers }, index) => ({
        delivery_id: id,
        number,
        trigger: triggerOf(beginnings[index]!.row),
        started_at: isoTime(now),
        url,
        request_headers: JSON.stringify(headers),
      })),
    )
    .execute();
  return claimed;
}

const triggerOf = ({ round_failures, round_trigger }: DueRow): string =>
  round_failures === 0 ? round_trigger : 'retry';

/** The attempt before was cut short, by a crash or a power cut; it counts for nothing. */
async function interrupt(tx: Tx, row: Pick<WebhookDeliveryRow, 'id' | 'attempts'>): Promise<void> {
  await tx
    .updateTable('webhook_attempts')
    .set({ error: 'interrupted: its end was not recorded, as when the service ended meanwhile' })
    .where('delivery_id', '=', row.id)
    .where('number', '=', row.attempts)
    .where('duration_ms', 'is', null)
    .execute();
}

/** Its event is older than what is kept: there is nothing to send any more. */
async function giveUp(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', due_at: null, lease: null })
    .where('id', '=', id)
    .execute();
}

/** No attempt is ever planned for later than this: a clock that was set back made it seem so. */
const LATEST_MS = 8 * 3_600_000 + LEASE_MS;

/** Deliveries that seem to be due long after now are due now. */
export const bringDeliveriesForward = (app: Pick<App, 'db' | 'clock'>): Promise<void> =>
  bringForward(app, 'webhook_deliveries', LATEST_MS);

/** At the start: what was under way when the process before ended is due now, or held with the rest. */
export async function releaseDeliveries({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const cutShort = await tx
      .selectFrom('webhook_deliveries')
      .selectAll()
      .where('due_at', 'is not', null)
      .where('lease', 'is not', null)
      .execute();
    for (const row of cutShort) {
      await interrupt(tx, row);
      await tx
        .updateTable('webhook_deliveries')
        .set({ due_at: isoTime(clock.now()), lease: null })
        .where('id', '=', row.id)
        .execute();
    }
    const off = await tx
      .selectFrom('webhook_endpoints')
      .select('id')
      .where(({ eb, or }) => or([eb('enabled', '=', 0), eb('auto_disabled_at', 'is not', null)]))
      .execute();
    for (const { id } of off) await holdPending(tx, id);
  });
}

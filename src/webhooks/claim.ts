/** Claims deliveries that are due, and records the attempt of each before it is made. */

import { sql } from 'kysely';
import type { App } from '../app.ts';
import { traceOf } from '../events/traces.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { traceHeaders } from '../lib/trace-context.ts';
import { timeIn } from '../store/database-clock.ts';
import { claim, makeDistantDueNow, wasLeasedEarlier } from '../store/leases.ts';
import { type Db, type Tx, transact } from '../store/open.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow } from '../store/tables.generated.ts';
import { holdPending } from './endpoint-health.ts';
import type { ClaimedDelivery } from './enqueue.ts';
import { eventPayload } from './enqueue.ts';
import { openSigningSecrets, type SigningSecrets, signatureHeaders } from './signatures.ts';

/** Longer than a request can take, including the recording of its outcome. */
const LEASE_MS = 90_000;

type Context = Pick<
  App,
  'clock' | 'newId' | 'node' | 'secrets' | 'version' | 'log' | 'subscribers'
>;

/** How many requests may start, and which deliveries this process is working on. */
export interface DeliveryCapacity {
  /** How many more requests to an endpoint may start. */
  available(endpointId: string): number;
  consume(delivery: ClaimedDelivery): void;
  /** The deliveries whose last attempt this process hasn't recorded yet, even if the lease has expired. */
  inProgress(endpointId: string): string[];
}

/** Avoids taking the write lock when nothing is due, the usual case. */
export async function hasDueDeliveries(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  { available }: Pick<DeliveryCapacity, 'available'>,
): Promise<boolean> {
  const endpoints = await endpointsWithDue(db, clock.now()).select('id').execute();
  return endpoints.some(({ id }) => available(id) > 0);
}

/** Claims as many deliveries per endpoint as its capacity allows, and uses up that capacity. */
export async function claimDueDeliveries(
  tx: Tx,
  app: Context,
  capacity: DeliveryCapacity,
): Promise<ClaimedDelivery[]> {
  const now = app.clock.now();
  const claimedDeliveries: ClaimedDelivery[] = [];
  for (const endpoint of await endpointsWithDue(tx, now).selectAll().execute()) {
    const limit = capacity.available(endpoint.id);
    if (limit <= 0) continue;
    const due = selectDue(tx, app, endpoint.id, limit, capacity.inProgress(endpoint.id));
    const claimed = await claimForEndpoint(tx, app, endpoint, due, now);
    // Before the next endpoint, because all endpoints share the total capacity.
    for (const delivery of claimed) capacity.consume(delivery);
    claimedDeliveries.push(...claimed);
  }
  return claimedDeliveries;
}

/** Active endpoints with deliveries that are due or whose lease has expired. */
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

async function claimForEndpoint(
  tx: Tx,
  app: Context,
  endpoint: WebhookEndpointRow,
  due: ReturnType<typeof selectDue>,
  now: number,
): Promise<ClaimedDelivery[]> {
  const secrets = openSigningSecrets(app.secrets, endpoint, now);
  if (secrets === null) {
    // The deliveries can be recovered once the endpoint has a new secret.
    await holdPending(tx, endpoint.id);
    app.log.error('cannot decrypt the secret of a webhook endpoint: rotate the secret', {
      endpoint: endpoint.id,
    });
    return [];
  }
  const { rows, lease } = await claim(tx, app, {
    table: 'webhook_deliveries',
    alias: 'delivery',
    due,
    leaseMs: LEASE_MS,
    until: 'due_at',
    set: { attempts: sql`attempts + 1` },
  });
  const attempts: NewAttempt[] = [];
  for (const row of rows) {
    const payload = payloadOf(row);
    if (payload === null) await markFailed(tx, row);
    else attempts.push({ row, payload });
  }
  return attempts.length === 0
    ? []
    : startAttempts(tx, app, endpoint, { secrets, lease, attempts, now });
}

type DueRow = Awaited<ReturnType<ReturnType<typeof selectDue>['execute']>>[number];

interface NewAttempt {
  row: DueRow;
  payload: string;
}

/** A row with a lease was left in progress. It is due when the lease has ended by the clock that all nodes share. */
const selectDue = (
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  endpointId: string,
  limit: number,
  inProgress: string[],
) =>
  tx
    .selectFrom('webhook_deliveries as delivery')
    .leftJoin('events', 'events.id', 'delivery.event_id')
    .selectAll('delivery')
    .select(['events.livemode', 'events.data', 'events.created_at as event_created_at'])
    .where('endpoint_id', '=', endpointId)
    .where('due_at', '<=', isoTime(clock.now()))
    .$if(clock.source === 'database', (query) =>
      query.where(({ eb, or }) => or([eb('lease', 'is', null), eb('due_at', '<=', timeIn(clock))])),
    )
    .$if(inProgress.length > 0, (query) => query.where('delivery.id', 'not in', inProgress))
    .orderBy('due_at')
    .limit(limit);

/** null if the event is no longer stored. */
function payloadOf(row: DueRow): string | null {
  const { sample, event_id: id, event_type: type, event_created_at, livemode, data } = row;
  if (sample !== null) return sample;
  if (data === null || event_created_at === null || livemode === null) return null;
  return eventPayload({ id, type, created_at: event_created_at, livemode, data });
}

interface Start {
  secrets: SigningSecrets;
  lease: string;
  attempts: NewAttempt[];
  now: number;
}

/** Records one attempt for each claimed delivery. */
async function startAttempts(
  tx: Tx,
  { version, subscribers }: Context,
  endpoint: WebhookEndpointRow,
  { secrets, lease, attempts, now }: Start,
): Promise<ClaimedDelivery[]> {
  for (const { row } of attempts) if (row.lease !== null) await markInterrupted(tx, row);
  const { url } = endpoint;
  const tracing = (eventId: string) => {
    const trace = traceOf({ subscribers }, eventId);
    return trace === null ? {} : traceHeaders(trace);
  };
  const claimed = attempts.map(({ row, payload }) => ({
    id: row.id,
    endpoint_id: endpoint.id,
    round_failures: row.round_failures,
    resumes_at: row.resumes_at,
    lease,
    number: row.attempts + 1,
    startedAt: now,
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': `deliverability/${version} (webhooks)`,
      ...signatureHeaders({ eventId: row.event_id, payload, sentAt: now }, secrets),
      ...tracing(row.event_id),
    },
    payload,
  }));
  await tx
    .insertInto('webhook_attempts')
    .values(
      claimed.map(({ id, number, headers }, index) => ({
        delivery_id: id,
        number,
        trigger: triggerOf(attempts[index]!.row),
        started_at: isoTime(now),
        url,
        request_headers: JSON.stringify(headers),
      })),
    )
    .execute();
  return claimed;
}

const triggerOf = ({ round_failures, round_trigger, resumes_at }: DueRow): string => {
  if (resumes_at !== null) return 'resend';
  return round_failures === 0 ? round_trigger : 'retry';
};

/** Marks the last attempt as interrupted, such as by a crash. It doesn't count as a failure. */
async function markInterrupted(
  tx: Tx,
  row: Pick<WebhookDeliveryRow, 'id' | 'attempts'>,
): Promise<void> {
  await tx
    .updateTable('webhook_attempts')
    .set({ error: 'interrupted: the outcome is unknown, for example because the server stopped' })
    .where('delivery_id', '=', row.id)
    .where('number', '=', row.attempts)
    .where('duration_ms', 'is', null)
    .execute();
}

/** For a delivery whose event is no longer stored. */
async function markFailed(tx: Tx, { id, attempts }: DueRow): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', due_at: null, lease: null, resumes_at: null, attempts })
    .where('id', '=', id)
    .execute();
}

/** No attempt is scheduled further ahead than this, unless the clock has been set back since. */
const MAX_DELAY_MS = 8 * HOUR_MS + LEASE_MS;

/** Makes deliveries due now whose due time is implausibly late. */
export const bringDeliveriesForward = (app: Pick<App, 'db' | 'clock'>): Promise<void> =>
  makeDistantDueNow(app, 'webhook_deliveries', MAX_DELAY_MS);

/**
 * On startup, makes deliveries due that the previous process left in progress. Other nodes may be sending theirs in
 * a PostgreSQL database: those are due when their lease expires.
 */
export async function releaseDeliveries(app: Pick<App, 'db' | 'clock' | 'node'>): Promise<void> {
  await transact(app.db, (tx) =>
    release(tx, app, (query) => query.where(wasLeasedEarlier(tx, app.node))),
  );
  await holdInterrupted(app);
}

/**
 * Holds deliveries to endpoints that aren't active: those that the last start of this node released, and those whose
 * lease has expired, which no job claims.
 */
export async function holdInterrupted(app: Pick<App, 'db' | 'clock'>): Promise<void> {
  const inactive = app.db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where(({ eb, or }) => or([eb('enabled', '=', 0), eb('auto_disabled_at', 'is not', null)]));
  for (const { id } of await inactive.execute())
    await transact(app.db, async (tx) => {
      await release(tx, app, (query) =>
        query.where('endpoint_id', '=', id).where('due_at', '<=', timeIn(app.clock)),
      );
      await holdPending(tx, id);
    });
}

type InterruptedQuery = ReturnType<typeof interrupted>;

const interrupted = (tx: Tx) =>
  tx
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('due_at', 'is not', null)
    .where('lease', 'is not', null);

async function release(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  filter: (query: InterruptedQuery) => InterruptedQuery,
): Promise<void> {
  for (const row of await filter(interrupted(tx)).forNoKeyUpdate().skipLocked().execute()) {
    await markInterrupted(tx, row);
    await tx
      .updateTable('webhook_deliveries')
      .set({ due_at: isoTime(clock.now()), lease: null })
      .where('id', '=', row.id)
      .execute();
  }
}

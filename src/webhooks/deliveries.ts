/** Deliveries: queries, waiting for an attempt, resending, and recovery. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import type { Call } from '../http/route.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { waitUntil } from '../lib/concurrency.ts';
import { AppError } from '../lib/errors.ts';
import { audited } from '../store/audited.ts';
import { afterCommit, type Db, lockIn, lockRow, type Tx } from '../store/open.ts';
import type { EventRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { AUDITED_ENDPOINT, endpointOr404, requireActive } from './endpoints.ts';
import { DELIVER_JOB } from './enqueue.ts';
import type {
  DeliveryFilters,
  DeliveryState,
  DeliveryWithAttempts,
  WebhookRecovery,
} from './schema.ts';

export const AUDITED_DELIVERY = audited({
  type: 'webhook_delivery',
  name: 'Webhook delivery',
  actions: ['webhook_delivery.resent'],
  page: (id) => `/webhooks/deliveries/${id}`,
  withPage: (db, ids, livemode) =>
    db
      .selectFrom('webhook_deliveries')
      .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'endpoint_id')
      .select('webhook_deliveries.id')
      .where('webhook_deliveries.id', 'in', ids)
      .where('livemode', '=', Number(livemode))
      .execute(),
});

/** Only the newest are listed, because a delivery can be resent any number of times. */
const MAX_LISTED_ATTEMPTS = 100;

function selectWithMode(db: Db | Tx) {
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

/** One page of the matching deliveries of an endpoint, newest first. */
export async function listDeliveries(
  db: Db,
  endpointId: string,
  { limit, starting_after, ending_before, ...filters }: DeliveryFilters & Page,
): Promise<{ rows: DeliveryState[]; hasMore: boolean }> {
  const all = selectWithMode(db).where('endpoint_id', '=', endpointId);
  let query = all;
  if (filters.status) query = query.where('status', '=', filters.status);
  if (filters.event_id) query = query.where('event_id', '=', filters.event_id);
  if (filters.event_type) query = query.where('event_type', '=', filters.event_type);
  if (filters.created_after) query = query.where('created_at', '>=', filters.created_after);
  return fetchPage(query, { limit, starting_after, ending_before }, all);
}

/** Throws `not_found`, also if its endpoint is of the other mode, or was deleted. */
export async function deliveryOr404(
  db: Db | Tx,
  id: string,
  { livemode }: Pick<Actor, 'livemode'>,
): Promise<DeliveryState> {
  const row = await selectWithMode(db)
    .where('webhook_deliveries.id', '=', id)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_endpoints')
          .select('webhook_endpoints.id')
          .whereRef('webhook_endpoints.id', '=', 'webhook_deliveries.endpoint_id')
          .where('livemode', '=', livemode ? 1 : 0)
          .where('deleted_at', 'is', null),
      ),
    )
    .executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such webhook delivery.');
  return row;
}

/** The event of a delivery; null for a sample, or if the event is no longer stored. */
async function findEventOf(
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

/** A delivery with its event and attempts. */
export async function withAttempts(db: Db | Tx, row: DeliveryState): Promise<DeliveryWithAttempts> {
  const attempts = await db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', '=', row.id)
    .orderBy('number', 'desc')
    .limit(MAX_LISTED_ATTEMPTS)
    .execute();
  return { row, event: await findEventOf(db, row), attempts: attempts.reverse() };
}

// Waiting for an attempt of a delivery to end, for `?wait=`.

/**
 * Resolves with the delivery once no attempt is due or in progress, after `ms` milliseconds, or when the
 * client disconnects. Throws `not_found`.
 */
export function waitForAttempt(
  app: Pick<App, 'db' | 'clock' | 'signals'>,
  { id, actor }: { id: string; actor: Pick<Actor, 'livemode'> },
  ms: number,
  abort: AbortSignal,
): Promise<DeliveryState> {
  const read = () => deliveryOr404(app.db, id, actor);
  return waitUntil(app, { name: id, ms, abort }, read, (row) => isSettled(row, app.clock.now()));
}

/** Whether the delivery has ended or waits for its next attempt. */
function isSettled({ status, lease, due_at }: DeliveryState, now: number): boolean {
  return status !== 'pending' || (lease === null && due_at !== null && Date.parse(due_at) > now);
}

// Resending one delivery.

type ResendContext = Author & { app: App; actor: Pick<Actor, 'livemode'> };

/**
 * Makes an attempt due at once. A delivery that has ended starts a new round of attempts. One that waits
 * for its next attempt keeps its schedule, which goes on if the resend fails. Throws `conflict` during an
 * attempt, or if the endpoint isn't active, `gone` if the event is no longer stored, and `not_found`. Call
 * in `transact`.
 */
export async function resendDelivery(
  tx: Tx,
  author: ResendContext,
  id: string,
): Promise<DeliveryState> {
  const { endpoint_id, event_id } = await deliveryOr404(tx, id, author.actor);
  // The endpoint first, as in a recovery.
  requireActive(await endpointOr404(tx, endpoint_id, author.actor));
  await lockRow(tx, 'webhook_deliveries', id);
  const row = await deliveryOr404(tx, id, author.actor);
  if (row.lease !== null)
    throw new AppError(
      'conflict',
      'An attempt of this delivery is in progress. Get the delivery with `wait` to see its outcome.',
    );
  if (row.sample === null && (await findEventOf(tx, row)) === null)
    throw new AppError(
      'gone',
      'This delivery cannot be resent because its event is no longer stored.',
    );
  const change = resendOf(row, author.app);
  await tx.updateTable('webhook_deliveries').set(change).where('id', '=', id).execute();
  afterCommit(tx, () => author.app.scheduler.wake(DELIVER_JOB));
  await audit(tx, author, AUDITED_DELIVERY, 'webhook_delivery.resent', id, {
    endpoint_id,
    event_id,
  });
  return { ...row, ...change };
}

/** Changes nothing if an attempt is due already: it is about to start. */
function resendOf({ status, due_at, resumes_at }: DeliveryState, app: Pick<App, 'clock'>) {
  if (status !== 'pending') return newRound(app, 'resend');
  const now = isoTime(app.clock.now());
  return due_at !== null && due_at > now
    ? { due_at: now, resumes_at: due_at }
    : { due_at, resumes_at };
}

const newRound = ({ clock }: Pick<App, 'clock'>, round_trigger: 'resend' | 'recover') => ({
  status: 'pending' as const,
  round_trigger,
  round_failures: 0,
  due_at: isoTime(clock.now()),
  lease: null,
  resumes_at: null,
});

/** Call in `transact`. */
async function startRecovery(
  tx: Tx,
  app: Pick<App, 'clock' | 'scheduler'>,
  ids: string[],
): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set(newRound(app, 'recover'))
    .where('id', 'in', ids)
    .execute();
  afterCommit(tx, () => app.scheduler.wake(DELIVER_JOB));
}

// Resending all deliveries that an endpoint missed.

/** In batches, so that other writers get their turn. */
const RECOVERY_BATCH_SIZE = 500;

interface RecoveryContext extends Author {
  app: App;
  actor: Actor;
  transact: Call<'admin', undefined, undefined, typeof WebhookRecovery>['transact'];
}

/**
 * Starts a new round, due at once, for each failed or held delivery created at or after `since`. Throws
 * `conflict` if the endpoint isn't active. If it is disabled meanwhile, the remaining deliveries stay held.
 */
export async function recoverDeliveries(
  call: RecoveryContext,
  endpointId: string,
  since: string,
): Promise<WebhookRecovery> {
  const { app } = call;
  const until = isoTime(app.clock.now());
  let recovered = 0;
  let after = '';
  for (;;) {
    const { ids, response } = await call.transact(
      async (tx) => {
        requireActive(await endpointOr404(tx, endpointId, call.actor));
        if (after === '')
          await audit(tx, call, AUDITED_ENDPOINT, 'webhook_endpoint.recovered', endpointId, {
            since,
          });
        const ids = await findMissed(tx, { endpointId, since, until, after });
        if (ids.length > 0) await startRecovery(tx, app, ids);
        return { ids, response: recoveryOf(endpointId, since, recovered + ids.length) };
      },
      ({ ids, response }) => (ids.length < RECOVERY_BATCH_SIZE ? response : undefined),
    );
    if (ids.length < RECOVERY_BATCH_SIZE) return response;
    recovered = response.recovered;
    after = ids.at(-1)!;
  }
}

const recoveryOf = (endpoint_id: string, since: string, recovered: number): WebhookRecovery => ({
  object: 'webhook_recovery',
  endpoint_id,
  since,
  recovered,
});

interface MissedFilter {
  endpointId: string;
  since: string;
  until: string;
  /** The last ID of the previous batch. */
  after: string;
}

/** IDs of one batch, oldest first, without deliveries whose event is no longer stored. */
async function findMissed(
  tx: Tx,
  { endpointId, since, until, after }: MissedFilter,
): Promise<string[]> {
  const query = tx
    .selectFrom('webhook_deliveries as delivery')
    .select('delivery.id')
    .where('endpoint_id', '=', endpointId)
    .where('delivery.id', '>', after)
    .where('status', 'in', ['failed', 'held'])
    .where('delivery.created_at', '>=', since)
    .where('delivery.created_at', '<=', until)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('sample', 'is not', null),
        exists(selectFrom('events').select('events.id').whereRef('events.id', '=', 'event_id')),
      ]),
    )
    .orderBy('delivery.id')
    .limit(RECOVERY_BATCH_SIZE);
  const rows = await lockIn(tx, query).execute();
  return rows.map(({ id }) => id);
}

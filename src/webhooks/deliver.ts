/**
 * The job that makes due deliveries. One transaction records finished attempts and claims the next ones;
 * then the requests start.
 */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { retryAfterMs } from '../lib/retry.ts';
import type { PostOutcome } from '../net/http/web.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { type Tx, transact } from '../store/open.ts';
import type { WebhookAttemptRow, WebhookDeliveryRow } from '../store/tables.generated.ts';
import { claimDueDeliveries, hasDueDeliveries } from './claim.ts';
import { recordEndpointHealth } from './endpoint-health.ts';
import { type ClaimedDelivery, DELIVER_JOB } from './enqueue.ts';

export function deliverJob(app: App): Job {
  const slots = createSlots();
  const inProgress = new Set<Promise<void>>();
  let ended: EndedAttempt[] = [];
  const unrecorded = new Set<string>();

  /** If the transaction fails, finished attempts are kept for the next run. */
  const recordAndClaim = async (): Promise<ClaimedDelivery[]> => {
    if (ended.length === 0 && !(await hasDueDeliveries(app, slots))) return [];
    const recorded = ended;
    ended = [];
    const started: ClaimedDelivery[] = [];
    try {
      const claimed = await transact(app.db, async (tx) => {
        await recordAttempts(tx, app, recorded);
        return claimDueDeliveries(tx, app, {
          available: slots.available,
          consume(delivery) {
            slots.start(delivery.endpoint_id);
            started.push(delivery);
          },
          isInProgress: (id) => unrecorded.has(id),
        });
      });
      for (const { delivery } of recorded) {
        unrecorded.delete(delivery.id);
        app.signals.raise(delivery.id);
      }
      for (const { id } of claimed) unrecorded.add(id);
      return claimed;
    } catch (error) {
      for (const { endpoint_id } of started) slots.finish(endpoint_id, null);
      ended.unshift(...recorded);
      throw error;
    }
  };

  const send = async (delivery: ClaimedDelivery): Promise<void> => {
    const { url, headers, payload, endpoint_id } = delivery;
    const outcome = await app.poster.post({ url, headers, body: payload });
    slots.finish(endpoint_id, outcome && hasSucceeded(outcome));
    // null on shutdown: the next start makes the attempt again.
    if (outcome) ended.push({ delivery, outcome, at: app.clock.now() });
    else unrecorded.delete(delivery.id);
    app.scheduler.wake(DELIVER_JOB);
  };

  return {
    name: DELIVER_JOB,
    tick: '* * * * * *',
    async run() {
      for (const delivery of await recordAndClaim()) {
        const work = send(delivery).then(() => void inProgress.delete(work));
        inProgress.add(work);
      }
    },
    async idle() {
      await Promise.all(inProgress);
      if (ended.length > 0) await transact(app.db, (tx) => recordAttempts(tx, app, ended));
      ended = [];
    },
  };
}

// Recording the outcome of attempts and the state of their deliveries.

/** How much of a response body is stored. */
const MAX_STORED_BODY_BYTES = 4096;

/** Success is a complete response with a 2xx status (contract §9). */
function hasSucceeded({ response, failure }: PostOutcome): boolean {
  return failure === null && response !== null && response.code >= 200 && response.code < 300;
}

interface EndedAttempt {
  delivery: ClaimedDelivery;
  outcome: PostOutcome;
  /** Milliseconds since the epoch. */
  at: number;
}

/** If a delivery has another lease by now, only the attempt is recorded. */
async function recordAttempts(tx: Tx, app: App, ended: EndedAttempt[]): Promise<void> {
  for (const one of ended) await recordOne(tx, one);
  await recordEndpointHealth(
    tx,
    app,
    ended.map(({ delivery: { endpoint_id, startedAt }, outcome }) => ({
      endpointId: endpoint_id,
      startedAt,
      succeeded: hasSucceeded(outcome),
    })),
  );
}

async function recordOne(tx: Tx, { delivery, outcome, at }: EndedAttempt): Promise<void> {
  const { id, lease, number, startedAt } = delivery;
  await tx
    .updateTable('webhook_attempts')
    // Never negative, even if the clock was set back.
    .set({ duration_ms: Math.max(0, at - startedAt), ...responseColumns(outcome) })
    .where('delivery_id', '=', id)
    .where('number', '=', number)
    .execute();
  await tx
    .updateTable('webhook_deliveries')
    .set({ lease: null, ...stateAfter(delivery, outcome, at) })
    .where('id', '=', id)
    .where('lease', '=', lease)
    .execute();
}

function stateAfter(
  { round_failures }: ClaimedDelivery,
  outcome: PostOutcome,
  at: number,
): Pick<WebhookDeliveryRow, 'status' | 'round_failures' | 'due_at'> {
  if (hasSucceeded(outcome)) return { status: 'succeeded', round_failures, due_at: null };
  const failures = round_failures + 1;
  const wait = retryAfterMs(failures);
  return wait === null
    ? { status: 'failed', round_failures: failures, due_at: null }
    : { status: 'pending', round_failures: failures, due_at: isoTime(at + wait) };
}

function responseColumns(outcome: PostOutcome): Partial<WebhookAttemptRow> {
  const { response } = outcome;
  return {
    response_status: response?.code ?? null,
    response_headers: response && JSON.stringify(response.headers),
    response_body: response && storedText(response.body),
    error: errorOf(outcome),
  };
}

/** Decodes any bytes as text; invalid ones become the replacement character. */
function storedText(body: Uint8Array): string {
  // NUL cannot be stored as text in every database.
  return new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(body.subarray(0, MAX_STORED_BODY_BYTES))
    .replaceAll('\0', '�');
}

function errorOf(outcome: PostOutcome): string | null {
  if (outcome.failure) return `${outcome.failure.reason}: ${outcome.failure.detail}`;
  if (hasSucceeded(outcome)) return null;
  const { code } = outcome.response!;
  return code >= 300 && code < 400
    ? `status ${code}: redirects are not followed`
    : `status ${code}: only 2xx counts as success`;
}

// Limits on concurrent requests, so that a slow endpoint doesn't delay the others.

const MAX_PER_ENDPOINT = 10;
const MAX_TOTAL = 200;
/** Lower limits under load, so that twenty endpoints that stop answering don't use up the total. */
const MAX_PER_ENDPOINT_FROM: [running: number, limit: number][] = [
  [150, 2],
  [100, 5],
  [0, MAX_PER_ENDPOINT],
];
/** The initial limit of an endpoint. Each success adds one, and each failure halves it. */
const INITIAL_LIMIT = 2;
/** From this many requests to unproven endpoints on, each may have only one, to leave capacity for others. */
const UNPROVEN_THRESHOLD = 100;

export interface Slots {
  /** How many more requests to the endpoint may start now. */
  available(endpointId: string): number;
  start(endpointId: string): void;
  /** `succeeded` is null if the outcome says nothing about the endpoint. */
  finish(endpointId: string, succeeded: boolean | null): void;
}

interface Usage {
  limit: number;
  running: number;
}

export function createSlots(): Slots {
  const usages = new Map<string, Usage>();
  let total = 0;
  const usageOf = (id: string): Usage => usages.get(id) ?? { limit: INITIAL_LIMIT, running: 0 };
  const unproven = () => {
    let sum = 0;
    for (const { limit, running } of usages.values()) if (limit <= INITIAL_LIMIT) sum += running;
    return sum;
  };
  return {
    available(id) {
      const { limit, running } = usageOf(id);
      const [, loadLimit] = MAX_PER_ENDPOINT_FROM.find(([from]) => total >= from)!;
      const left = Math.min(Math.min(limit, loadLimit) - running, MAX_TOTAL - total);
      if (limit > INITIAL_LIMIT || unproven() < UNPROVEN_THRESHOLD) return Math.max(0, left);
      return Math.max(0, Math.min(left, 1 - running));
    },
    start(id) {
      const usage = usageOf(id);
      usage.running++;
      total++;
      usages.set(id, usage);
    },
    finish(id, succeeded) {
      const usage = usageOf(id);
      usage.running--;
      total--;
      if (succeeded) usage.limit = Math.min(MAX_PER_ENDPOINT, usage.limit + 1);
      else if (succeeded === false) usage.limit = Math.max(1, Math.floor(usage.limit / 2));
      // An idle endpoint in its initial state need not be remembered.
      if (usage.running === 0 && usage.limit === INITIAL_LIMIT) usages.delete(id);
    },
  };
}

/**
 * The job that makes due deliveries. One transaction records finished attempts and claims the next ones;
 * then the requests start.
 */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { statusText } from '../net/http/status-text.ts';
import type { PostOutcome } from '../net/http/web.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { type Tx, transact } from '../store/open.ts';
import type { WebhookAttemptRow, WebhookDeliveryRow } from '../store/tables.generated.ts';
import { claimDueDeliveries, hasDueDeliveries } from './claim.ts';
import { lockChangingEndpoints, recordEndpointHealth } from './endpoint-health.ts';
import { type ClaimedDelivery, DELIVER_JOB } from './enqueue.ts';

export function deliverJob(app: App): Job {
  const slots = createSlots();
  const inProgress = new Set<Promise<void>>();
  let finishedAttempts: FinishedAttempt[] = [];
  /** The endpoint of each delivery whose last attempt is not recorded yet. */
  const unrecorded = new Map<string, string>();

  /** If the transaction fails, finished attempts are kept for the next run. */
  const recordAndClaim = async (): Promise<ClaimedDelivery[]> => {
    if (finishedAttempts.length === 0 && !(await hasDueDeliveries(app, slots))) return [];
    const batch = finishedAttempts;
    finishedAttempts = [];
    const startedDeliveries: ClaimedDelivery[] = [];
    const releaseSlots = () => {
      for (const { endpoint_id } of startedDeliveries.splice(0)) slots.finish(endpoint_id, null);
    };
    try {
      const claimed = await transact(app.db, async (tx) => {
        // From an attempt of this transaction that was rolled back.
        releaseSlots();
        await recordAttempts(tx, app, batch);
        return claimDueDeliveries(tx, app, {
          available: slots.available,
          consume(delivery) {
            slots.start(delivery.endpoint_id);
            startedDeliveries.push(delivery);
          },
          inProgress: (endpointId) =>
            [...unrecorded].flatMap(([id, endpoint]) => (endpoint === endpointId ? [id] : [])),
        });
      });
      for (const { delivery } of batch) {
        unrecorded.delete(delivery.id);
        app.signals.raise(delivery.id);
      }
      for (const { id, endpoint_id } of claimed) unrecorded.set(id, endpoint_id);
      return claimed;
    } catch (error) {
      releaseSlots();
      finishedAttempts.unshift(...batch);
      throw error;
    }
  };

  const send = async (delivery: ClaimedDelivery): Promise<void> => {
    const { url, headers, payload, endpoint_id } = delivery;
    const outcome = await app.poster.post({ url, headers, body: payload });
    slots.finish(endpoint_id, outcome && isFast(outcome));
    if (outcome)
      app.metrics.webhookAttempts.inc({ outcome: hasSucceeded(outcome) ? 'succeeded' : 'failed' });
    // Null on shutdown. The attempt is repeated at the next start.
    if (outcome) finishedAttempts.push({ delivery, outcome, at: app.clock.now() });
    else unrecorded.delete(delivery.id);
    app.scheduler.wakeHere(DELIVER_JOB);
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
      if (finishedAttempts.length > 0)
        await transact(app.db, (tx) => recordAttempts(tx, app, finishedAttempts));
      finishedAttempts = [];
    },
  };
}

// Recording the outcome of attempts and the state of their deliveries.

/** How much of a response body is stored. */
const MAX_STORED_BODY_BYTES = 4096;

/**
 * Success is a 2xx status within the time limit (contract §9). The receiver has then accepted the event,
 * even if the rest of its response is long, late, or cut off: a retry would only deliver it twice.
 */
function hasSucceeded({ response }: PostOutcome): boolean {
  return response !== null && response.code >= 200 && response.code < 300;
}

/** Whether the endpoint can take more requests at once. One whose response doesn't end holds its slot. */
const isFast = (outcome: PostOutcome): boolean => hasSucceeded(outcome) && outcome.failure === null;

interface FinishedAttempt {
  delivery: ClaimedDelivery;
  outcome: PostOutcome;
  /** Milliseconds since the epoch. */
  at: number;
}

/** If the lease of a delivery has changed since, only the attempt is recorded. */
async function recordAttempts(
  tx: Tx,
  app: App,
  finishedAttempts: FinishedAttempt[],
): Promise<void> {
  const outcomes = finishedAttempts.map(({ delivery: { endpoint_id, startedAt }, outcome }) => ({
    endpointId: endpoint_id,
    startedAt,
    succeeded: hasSucceeded(outcome),
  }));
  const endpoints = await lockChangingEndpoints(tx, outcomes);
  const inOrder = finishedAttempts.toSorted((a, b) => (a.delivery.id < b.delivery.id ? -1 : 1));
  for (const attempt of inOrder) await recordAttempt(tx, attempt);
  await recordEndpointHealth(tx, app, outcomes, endpoints);
}

async function recordAttempt(tx: Tx, { delivery, outcome, at }: FinishedAttempt): Promise<void> {
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
    .set({ lease: null, resumes_at: null, ...stateAfter(delivery, outcome, at) })
    .where('id', '=', id)
    .where('lease', '=', lease)
    .execute();
}

function stateAfter(
  { round_failures, resumes_at }: ClaimedDelivery,
  outcome: PostOutcome,
  at: number,
): Pick<WebhookDeliveryRow, 'status' | 'round_failures' | 'due_at'> {
  // A resend between two scheduled attempts isn't one of the six.
  if (resumes_at !== null && !hasSucceeded(outcome))
    return { status: 'pending', round_failures, due_at: resumes_at };
  if (hasSucceeded(outcome)) return { status: 'succeeded', round_failures, due_at: null };
  const failures = round_failures + 1;
  const delayMs = retryAfterMs(failures);
  return delayMs === null
    ? { status: 'failed', round_failures: failures, due_at: null }
    : { status: 'pending', round_failures: failures, due_at: isoTime(at + delayMs) };
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
  if (hasSucceeded(outcome)) return null;
  if (outcome.failure) return `${outcome.failure.reason}: ${outcome.failure.detail}`;
  const { code } = outcome.response!;
  return `status ${code}: ${statusText(code)}`;
}

// Limits on concurrent requests, so that a slow endpoint doesn't delay the others.

const MAX_PER_ENDPOINT = 10;
const MAX_TOTAL = 200;
/** Lower limits under load, so that twenty endpoints that stop responding don't use up the total. */
const LIMITS_UNDER_LOAD: [running: number, limit: number][] = [
  [150, 2],
  [100, 5],
  [0, MAX_PER_ENDPOINT],
];
/** The initial limit of an endpoint. Each success adds one, and each failure halves it. */
const INITIAL_LIMIT = 2;
/** With this many concurrent requests to unproven endpoints, each may have only one, to leave capacity for others. */
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
  const countUnproven = () => {
    let sum = 0;
    for (const { limit, running } of usages.values()) if (limit <= INITIAL_LIMIT) sum += running;
    return sum;
  };
  return {
    available(id) {
      const { limit, running } = usageOf(id);
      const [, limitUnderLoad] = LIMITS_UNDER_LOAD.find(([from]) => total >= from)!;
      const remaining = Math.min(Math.min(limit, limitUnderLoad) - running, MAX_TOTAL - total);
      if (limit > INITIAL_LIMIT || countUnproven() < UNPROVEN_THRESHOLD)
        return Math.max(0, remaining);
      return Math.max(0, Math.min(remaining, 1 - running));
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

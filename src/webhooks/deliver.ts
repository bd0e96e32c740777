/** The job that makes the deliveries that are due: one transaction records what has ended and claims what is next, then the calls begin. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { retryAfterMs } from '../lib/retry.ts';
import type { PostOutcome } from '../net/http/web.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { type Tx, transact } from '../store/open.ts';
import type { WebhookAttemptRow, WebhookDeliveryRow } from '../store/tables.generated.ts';
import { claimDueDeliveries, hasDueDeliveries } from './claim.ts';
import { noteHealth } from './endpoint-health.ts';
import { type ClaimedDelivery, DELIVER_JOB } from './enqueue.ts';

export function deliverJob(app: App): Job {
  const slots = createSlots();
  const underWay = new Set<Promise<void>>();
  let ended: EndedAttempt[] = [];
  const inHand = new Set<string>();

  /** Where it fails, what has ended is kept for the next run. */
  const turn = async (): Promise<ClaimedDelivery[]> => {
    if (ended.length === 0 && !(await hasDueDeliveries(app, slots))) return [];
    const recorded = ended;
    ended = [];
    const begun: ClaimedDelivery[] = [];
    try {
      const claimed = await transact(app.db, async (tx) => {
        await recordAttempts(tx, app, recorded);
        return claimDueDeliveries(tx, app, {
          room: slots.room,
          take(delivery) {
            slots.begin(delivery.endpoint_id);
            begun.push(delivery);
          },
          isInHand: (id) => inHand.has(id),
        });
      });
      for (const { delivery } of recorded) {
        inHand.delete(delivery.id);
        app.signals.raise(delivery.id);
      }
      for (const { id } of claimed) inHand.add(id);
      return claimed;
    } catch (error) {
      for (const { endpoint_id } of begun) slots.end(endpoint_id, null);
      ended.unshift(...recorded);
      throw error;
    }
  };

  const make = async (delivery: ClaimedDelivery): Promise<void> => {
    const { url, headers, payload, endpoint_id } = delivery;
    const outcome = await app.poster.post({ url, headers, body: payload });
    slots.end(endpoint_id, outcome && hasSucceeded(outcome));
    // null: we are closing, and the next start makes it again.
    if (outcome) ended.push({ delivery, outcome, at: app.clock.now() });
    else inHand.delete(delivery.id);
    app.scheduler.wake(DELIVER_JOB);
  };

  return {
    name: DELIVER_JOB,
    tick: '* * * * * *',
    async run() {
      for (const delivery of await turn()) {
        const work = make(delivery).then(() => void underWay.delete(work));
        underWay.add(work);
      }
    },
    async idle() {
      await Promise.all(underWay);
      if (ended.length > 0) await transact(app.db, (tx) => recordAttempts(tx, app, ended));
      ended = [];
    },
  };
}

// Records what attempts ended in, and what becomes of their deliveries.

/** Of the body of an answer, so much is kept. */
const KEPT_BODY_BYTES = 4096;

/** Success is a whole answer with a status of 2xx, and nothing else (contract §9). */
function hasSucceeded({ answer, failure }: PostOutcome): boolean {
  return failure === null && answer !== null && answer.code >= 200 && answer.code < 300;
}

interface EndedAttempt {
  delivery: ClaimedDelivery;
  outcome: PostOutcome;
  /** Milliseconds since 1970. */
  at: number;
}

/** All in the given transaction. Where the lease is another's by now, the delivery is theirs. */
async function recordAttempts(tx: Tx, app: App, ended: EndedAttempt[]): Promise<void> {
  for (const one of ended) await recordOne(tx, one);
  await noteHealth(
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
    // A clock that was set back must not make a duration negative.
    .set({ duration_ms: Math.max(0, at - startedAt), ...answerColumns(outcome) })
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

function answerColumns(outcome: PostOutcome): Partial<WebhookAttemptRow> {
  const { answer } = outcome;
  return {
    response_status: answer?.code ?? null,
    response_headers: answer && JSON.stringify(answer.headers),
    response_body: answer && keptText(answer.body),
    error: errorOf(outcome),
  };
}

/** As text, whatever it is: bytes that are none become the replacement character. */
function keptText(body: Uint8Array): string {
  // NUL cannot be stored as text in every database.
  return new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(body.subarray(0, KEPT_BODY_BYTES))
    .replaceAll('\0', '�');
}

function errorOf(outcome: PostOutcome): string | null {
  if (outcome.failure) return `${outcome.failure.reason}: ${outcome.failure.detail}`;
  if (hasSucceeded(outcome)) return null;
  const { code } = outcome.answer!;
  return code >= 300 && code < 400
    ? `status ${code}: redirects are not followed`
    : `status ${code}: only 2xx is a success`;
}

// How many calls at once each endpoint may have, so that one in trouble delays no other.

/** Calls at once to one endpoint, and to all. */
const MAX_PER_ENDPOINT = 10;
const MAX_IN_ALL = 200;
/** The fuller it is, the fewer an endpoint may have: twenty that stop answering at once do not fill it. */
const MAX_PER_ENDPOINT_FROM: [running: number, each: number][] = [
  [150, 2],
  [100, 5],
  [0, MAX_PER_ENDPOINT],
];
/** What an endpoint begins with; each success adds one, each failure halves. */
const UNPROVEN = 2;
/** From so many calls to such endpoints together on, each has one only: the next one always finds room. */
const MANY_UNPROVEN = 100;

export interface Slots {
  /** How many more calls to it may begin now. */
  room(endpointId: string): number;
  begin(endpointId: string): void;
  /** null: it came to nothing that tells of the endpoint. */
  end(endpointId: string, succeeded: boolean | null): void;
}

interface Use {
  allowed: number;
  running: number;
}

export function createSlots(): Slots {
  const uses = new Map<string, Use>();
  let all = 0;
  const useOf = (id: string): Use => uses.get(id) ?? { allowed: UNPROVEN, running: 0 };
  const unproven = () => {
    let sum = 0;
    for (const { allowed, running } of uses.values()) if (allowed <= UNPROVEN) sum += running;
    return sum;
  };
  return {
    room(id) {
      const { allowed, running } = useOf(id);
      const [, each] = MAX_PER_ENDPOINT_FROM.find(([from]) => all >= from)!;
      const left = Math.min(Math.min(allowed, each) - running, MAX_IN_ALL - all);
      if (allowed > UNPROVEN || unproven() < MANY_UNPROVEN) return Math.max(0, left);
      return Math.max(0, Math.min(left, 1 - running));
    },
    begin(id) {
      const use = useOf(id);
      use.running++;
      all++;
      uses.set(id, use);
    },
    end(id, succeeded) {
      const use = useOf(id);
      use.running--;
      all--;
      if (succeeded) use.allowed = Math.min(MAX_PER_ENDPOINT, use.allowed + 1);
      else if (succeeded === false) use.allowed = Math.max(1, Math.floor(use.allowed / 2));
      // What it would begin with again need not be remembered.
      if (use.running === 0 && use.allowed === UNPROVEN) uses.delete(id);
    },
  };
}

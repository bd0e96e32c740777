/** Records what attempts ended in, and what becomes of their deliveries. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { retryAfterMs } from '../lib/retry-times.ts';
import type { PostOutcome } from '../net/post.ts';
import type { Tx } from '../store/open.ts';
import type { WebhookAttemptRow, WebhookDeliveryRow } from '../store/webhook-tables.ts';
import { noteHealth } from './endpoint-health.ts';
import type { ClaimedDelivery } from './jobs.ts';

/** Of the body of an answer, so much is kept. */
const KEPT_BODY_BYTES = 4096;

/** Success is a whole answer with a status of 2xx, and nothing else (contract §9). */
export function hasSucceeded({ answer, failure }: PostOutcome): boolean {
  return failure === null && answer !== null && answer.code >= 200 && answer.code < 300;
}

export interface EndedAttempt {
  delivery: ClaimedDelivery;
  outcome: PostOutcome;
  /** Milliseconds since 1970. */
  at: number;
}

/** All in the given transaction. Where the lease is another's by now, the delivery is theirs. */
export async function recordAttempts(tx: Tx, app: App, ended: EndedAttempt[]): Promise<void> {
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

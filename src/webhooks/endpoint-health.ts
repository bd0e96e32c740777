/** Tracks failing endpoints, and disables one after five days of failures. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { timeInWords } from '../lib/format/times.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { mailFrame } from '../report/mail-frame.ts';
import { afterCommit, lockIn, type Tx } from '../store/open.ts';
import type { WebhookEndpointRow } from '../store/tables.generated.ts';

/** An endpoint without a success for this long is disabled. */
const DISABLE_AFTER_MS = 5 * DAY_MS;

interface AttemptOutcome {
  endpointId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  succeeded: boolean;
}

/**
 * Locks and returns the endpoints whose health the outcomes can change. Call it before the attempts are
 * recorded: every transaction locks endpoints before deliveries, so that none wait for each other.
 */
export async function lockChangingEndpoints(
  tx: Tx,
  outcomes: AttemptOutcome[],
): Promise<WebhookEndpointRow[]> {
  const changing: WebhookEndpointRow[] = [];
  const groups = [...Map.groupBy(outcomes, ({ endpointId }) => endpointId)];
  for (const [id, ofEndpoint] of groups.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const hasSucceeded = ofEndpoint.some(({ succeeded }) => succeeded);
    // Usually, there is nothing to change, and other nodes need not wait for this transaction.
    if (hasSucceeded && isHealthy(await findUndeleted(tx, id))) continue;
    const endpoint = await findUndeleted(tx, id, lockIn);
    if (endpoint) changing.push(endpoint);
  }
  return changing;
}

/** Updates the health of the locked endpoints. Call it after the attempts have been recorded. */
export async function recordEndpointHealth(
  tx: Tx,
  app: App,
  outcomes: AttemptOutcome[],
  endpoints: WebhookEndpointRow[],
): Promise<void> {
  for (const endpoint of endpoints) {
    const { id, failing_since } = endpoint;
    const ofEndpoint = outcomes.filter(({ endpointId }) => endpointId === id);
    if (ofEndpoint.some(({ succeeded }) => succeeded)) {
      if (failing_since !== null) await updateEndpoint(tx, id, { failing_since: null });
    } else if (failing_since === null) {
      const firstStartedAt = Math.min(...ofEndpoint.map(({ startedAt }) => startedAt));
      await updateEndpoint(tx, id, { failing_since: isoTime(firstStartedAt) });
    } else if (app.clock.now() - Date.parse(failing_since) >= DISABLE_AFTER_MS)
      await disable(tx, app, endpoint);
    // If it was disabled during the attempt, the retry is held too.
    if (endpoint.enabled === 0 || endpoint.auto_disabled_at !== null) await holdPending(tx, id);
  }
}

async function findUndeleted(
  tx: Tx,
  id: string,
  lock?: typeof lockIn,
): Promise<WebhookEndpointRow | undefined> {
  const query = tx
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null);
  return (lock?.(tx, query) ?? query).executeTakeFirst();
}

const isHealthy = (endpoint: WebhookEndpointRow | undefined): boolean =>
  endpoint?.failing_since === null && endpoint.enabled === 1 && endpoint.auto_disabled_at === null;

async function updateEndpoint(tx: Tx, id: string, set: Partial<WebhookEndpointRow>): Promise<void> {
  await tx.updateTable('webhook_endpoints').set(set).where('id', '=', id).execute();
}

async function disable(tx: Tx, app: App, endpoint: WebhookEndpointRow): Promise<void> {
  if (endpoint.auto_disabled_at !== null || endpoint.enabled === 0) return;
  await updateEndpoint(tx, endpoint.id, { auto_disabled_at: isoTime(app.clock.now()) });
  await holdPending(tx, endpoint.id);
  await notifyAdmins(tx, app, endpoint);
  app.log.warn('disabled a webhook endpoint: every attempt failed for five days', {
    endpoint: endpoint.id,
  });
}

/** Holds pending deliveries, which can be recovered later. Attempts in progress finish normally. */
export async function holdPending(tx: Tx, endpointId: string): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'held', due_at: null, resumes_at: null })
    .where('endpoint_id', '=', endpointId)
    .where('due_at', 'is not', null)
    .where('lease', 'is', null)
    .execute();
}

// The email to the owner and the admins about an endpoint that was disabled automatically.

/** Queues the emails in the transaction that disables the endpoint. Sends none if email isn't configured. */
async function notifyAdmins(tx: Tx, app: App, endpoint: WebhookEndpointRow): Promise<void> {
  const recipients = await tx
    .selectFrom('members')
    .select('email')
    .where('role', 'in', ['owner', 'admin'])
    .execute();
  const missedSince = await oldestMissed(tx, endpoint);
  for (const { email } of recipients)
    await queueMail(tx, app, {
      to: email,
      ...endpointDisabledMail(app.config, endpoint, missedSince),
    });
  afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
}

/** A round of attempts takes no longer, so older deliveries had ended before the failures began. */
const MAX_ROUND_MS = 12 * HOUR_MS;

/** When the oldest missed delivery was created, which is before its first attempt. */
async function oldestMissed(tx: Tx, { id, failing_since }: WebhookEndpointRow): Promise<string> {
  const oldest = await tx
    .selectFrom('webhook_deliveries')
    .select('created_at')
    .where('endpoint_id', '=', id)
    .where('status', 'in', ['failed', 'held'])
    .where('created_at', '>=', isoTime(Date.parse(failing_since!) - MAX_ROUND_MS))
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  return oldest?.created_at ?? failing_since!;
}

function endpointDisabledMail(
  { APP_URL }: Pick<App['config'], 'APP_URL'>,
  { id, url, description, failing_since }: WebhookEndpointRow,
  missedSince: string,
) {
  const { host } = new URL(APP_URL);
  const receiver = new URL(url).host;
  const since = timeInWords(failing_since!);
  return {
    subject: `Webhook endpoint disabled: ${receiver} failed for five days`,
    ...mailFrame({
      title: 'A webhook endpoint was disabled',
      preheader: `No delivery has succeeded since ${since}. New events are held.`,
      blocks: [
        `Every attempt to deliver events to ${receiver} has failed since ${since}. The deliverability service at ${host} therefore disabled the endpoint.`,
        {
          facts: [
            ['Endpoint', id],
            ...(description ? [['Description', description] as [string, string]] : []),
            ['URL', url],
          ],
        },
        `No events are lost: new events are held until you recover them. Open the endpoint to see the response to each attempt.`,
        'Once the receiver works again, enable the endpoint on that page. Then resend the missed events.',
        `A program can do the same: PATCH /v1/webhooks/endpoints/${id} with {"enabled": true}, then POST /v1/webhooks/endpoints/${id}/recover with {"since": "${missedSince}"}.`,
      ],
      button: { label: 'Open the endpoint', url: `${APP_URL}/webhooks/${id}` },
      footer: `You received this email because you are the owner or an admin of the team at ${host}. It is sent each time an endpoint is disabled automatically.`,
    }),
  };
}

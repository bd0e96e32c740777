/** Whether endpoints work: since when one only fails, and its end after five days of that. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { mailFrame } from '../report/mail-frame.ts';
import { timeInWords } from '../report/times.ts';
import { afterCommit, type Tx } from '../store/open.ts';
import type { WebhookEndpointRow } from '../store/tables.generated.ts';

/** An endpoint that fails for so long without one success is disabled. */
const DISABLE_AFTER_MS = 5 * 86_400_000;

interface AttemptEnd {
  endpointId: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  succeeded: boolean;
}

/** Notes the ends of attempts, in the transaction that records them. */
export async function noteHealth(tx: Tx, app: App, ends: AttemptEnd[]): Promise<void> {
  for (const [endpointId, own] of Map.groupBy(ends, (end) => end.endpointId)) {
    const endpoint = await findUndeleted(tx, endpointId);
    if (!endpoint) continue;
    const { failing_since } = endpoint;
    if (own.some(({ succeeded }) => succeeded)) {
      if (failing_since !== null) await change(tx, endpointId, { failing_since: null });
    } else if (failing_since === null) {
      const first = Math.min(...own.map(({ startedAt }) => startedAt));
      await change(tx, endpointId, { failing_since: isoTime(first) });
    } else if (app.clock.now() - Date.parse(failing_since) >= DISABLE_AFTER_MS)
      await disable(tx, app, endpoint);
    // Switched off while the attempt was under way: what it left to be tried again is held too.
    if (endpoint.enabled === 0 || endpoint.auto_disabled_at !== null)
      await holdPending(tx, endpointId);
  }
}

const findUndeleted = (tx: Tx, id: string): Promise<WebhookEndpointRow | undefined> =>
  tx
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();

async function change(tx: Tx, id: string, set: Partial<WebhookEndpointRow>): Promise<void> {
  await tx.updateTable('webhook_endpoints').set(set).where('id', '=', id).execute();
}

async function disable(tx: Tx, app: App, endpoint: WebhookEndpointRow): Promise<void> {
  if (endpoint.auto_disabled_at !== null || endpoint.enabled === 0) return;
  await change(tx, endpoint.id, { auto_disabled_at: isoTime(app.clock.now()) });
  await holdPending(tx, endpoint.id);
  await notifyOfDisabling(tx, app, endpoint);
  app.log.warn('a webhook endpoint was disabled: it only failed for five days', {
    endpoint: endpoint.id,
  });
}

/** What waits is held, to be recovered later; attempts under way are let end. */
export async function holdPending(tx: Tx, endpointId: string): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'held', due_at: null })
    .where('endpoint_id', '=', endpointId)
    .where('due_at', 'is not', null)
    .where('lease', 'is', null)
    .execute();
}

// The mail to owner and admins when an endpoint was disabled because it only failed.

/** Queued in the transaction that disables it; where outgoing mail is not configured, nothing. */
async function notifyOfDisabling(tx: Tx, app: App, endpoint: WebhookEndpointRow): Promise<void> {
  const people = await tx
    .selectFrom('members')
    .select('email')
    .where('role', 'in', ['owner', 'admin'])
    .execute();
  const missedSince = await oldestMissed(tx, endpoint);
  for (const { email } of people)
    await queueMail(tx, app, {
      to: email,
      ...disablingMail(app.config, endpoint, missedSince),
    });
  afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
}

/** A round of attempts takes no longer: what was made before that had ended when the failing began. */
const MAX_ROUND_MS = 12 * 3_600_000;

/** When the oldest was made of what it missed; a delivery is made before its first attempt. */
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

function disablingMail(
  { APP_URL, BASE_URL }: Pick<App['config'], 'APP_URL' | 'BASE_URL'>,
  { id, url, description, failing_since }: WebhookEndpointRow,
  missedSince: string,
) {
  const { host } = new URL(APP_URL);
  const receiver = new URL(url).host;
  const since = timeInWords(failing_since!);
  return {
    subject: `The webhook to ${receiver} has been switched off: it failed for five days`,
    ...mailFrame({
      title: 'A webhook endpoint has been switched off',
      preheader: `No attempt has succeeded since ${since}. Its events are kept.`,
      blocks: [
        `Every attempt to deliver events to ${receiver} has failed since ${since}, so the deliverability service at ${host} makes no more.`,
        {
          facts: [
            ['Endpoint', id],
            ...(description ? [['Description', description] as [string, string]] : []),
            ['Address', url],
          ],
        },
        `Nothing is lost: what happens now is held for it. What each attempt was answered is listed at ${BASE_URL}/v1/webhooks/endpoints/${id}/deliveries.`,
        `Once the receiver works again, switch the endpoint on (PATCH /v1/webhooks/endpoints/${id} with {"enabled": true}), and have sent what it missed (POST /v1/webhooks/endpoints/${id}/recover with {"since": "${missedSince}"}).`,
      ],
      footer: `You get this mail because you are the owner or an admin of the team at ${host}. It is sent once for each time an endpoint is switched off.`,
    }),
  };
}

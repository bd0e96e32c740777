/** The mail to owner and admins when an endpoint was disabled because it only failed. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { mailFrame } from '../render/mail-frame.ts';
import { timeInWords } from '../render/utc-time.ts';
import { afterCommit } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import type { WebhookEndpointRow } from '../store/webhook-tables.ts';

/** Queued in the transaction that disables it; where outgoing mail is not configured, nothing. */
export async function tellOfDisabling(
  tx: Tx,
  app: App,
  endpoint: WebhookEndpointRow,
): Promise<void> {
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
const LONGEST_ROUND_MS = 12 * 3_600_000;

/** When the oldest was made of what it missed; a delivery is made before its first attempt. */
async function oldestMissed(tx: Tx, { id, failing_since }: WebhookEndpointRow): Promise<string> {
  const oldest = await tx
    .selectFrom('webhook_deliveries')
    .select('created_at')
    .where('endpoint_id', '=', id)
    .where('status', 'in', ['failed', 'held'])
    .where('created_at', '>=', isoTime(Date.parse(failing_since!) - LONGEST_ROUND_MS))
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

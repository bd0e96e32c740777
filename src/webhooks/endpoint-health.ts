/** Whether endpoints work: since when one only fails, and its end after five days of that. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tx } from '../store/open.ts';
import type { WebhookEndpointRow } from '../store/webhook-tables.ts';
import { tellOfDisabling } from './disabling-mail.ts';

/** An endpoint that fails for so long without one success is disabled. */
const DISABLE_AFTER_MS = 5 * 86_400_000;

export interface AttemptEnd {
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
  await tellOfDisabling(tx, app, endpoint);
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

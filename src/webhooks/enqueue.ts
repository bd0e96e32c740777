/** Writes a delivery for each endpoint that wants an event, in the transaction of the event. */

import type { App } from '../app.ts';
import type { EventSubscriber } from '../events/append.ts';
import { isoTime } from '../lib/clock.ts';
import { afterCommit } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import type { WebhookDeliveryRow } from '../store/webhook-tables.ts';
import { DELIVER_JOB } from './jobs.ts';

/** Endpoints that are switched off get none; for those that were disabled for failing it is held. */
export function enqueueDeliveries(
  app: Pick<App, 'clock' | 'newId' | 'scheduler'>,
): EventSubscriber {
  return async (tx, event) => {
    const endpoints = await tx
      .selectFrom('webhook_endpoints')
      .select(['id', 'events', 'auto_disabled_at'])
      .where('enabled', '=', 1)
      .where('deleted_at', 'is', null)
      .execute();
    for (const { id, events, auto_disabled_at } of endpoints)
      if (wants(events, event.type))
        await insertDelivery(tx, app, {
          endpoint_id: id,
          event_id: event.id,
          event_type: event.type,
          round_trigger: 'event',
          held: auto_disabled_at !== null,
        });
  };
}

export function wants(events: string, type: string): boolean {
  const wanted: string[] = JSON.parse(events);
  return wanted.includes('*') || wanted.includes(type);
}

type NewDelivery = Pick<
  WebhookDeliveryRow,
  'endpoint_id' | 'event_id' | 'event_type' | 'round_trigger'
> & {
  /** The event itself, where it is a sample. */
  sample?: string;
  held: boolean;
};

/** One that is not held is due at once: it is begun as soon as the transaction is committed. */
export async function insertDelivery(
  tx: Tx,
  { clock, newId, scheduler }: Pick<App, 'clock' | 'newId' | 'scheduler'>,
  { held, sample = undefined, ...rest }: NewDelivery,
): Promise<WebhookDeliveryRow> {
  const now = isoTime(clock.now());
  const row: WebhookDeliveryRow = {
    id: newId('whd'),
    ...rest,
    sample: sample ?? null,
    created_at: now,
    status: held ? 'held' : 'pending',
    round_failures: 0,
    attempts: 0,
    due_at: held ? null : now,
    lease: null,
  };
  await tx.insertInto('webhook_deliveries').values(row).execute();
  if (!held) afterCommit(tx, () => scheduler.wake(DELIVER_JOB));
  return row;
}

/** Appends events in the transaction of the change that they report, and publishes them there. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import type { Tx } from '../store/open.ts';
import { deleteInBatches } from '../store/queries.ts';
import { channel } from '../store/subscribers.ts';
import type { EventRow, MonitorRow, MonitorRunRow, TestRow } from '../store/tables.generated.ts';

export const EVENT_TYPES = [
  'test.completed',
  'test.failed',
  'domain.verified',
  'domain.verification_failed',
  'domain.health_changed',
  'monitor.alert',
  'alert.triggered',
  'alert.resolved',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export interface NewEvent {
  type: EventType;
  livemode: boolean;
  /** The object of the event in its list form (contract §9). */
  data: object;
  /** Default true. If false, the event is stored but not published. */
  webhooks?: boolean;
}

/** Published in the transaction of each event with `webhooks`. */
export const eventAppended = channel<[event: EventRow]>('event appended');

/** Resolves with the stored event. Rejects if a subscriber does, which rolls back the change. */
export async function appendEvent(
  tx: Tx,
  event: NewEvent,
  { clock, newId, subscribers }: Pick<App, 'clock' | 'newId' | 'subscribers'>,
): Promise<EventRow> {
  const row: EventRow = {
    id: newId('evt'),
    type: event.type,
    livemode: event.livemode ? 1 : 0,
    created_at: isoTime(clock.now()),
    data: JSON.stringify(event.data),
  };
  await tx.insertInto('events').values(row).execute();
  if (event.webhooks !== false) await subscribers.publish(eventAppended, tx, row);
  return row;
}

// Results of tests and monitor runs, published in the transaction that stores them.

export type Result =
  /** A live test that has just completed; not a reanalysis. */
  { kind: 'test'; test: TestRow } | { kind: 'run'; run: MonitorRunRow; monitor: MonitorRow };

/** Published in `transact`, once the result is stored. */
export const resultStored = channel<[result: Result]>('result stored');

export function expireEventsJob(app: App): Job {
  return { name: 'events.expire', tick: '0 17 * * * *', run: () => expireEvents(app) };
}

export async function expireEvents({ db, clock, config }: App): Promise<void> {
  if (config.EVENT_RETENTION === 0) return;
  const cutoff = isoTime(clock.now() - config.EVENT_RETENTION);
  const expired = db.selectFrom('events').select('id').where('created_at', '<', cutoff);
  await deleteInBatches(db, 'events', expired);
}

/** Writes an event in the transaction of the change that it reports, and tells its subscribers there. */

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
  /** Default true; false: it is written down, and no subscriber hears of it. */
  webhooks?: boolean;
}

/** Published in the transaction of each event that subscribers may hear of. */
export const eventAppended = channel<[event: EventRow]>('event appended');

/** Resolves with the stored event; rejects, and so undoes the change, where a subscriber does. */
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

// What was found out about somebody's mail, told in the transaction that stores it.

export type Result =
  /** A live test that has completed now; a reanalysis is none. */
  { kind: 'test'; test: TestRow } | { kind: 'run'; run: MonitorRunRow; monitor: MonitorRow };

/** Published in `transact`, once the result is stored. */
export const resultStored = channel<[result: Result]>('result stored');

// Deletes events that are older than the retention time.

export function expireEventsJob(app: App): Job {
  return { name: 'events.expire', tick: '0 17 * * * *', run: () => expireEvents(app) };
}

export async function expireEvents({ db, clock, config }: App): Promise<void> {
  if (config.EVENT_RETENTION === 0) return;
  const before = isoTime(clock.now() - config.EVENT_RETENTION);
  const old = db.selectFrom('events').select('id').where('created_at', '<', before);
  await deleteInBatches(db, 'events', old);
}

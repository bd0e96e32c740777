/** Writes an event in the transaction of the change that it reports, and tells its subscribers there. */

import type { App } from '../app.ts';
import { type Clock, isoTime } from '../lib/clock.ts';
import type { NewId } from '../lib/ids.ts';
import type { Job } from '../scheduler/scheduler.ts';
import type { Tx } from '../store/open.ts';
import { deleteInBatches } from '../store/queries.ts';
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

/** Called inside the transaction, so that what it writes stands or falls with the event. */
export type EventSubscriber = (tx: Tx, event: EventRow) => Promise<void>;

interface EventContext {
  clock: Clock;
  newId: NewId;
  /** Who hears of events; `app.ts` passes the list, so that no feature imports upwards. */
  deliver: EventSubscriber[];
}

/** Resolves with the stored event; rejects, and so undoes the change, where a subscriber does. */
export async function appendEvent(
  tx: Tx,
  event: NewEvent,
  { clock, newId, deliver }: EventContext,
): Promise<EventRow> {
  const row: EventRow = {
    id: newId('evt'),
    type: event.type,
    livemode: event.livemode ? 1 : 0,
    created_at: isoTime(clock.now()),
    data: JSON.stringify(event.data),
  };
  await tx.insertInto('events').values(row).execute();
  if (event.webhooks !== false) for (const subscriber of deliver) await subscriber(tx, row);
  return row;
}

// What was found out about somebody's mail, told in the transaction that stores it.

export type Result =
  /** A live test that has completed now; a reanalysis is none. */
  { kind: 'test'; test: TestRow } | { kind: 'run'; run: MonitorRunRow; monitor: MonitorRow };

/** Called inside the transaction, so that what it writes stands or falls with the result. */
export type ResultSubscriber = (tx: Tx, result: Result) => Promise<void>;

/** Who hears of results; `app.ts` passes the list, so that no feature imports upwards. */
interface ResultContext {
  results: ResultSubscriber[];
}

/** To be called in `transact`, once the result is stored; rejects where a subscriber does. */
export async function publishResult(
  tx: Tx,
  result: Result,
  { results }: ResultContext,
): Promise<void> {
  for (const subscriber of results) await subscriber(tx, result);
}

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

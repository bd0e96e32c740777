/** Appends events in the transaction of the change that they report, and publishes them there. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { nextNumber } from '../store/counters.ts';
import { beforeCommit, engineOf, type Tx } from '../store/open.ts';
import { deleteInSteps } from '../store/queries.ts';
import { insertRow } from '../store/rows.ts';
import { channel } from '../store/subscribers.ts';
import type { EventRow } from '../store/tables.generated.ts';
import type { EVENT_SUMMARIES } from './event-types.generated.ts';
import { rememberTrace } from './traces.ts';

export { EVENT_TYPES } from './event-types.generated.ts';
export type EventType = keyof typeof EVENT_SUMMARIES;

export interface NewEvent {
  type: EventType;
  livemode: boolean;
  /** The object of the event in its list form (contract §9). */
  data: object;
  /** Default true. If false, the event is stored but not published. */
  webhooks?: boolean;
}

/** Published in the transaction of each event with `webhooks`. */
export const eventAppended = channel<[event: NewEventRow]>('event appended');

/** An event without its place in the log. */
export type NewEventRow = Omit<EventRow, 'position'>;

/** Resolves with the stored event. Rejects if a subscriber does, which rolls back the change. */
export async function appendEvent(
  tx: Tx,
  event: NewEvent,
  { clock, newId, subscribers }: Pick<App, 'clock' | 'newId' | 'subscribers'>,
): Promise<NewEventRow> {
  const row: NewEventRow = {
    id: newId('evt'),
    type: event.type,
    livemode: event.livemode ? 1 : 0,
    created_at: isoTime(clock.now()),
    data: JSON.stringify(event.data),
  };
  await insertRow(tx, 'events', row);
  rememberTrace({ subscribers }, row.id);
  if (engineOf(tx) === 'postgres') assignPositionAtCommit(tx, row.id);
  if (event.webhooks !== false) await subscribers.publish(eventAppended, tx, row);
  return row;
}

// The order of the log. An event of one node can commit after a later one of another, and clients that have
// read up to the later one would never see it. Positions are given out in the order of commits instead: a
// transaction takes the next one last and holds its counter until it has committed.

const COUNTER = 'last event position';
const idsOfTransactions = new WeakMap<Tx, string[]>();

function assignPositionAtCommit(tx: Tx, id: string): void {
  const ids = idsOfTransactions.get(tx) ?? [];
  idsOfTransactions.set(tx, ids);
  ids.push(id);
  beforeCommit(tx, COUNTER, async () => {
    const position = await nextNumber(tx, COUNTER);
    await tx.updateTable('events').set({ position }).where('id', 'in', ids).execute();
  });
}

export function expireEventsJob(app: App): Job {
  return { name: 'events.expire', tick: '0 17 * * * *', run: () => expireEvents(app) };
}

export async function expireEvents({ db, clock, config }: App): Promise<void> {
  if (config.EVENT_RETENTION === 0) return;
  const cutoff = isoTime(clock.now() - config.EVENT_RETENTION);
  const expired = db.selectFrom('events').select('id').where('created_at', '<', cutoff);
  await deleteInSteps(db, 'events', expired);
}

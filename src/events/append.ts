/** Writes an event in the transaction of the change that it reports, and tells its subscribers there. */

import type { Clock } from '../lib/clock.ts';
import { isoTime } from '../lib/clock.ts';
import type { NewId } from '../lib/ids.ts';
import type { Tx } from '../store/open.ts';
import type { EventRow } from '../store/tables.ts';

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

export interface EventContext {
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

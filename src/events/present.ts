/** From a row to the event: the one form in which the API answers it and webhooks carry it. */

import { storedJson } from '../http/stored-json.ts';
import type { EventRow } from '../store/tables.ts';
import type { Event } from './schema.ts';

/** `data` is stored as it is answered, and passed on unread: `toJson` makes the text of it. */
export function presentEvent({ id, type, created_at, livemode, data }: EventRow): Event {
  return {
    id,
    object: 'event',
    type: type as Event['type'],
    created_at,
    livemode: livemode === 1,
    data: storedJson(data),
  };
}

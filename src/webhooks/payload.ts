/** The body of a delivery: the event as the API answers it, the same text at every attempt. */

import { presentEvent } from '../events/present.ts';
import { toJson } from '../http/stored-json.ts';
import type { EventRow } from '../store/tables.ts';

export function eventPayload(event: EventRow): string {
  return toJson(presentEvent(event));
}

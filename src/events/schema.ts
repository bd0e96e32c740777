/** Events as the API answers them and webhooks carry them (contract §9). */

import * as v from 'valibot';
import { PAGE, QueryTime, Time } from '../http/schemas.ts';
import { EVENT_TYPES } from './append.ts';

export const Event = v.object({
  id: v.string(),
  object: v.literal('event'),
  type: v.picklist(EVENT_TYPES),
  created_at: Time,
  livemode: v.boolean(),
  // What it is depends on the type: the object that the event is about, in its list form.
  data: v.looseObject({ id: v.string(), object: v.string() }),
});
export type Event = v.InferOutput<typeof Event>;

const FILTERS = {
  type: v.optional(v.picklist(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`)),
  created_after: v.optional(QueryTime),
};
const EventFilters = v.strictObject(FILTERS);
export type EventFilters = v.InferOutput<typeof EventFilters>;
export const EventListQuery = v.strictObject({ ...PAGE, ...FILTERS });

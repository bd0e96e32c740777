/** The operations on events (contract §9). */

import * as v from 'valibot';
import { storedJson, toJson } from '../http/response.ts';
import { route } from '../http/route.ts';
import { listOf, PAGE, type Page, pageOf, QueryTime, Time } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db } from '../store/open.ts';
import type { EventRow } from '../store/tables.generated.ts';
import { EVENT_TYPES } from './events.ts';

// Events as the API answers them and webhooks carry them (contract §9).

export const Event = v.object({
  id: v.string(),
  object: v.literal('event'),
  type: v.picklist(EVENT_TYPES),
  created_at: Time,
  livemode: v.boolean(),
  // What it is depends on the type: the object that the event is about, in its list form.
  data: v.looseObject({ id: v.string(), object: v.string() }),
});
type Event = v.InferOutput<typeof Event>;

const FILTERS = {
  type: v.optional(v.picklist(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`)),
  created_after: v.optional(QueryTime),
};
const EventFilters = v.strictObject(FILTERS);
type EventFilters = v.InferOutput<typeof EventFilters>;
const EventListQuery = v.strictObject({ ...PAGE, ...FILTERS });

const listEventsRoute = route({
  method: 'GET',
  path: '/v1/events',
  operation: 'listEvents',
  role: 'member',
  summary: 'List what has happened, newest first',
  query: EventListQuery,
  response: listOf(Event),
  async handle({ app, actor, query }) {
    const { rows, hasMore } = await listEvents(app.db, actor.livemode, query);
    const texts = rows.map((row) => toJson(presentEvent(row)));
    const data = storedJson<Event[]>(`[${texts.join(',')}]`);
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const getEventRoute = route({
  method: 'GET',
  path: '/v1/events/:id',
  operation: 'getEvent',
  role: 'member',
  summary: 'Get an event, as webhooks carry it',
  response: Event,
  async handle({ app, actor, params }) {
    return presentEvent(await eventOr404(app.db, actor.livemode, params.id!));
  },
});

export const eventRoutes = [listEventsRoute, getEventRoute];

// From a row to the event: the one form in which the API answers it and webhooks carry it.

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

// Events in the database: found and listed.

const ofMode = (db: Db, livemode: boolean) =>
  db
    .selectFrom('events')
    .selectAll()
    .where('livemode', '=', livemode ? 1 : 0);

/** One page of events of this mode that match, newest first. */
async function listEvents(
  db: Db,
  livemode: boolean,
  { limit, starting_after, ending_before, ...filters }: EventFilters & Page,
): Promise<{ rows: EventRow[]; hasMore: boolean }> {
  let query = ofMode(db, livemode);
  if (filters.type) query = query.where('type', '=', filters.type);
  if (filters.created_after) query = query.where('created_at', '>=', filters.created_after);
  return pageOf(query, { limit, starting_after, ending_before });
}

/** Throws `not_found`, for an event of the other mode too. */
async function eventOr404(db: Db, livemode: boolean, id: string): Promise<EventRow> {
  const row = await ofMode(db, livemode).where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no event with this id.');
  return row;
}

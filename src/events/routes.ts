/** The operations on events (contract §9). */

import { sql } from 'kysely';
import * as v from 'valibot';
import { storedJson, toJson } from '../http/response.ts';
import { route } from '../http/route.ts';
import {
  described,
  fetchPage,
  idOf,
  listOf,
  listSchema,
  named,
  oneOf,
  PAGE_QUERY,
  type Page,
  QueryTime,
  requireCursors,
  Time,
  typeField,
} from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { type Db, engineOf } from '../store/open.ts';
import type { EventRow } from '../store/tables.generated.ts';
import { EVENT_TYPES, type NewEventRow } from './events.ts';

/** The JSON of an event, in the API and in webhooks. */
export const Event = named(
  'Event',
  v.object({
    id: idOf('evt', 'The ID of the event. Deliveries of the same event have the same ID.'),
    object: typeField('event'),
    type: described(v.picklist(EVENT_TYPES), 'The event type.'),
    created_at: described(Time, 'When the event happened.'),
    livemode: described(v.boolean(), 'False for events about tests of a test-mode key.'),
    // The documentation has the fields of each event type.
    data: described(
      v.record(v.string(), v.unknown()),
      'The object that the event is about, as list operations return it. Its type depends on the event type.',
    ),
  }),
  'A record of what happened. `type` determines the form of `data`.',
);
type Event = v.InferOutput<typeof Event>;

const FILTERS = {
  type: described(v.optional(oneOf(EVENT_TYPES)), 'Only events of this type.'),
  created_after: described(v.optional(QueryTime), 'Only events at or after this time.'),
};
const EventFilters = v.strictObject(FILTERS);
type EventFilters = v.InferOutput<typeof EventFilters>;
const EventListQuery = v.strictObject({ ...PAGE_QUERY, ...FILTERS });

const listEventsRoute = route({
  method: 'GET',
  path: '/v1/events',
  operation: 'listEvents',
  limited: true,
  role: 'member',
  summary: 'List events',
  description:
    'Returns the events of your mode (live or test), newest first. They are kept for a limited time.',
  query: EventListQuery,
  response: listSchema(Event),
  async handle({ app, actor, query }) {
    const { rows, hasMore } = await listEvents(app.db, actor.livemode, query);
    const texts = rows.map((row) => toJson(presentEvent(row)));
    const data = storedJson<Event[]>(`[${texts.join(',')}]`);
    return listOf(data, hasMore);
  },
});

const getEventRoute = route({
  method: 'GET',
  path: '/v1/events/:id',
  operation: 'getEvent',
  limited: true,
  role: 'member',
  summary: 'Get an event',
  description: 'Returns an event exactly as webhooks send it.',
  params: { id: idOf('evt') },
  response: Event,
  async handle({ app, actor, params }) {
    return presentEvent(await eventOr404(app.db, actor.livemode, params.id!));
  },
});

export const eventOperations = { list: listEventsRoute, get: getEventRoute };

/** `data` is stored as JSON and passed on unparsed; `toJson` includes it as is. */
export function presentEvent({ id, type, created_at, livemode, data }: NewEventRow): Event {
  return {
    id,
    object: 'event',
    type: type as Event['type'],
    created_at,
    livemode: livemode === 1,
    data: storedJson(data),
  };
}

// Queries.

const eventsInMode = (db: Db, livemode: boolean) =>
  db
    .selectFrom('events')
    .selectAll()
    .where('livemode', '=', livemode ? 1 : 0);

/** One page of the matching events of this mode, newest first. */
async function listEvents(
  db: Db,
  livemode: boolean,
  { limit, starting_after, ending_before, ...filters }: EventFilters & Page,
): Promise<{ rows: EventRow[]; hasMore: boolean }> {
  let query = eventsInMode(db, livemode);
  if (filters.type) query = query.where('type', '=', filters.type);
  if (filters.created_after) query = query.where('created_at', '>=', filters.created_after);
  const page = { limit, starting_after, ending_before };
  const all = eventsInMode(db, livemode);
  if (engineOf(db) === 'sqlite') return fetchPage(query, page, all);
  await requireCursors(
    page,
    async (id) => (await all.where('id', '=', id).executeTakeFirst()) !== undefined,
  );
  return selectInCommitOrder(query, page);
}

/** Events from before the first start on PostgreSQL have no position. The index has the same expression. */
const POSITION = sql<number>`coalesce(position, 0)`;

/** With several nodes, the order of ids is not that of commits: see `events/events`. */
async function selectInCommitOrder(
  query: ReturnType<typeof eventsInMode>,
  { limit, starting_after, ending_before }: Page,
): Promise<{ rows: EventRow[]; hasMore: boolean }> {
  const backwards = ending_before !== undefined;
  const cursor = ending_before ?? starting_after;
  const direction = backwards ? 'asc' : 'desc';
  let paged = query.limit(limit + 1);
  if (cursor !== undefined)
    paged = paged.where(
      sql<boolean>`(${POSITION}, id) ${sql.raw(backwards ? '>' : '<')}
        (select ${POSITION}, id from events where id = ${cursor})`,
    );
  const found = await paged.orderBy(POSITION, direction).orderBy('id', direction).execute();
  const rows = found.slice(0, limit);
  return { rows: backwards ? rows.reverse() : rows, hasMore: found.length > limit };
}

/** Throws `not_found`, including for an event of the other mode. */
async function eventOr404(db: Db, livemode: boolean, id: string): Promise<EventRow> {
  const row = await eventsInMode(db, livemode).where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such event.');
  return row;
}

/** The operations on events (contract §9). */

import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { storedJson, toJson } from '../http/stored-json.ts';
import { presentEvent } from './present.ts';
import { eventOr404, listEvents } from './queries.ts';
import { Event, EventListQuery } from './schema.ts';

const list = route({
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

const get = route({
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

export const eventRoutes = [list, get];

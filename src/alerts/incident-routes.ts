/** The operations on incidents: what rules have found (contract §8). */

import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import { listOf, type Page } from '../http/schemas.ts';
import { alertOr404, listIncidents, presentIncidents } from './queries.ts';
import {
  AlertIncident,
  type IncidentFilters,
  IncidentListQuery,
  IncidentsOfQuery,
} from './schema.ts';

async function answer({ db }: Pick<App, 'db'>, query: IncidentFilters & Page) {
  const { rows, hasMore } = await listIncidents(db, query);
  const data = await presentIncidents(db, rows);
  return { object: 'list' as const, data, has_more: hasMore };
}

const listOfAlert = route({
  method: 'GET',
  path: '/v1/alerts/:id/incidents',
  operation: 'listIncidentsOfAlert',
  role: 'member',
  summary: 'List the incidents of an alert rule, newest first, with what was said of each',
  query: IncidentsOfQuery,
  response: listOf(AlertIncident),
  async handle({ app, params, query }) {
    const { id } = await alertOr404(app.db, params.id!);
    return answer(app, { ...query, alert_id: id });
  },
});

const list = route({
  method: 'GET',
  path: '/v1/alert_incidents',
  operation: 'listAlertIncidents',
  role: 'member',
  summary: 'List incidents, newest first, those of deleted alert rules too',
  query: IncidentListQuery,
  response: listOf(AlertIncident),
  handle: ({ app, query }) => answer(app, query),
});

export const incidentRoutes = [listOfAlert, list];

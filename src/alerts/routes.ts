/** The operations on alert rules (contract §8). */

import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import { listSchema, type Page } from '../http/schemas.ts';
import type { Db, Tx } from '../store/open.ts';
import type { AlertRow } from '../store/tables.generated.ts';
import { deletedOf } from '../team/schema.ts';
import { auditAlert, changeAlert, createAlert, deleteAlert } from './change-alert.ts';
import {
  alertOr404,
  alertStates,
  listAlerts,
  listIncidents,
  notificationStates,
  presentAlert,
  presentIncidents,
  presentSample,
} from './queries.ts';
import { lastSample, postSample, sendSample } from './sample.ts';
import {
  Alert,
  AlertIncident,
  AlertIncidentsQuery,
  AlertListQuery,
  AlertPatch,
  AlertTest,
  type IncidentFilters,
  IncidentListQuery,
  NewAlert,
} from './schema.ts';

// The operations on incidents (contract §8).

async function incidentPage({ db }: Pick<App, 'db'>, query: IncidentFilters & Page) {
  const { rows, hasMore } = await listIncidents(db, query);
  const data = await presentIncidents(db, rows);
  return { object: 'list' as const, data, has_more: hasMore };
}

const listIncidentsOfAlert = route({
  method: 'GET',
  path: '/v1/alerts/:id/incidents',
  operation: 'listIncidentsOfAlert',
  role: 'member',
  summary: 'List the incidents of an alert rule with their notifications, newest first',
  query: AlertIncidentsQuery,
  response: listSchema(AlertIncident),
  async handle({ app, params, query }) {
    const { id } = await alertOr404(app.db, params.id!);
    return incidentPage(app, { ...query, alert_id: id });
  },
});

const listAllIncidents = route({
  method: 'GET',
  path: '/v1/alert_incidents',
  operation: 'listAlertIncidents',
  role: 'member',
  summary: 'List all incidents, newest first, including those of deleted alert rules',
  query: IncidentListQuery,
  response: listSchema(AlertIncident),
  handle: ({ app, query }) => incidentPage(app, query),
});

const incidentRoutes = [listIncidentsOfAlert, listAllIncidents];

async function present(db: Db | Tx, app: App, row: AlertRow): Promise<Alert> {
  const [state] = await alertStates(db, app, [row]);
  return presentAlert(state!);
}

const create = route({
  method: 'POST',
  path: '/v1/alerts',
  operation: 'createAlert',
  role: 'admin',
  liveOnly: true,
  summary: 'Create an alert rule',
  body: NewAlert,
  status: 201,
  etag: true,
  location: ({ id }) => `/v1/alerts/${id}`,
  response: Alert,
  errors: ['conflict'],
  async handle(call) {
    const { app, body } = call;
    return call.transact(async (tx) => present(tx, app, await createAlert(tx, call, body)));
  },
});

const list = route({
  method: 'GET',
  path: '/v1/alerts',
  operation: 'listAlerts',
  role: 'member',
  summary: 'List alert rules, newest first',
  query: AlertListQuery,
  response: listSchema(Alert),
  async handle({ app, query }) {
    const { rows, hasMore } = await listAlerts(app.db, query);
    const data = (await alertStates(app.db, app, rows)).map(presentAlert);
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/alerts/:id',
  operation: 'getAlert',
  role: 'member',
  summary: 'Get an alert rule',
  etag: true,
  response: Alert,
  async handle({ app, params }) {
    return present(app.db, app, await alertOr404(app.db, params.id!));
  },
});

const update = route({
  method: 'PATCH',
  path: '/v1/alerts/:id',
  operation: 'updateAlert',
  role: 'admin',
  liveOnly: true,
  summary:
    'Update an alert rule; disabling it or changing its condition resolves its open incidents',
  etag: true,
  body: AlertPatch,
  response: Alert,
  async handle(call) {
    const { app, params, body } = call;
    return call.transact(async (tx) => {
      const row = await alertOr404(tx, params.id!);
      call.ifMatch(await present(tx, app, row));
      return present(tx, app, await changeAlert(tx, call, row, body));
    });
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/alerts/:id',
  operation: 'deleteAlert',
  role: 'admin',
  liveOnly: true,
  summary: 'Delete an alert rule; its open incidents are resolved and remain listed',
  response: deletedOf('alert'),
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    return call.transact(async (tx) => {
      const row = await alertOr404(tx, id);
      call.ifMatch(await present(tx, app, row));
      await deleteAlert(tx, call, row);
      return { id, object: 'alert', deleted: true };
    });
  },
});

const test = route({
  method: 'POST',
  path: '/v1/alerts/:id/test',
  operation: 'testAlert',
  role: 'admin',
  liveOnly: true,
  summary: 'Send a sample notification to each channel of an alert rule; emails are queued',
  response: AlertTest,
  async handle(call) {
    const { app, params } = call;
    // The outcome is known only after the transaction, once the sample is sent.
    const { row, ids } = await call.transact(
      async (tx) => {
        const row = await alertOr404(tx, params.id!);
        await auditAlert(tx, call, 'tested', row.id);
        return { row, ids: await sendSample(tx, app, row) };
      },
      () => undefined,
    );
    await postSample(app, row, ids);
    return presentSample(row.id, await notificationStates(app.db, { ids }));
  },
});

const lastTest = route({
  method: 'GET',
  path: '/v1/alerts/:id/test',
  operation: 'getAlertTest',
  role: 'member',
  summary: 'Get the delivery status of the last sample of an alert rule',
  response: AlertTest,
  async handle({ app, params }) {
    const { id } = await alertOr404(app.db, params.id!);
    return presentSample(id, await lastSample(app.db, id));
  },
});

export const alertRoutes = [create, list, get, update, remove, test, lastTest, ...incidentRoutes];

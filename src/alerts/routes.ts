/** The operations on alert rules (contract §8). */

import type { App } from '../app.ts';
import { resource } from '../http/resource.ts';
import { editableBy } from '../http/response.ts';
import { route } from '../http/route.ts';
import { idOf, listOf, listSchema, type Page } from '../http/schemas.ts';
import { audit } from '../team/audit.ts';
import { AUDITED_ALERT, changeAlert, createAlert, deleteAlert } from './change-alert.ts';
import { settingFields } from './channels/index.ts';
import { shownName } from './channels/settings.ts';
import {
  alertOr404,
  alertStates,
  incidentOr404,
  listAlerts,
  listIncidents,
  notificationStates,
  presentAlert,
  presentIncidents,
  presentIncidentWithDetails,
  presentSample,
} from './queries.ts';
import { createMissing, listRecommended } from './recommended.ts';
import { lastSample, postSample, sendSample } from './sample.ts';
import {
  Alert,
  AlertIncident,
  AlertIncidentsQuery,
  AlertIncidentWithDetails,
  AlertListQuery,
  AlertPatch,
  AlertTest,
  type IncidentFilters,
  IncidentListQuery,
  NewAlert,
  RecommendedAlert,
} from './schema.ts';

const alertRules = resource({
  type: 'alert',
  prefix: 'alt',
  path: '/v1/alerts',
  name: 'Alert',
  noun: 'alert rule',
  roles: { read: 'member', change: 'admin' },
  response: Alert,
  etag: editableBy(AlertPatch, ...settingFields().map(shownName)),
  find: alertOr404,
  present: async (rows, { app, db }) => (await alertStates(db, app, rows)).map(presentAlert),
});
const INCIDENT_ID = idOf('inc', 'The ID of the incident.');

// The operations on incidents (contract §8).

async function incidentPage(
  { db }: Pick<App, 'db'>,
  query: IncidentFilters & Page,
  ofAlert?: string,
) {
  const { rows, hasMore } = await listIncidents(db, query, ofAlert);
  const data = await presentIncidents(db, rows);
  return listOf(data, hasMore);
}

const listIncidentsOfAlert = route({
  method: 'GET',
  path: '/v1/alerts/:id/incidents',
  params: alertRules.params,
  operation: 'listIncidentsOfAlert',
  limited: true,
  role: 'member',
  summary: 'List the incidents of an alert rule',
  description: 'Returns the incidents with their notifications, newest first.',
  query: AlertIncidentsQuery,
  response: listSchema(AlertIncident),
  async handle({ app, params, query }) {
    const { id } = await alertOr404(app.db, params.id!);
    return incidentPage(app, query, id);
  },
});

const listAllIncidents = route({
  method: 'GET',
  path: '/v1/alert_incidents',
  operation: 'listAlertIncidents',
  limited: true,
  role: 'member',
  summary: 'List all incidents',
  description: 'Returns all incidents, newest first, including those of deleted alert rules.',
  query: IncidentListQuery,
  response: listSchema(AlertIncident),
  handle: ({ app, query }) => incidentPage(app, query),
});

const getIncident = route({
  method: 'GET',
  path: '/v1/alert_incidents/:id',
  params: { id: INCIDENT_ID },
  operation: 'getAlertIncident',
  limited: true,
  role: 'member',
  summary: 'Get an incident',
  description: 'Returns an incident with its rule, its monitor, and its notifications.',
  response: AlertIncidentWithDetails,
  async handle({ app, params }) {
    return presentIncidentWithDetails(app.db, app, await incidentOr404(app.db, params.id!));
  },
});

const create = alertRules.create({
  description: 'Creates a rule that is evaluated on every completed test and every monitor run.',
  body: NewAlert,
  errors: ['conflict'],
  work: createAlert,
});

const list = alertRules.list({
  limited: true,
  description: 'Returns the alert rules of your team, newest first.',
  query: AlertListQuery,
  rows: listAlerts,
});

const listRecommendedAlerts = route({
  method: 'GET',
  path: '/v1/alerts/recommended',
  operation: 'listRecommendedAlerts',
  role: 'member',
  summary: 'List recommended alert rules',
  description:
    'Returns the rules that suit every team, and how often each would have alerted in the last 30 days.',
  response: listSchema(RecommendedAlert),
  handle: async ({ app }) => listOf(await listRecommended(app), false),
});

const createRecommended = route({
  method: 'POST',
  path: '/v1/alerts/recommended',
  operation: 'createRecommendedAlerts',
  role: 'admin',
  summary: 'Create the missing recommended alert rules',
  description:
    'Creates the recommended rules that are missing. A rule is missing if no rule has its condition for all domains. The new rules notify the owner and the admins by email. Returns the new rules.',
  response: listSchema(Alert),
  errors: ['conflict'],
  async handle(call) {
    const { app } = call;
    return call.transact(async (tx) => {
      const data = (await alertStates(tx, app, await createMissing(tx, call))).map(presentAlert);
      return listOf(data, false);
    });
  },
});

const get = alertRules.get({
  limited: true,
  description: 'Returns an alert rule with its current state.',
});

const update = alertRules.update({
  description:
    'Changes an alert rule. Disabling it or changing its condition resolves its open incidents.',
  body: AlertPatch,
  work: changeAlert,
});

const remove = alertRules.remove({
  description: 'Deletes an alert rule. Its open incidents are resolved and remain listed.',
  work: deleteAlert,
});

const test = route({
  method: 'POST',
  path: '/v1/alerts/:id/test',
  params: alertRules.params,
  operation: 'testAlert',
  role: 'admin',
  summary: 'Send a sample notification',
  description: 'Sends a sample notification to each channel of an alert rule. Emails are queued.',
  response: AlertTest,
  async handle(call) {
    const { app, params } = call;
    // The outcome is known only after the transaction, once the sample is sent.
    const { row, ids } = await call.transact(
      async (tx) => {
        const row = await alertOr404(tx, params.id!);
        await audit(tx, call, AUDITED_ALERT, 'alert.tested', row.id);
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
  params: alertRules.params,
  operation: 'getAlertTest',
  limited: true,
  role: 'member',
  summary: 'Get the status of the last sample',
  description: 'Returns the delivery status of the last sample notification of an alert rule.',
  response: AlertTest,
  async handle({ app, params }) {
    const { id } = await alertOr404(app.db, params.id!);
    return presentSample(id, await lastSample(app.db, id));
  },
});

export const alertOperations = {
  create,
  list,
  listRecommended: listRecommendedAlerts,
  createRecommended,
  get,
  update,
  remove,
  test,
  lastTest,
  listIncidentsOfAlert,
  listAllIncidents,
  getIncident,
};

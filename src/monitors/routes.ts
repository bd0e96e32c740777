/** The operations on monitors (contract §7). */

import { editableBy } from '../http/response.ts';
import { route } from '../http/route.ts';
import { deletedOf, idOf, listOf, listSchema } from '../http/schemas.ts';
import { changeMonitor, createMonitor, deleteMonitor, runNow } from './change-monitor.ts';
import { listMonitors, listRuns, monitorOr404, presentMonitor, presentRun } from './queries.ts';
import {
  Monitor,
  MonitorListQuery,
  MonitorPatch,
  MonitorRun,
  NewMonitor,
  RunListQuery,
} from './schema.ts';

const MONITOR_ID = idOf('mon', 'The ID of the monitor.');
const editableMonitor = editableBy(MonitorPatch);

const create = route({
  method: 'POST',
  path: '/v1/monitors',
  operation: 'createMonitor',
  role: 'member',
  summary: 'Create a monitor',
  description:
    'Creates a monitor for a domain, for a list of targets, or for messages that you send on a schedule. The first run starts immediately, or with the first message.',
  body: NewMonitor,
  status: 201,
  etag: editableMonitor,
  location: ({ id }) => `/v1/monitors/${id}`,
  response: Monitor,
  async handle(call) {
    const { app, body } = call;
    return call.transact(async (tx) => presentMonitor(await createMonitor(tx, call, body), app));
  },
});

const list = route({
  method: 'GET',
  path: '/v1/monitors',
  operation: 'listMonitors',
  role: 'member',
  summary: 'List monitors',
  description: 'Returns the monitors of your team, newest first. Filters can be combined.',
  query: MonitorListQuery,
  response: listSchema(Monitor),
  async handle({ app, query }) {
    const { rows, hasMore } = await listMonitors(app.db, query);
    const data = rows.map((row) => presentMonitor(row, app));
    return listOf(data, hasMore);
  },
});

const get = route({
  method: 'GET',
  path: '/v1/monitors/:id',
  params: { id: MONITOR_ID },
  operation: 'getMonitor',
  role: 'member',
  summary: 'Get a monitor',
  description: 'Returns a monitor with the status of its last run.',
  etag: editableMonitor,
  response: Monitor,
  async handle({ app, params }) {
    return presentMonitor(await monitorOr404(app.db, params.id!), app);
  },
});

const update = route({
  method: 'PATCH',
  path: '/v1/monitors/:id',
  params: { id: MONITOR_ID },
  operation: 'updateMonitor',
  role: 'member',
  summary: 'Update a monitor',
  description: 'Changes, enables or disables a monitor. New targets start a run immediately.',
  etag: editableMonitor,
  body: MonitorPatch,
  response: Monitor,
  async handle(call) {
    const { app, params, body } = call;
    return call.transact(async (tx) => {
      const current = await monitorOr404(tx, params.id!);
      call.ifMatch(presentMonitor(current, app));
      return presentMonitor(await changeMonitor(tx, call, current, body), app);
    });
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/monitors/:id',
  params: { id: MONITOR_ID },
  operation: 'deleteMonitor',
  role: 'member',
  summary: 'Delete a monitor',
  description: 'Deletes a monitor and its runs.',
  response: deletedOf('monitor', 'mon'),
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    return call.transact(async (tx) => {
      const current = await monitorOr404(tx, id);
      call.ifMatch(presentMonitor(current, app));
      await deleteMonitor(tx, call, current);
      return { id, object: 'monitor', deleted: true };
    });
  },
});

const run = route({
  method: 'POST',
  path: '/v1/monitors/:id/run',
  params: { id: MONITOR_ID },
  operation: 'runMonitor',
  role: 'member',
  summary: 'Run a monitor',
  description:
    'Starts a run now, in addition to the schedule. A `placement` monitor runs when a message arrives instead.',
  response: Monitor,
  errors: ['conflict'],
  async handle(call) {
    const { app, params } = call;
    return call.transact(async (tx) => {
      const current = await monitorOr404(tx, params.id!);
      return presentMonitor(await runNow(tx, call, current), app);
    });
  },
});

const runs = route({
  method: 'GET',
  path: '/v1/monitors/:id/runs',
  params: { id: MONITOR_ID },
  operation: 'listMonitorRuns',
  role: 'member',
  summary: 'List the runs of a monitor',
  description: 'Returns the runs with their findings and changes, newest first.',
  query: RunListQuery,
  response: listSchema(MonitorRun),
  async handle({ app, params, query }) {
    const { id } = await monitorOr404(app.db, params.id!);
    const { rows, hasMore } = await listRuns(app.db, id, query);
    return listOf(rows.map(presentRun), hasMore);
  },
});

export const monitorOperations = { create, list, get, update, remove, run, runs };

/** The operations on monitors (contract §7). */

import { route } from '../http/route.ts';
import { listSchema } from '../http/schemas.ts';
import { deletedOf } from '../team/schema.ts';
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

const create = route({
  method: 'POST',
  path: '/v1/monitors',
  operation: 'createMonitor',
  role: 'member',
  liveOnly: true,
  summary:
    'Create a monitor for a domain or for a list of targets; the first run starts immediately',
  body: NewMonitor,
  status: 201,
  etag: true,
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
  summary: 'List monitors, newest first',
  query: MonitorListQuery,
  response: listSchema(Monitor),
  async handle({ app, query }) {
    const { rows, hasMore } = await listMonitors(app.db, query);
    const data = rows.map((row) => presentMonitor(row, app));
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/monitors/:id',
  operation: 'getMonitor',
  role: 'member',
  summary: 'Get a monitor',
  etag: true,
  response: Monitor,
  async handle({ app, params }) {
    return presentMonitor(await monitorOr404(app.db, params.id!), app);
  },
});

const update = route({
  method: 'PATCH',
  path: '/v1/monitors/:id',
  operation: 'updateMonitor',
  role: 'member',
  liveOnly: true,
  summary: 'Update, enable or disable a monitor; changing its targets starts a run immediately',
  etag: true,
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
  operation: 'deleteMonitor',
  role: 'member',
  liveOnly: true,
  summary: 'Delete a monitor and its runs',
  response: deletedOf('monitor'),
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
  operation: 'runMonitor',
  role: 'member',
  liveOnly: true,
  summary: 'Run a monitor now, in addition to its schedule',
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
  operation: 'listMonitorRuns',
  role: 'member',
  summary: 'List the runs of a monitor with their findings and changes, newest first',
  query: RunListQuery,
  response: listSchema(MonitorRun),
  async handle({ app, params, query }) {
    const { id } = await monitorOr404(app.db, params.id!);
    const { rows, hasMore } = await listRuns(app.db, id, query);
    return { object: 'list' as const, data: rows.map(presentRun), has_more: hasMore };
  },
});

export const monitorRoutes = [create, list, get, update, remove, run, runs];

/** The operations on monitors (contract §7). */

import { resource } from '../http/resource.ts';
import { editableBy } from '../http/response.ts';
import { route } from '../http/route.ts';
import { listOf, listSchema } from '../http/schemas.ts';
import { invalidParams } from '../lib/errors.ts';
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

const monitors = resource({
  type: 'monitor',
  prefix: 'mon',
  path: '/v1/monitors',
  name: 'Monitor',
  noun: 'monitor',
  roles: { read: 'member', change: 'member' },
  response: Monitor,
  etag: editableBy(MonitorPatch),
  find: monitorOr404,
  present: (rows, { app }) => rows.map((row) => presentMonitor(row, app)),
});

const NEEDS_DOMAIN = 'is required, because your access is limited to tags';

const create = monitors.create({
  limited: true,
  description:
    'Creates a monitor for a domain, for a list of targets, or for messages that you send on a schedule. The first run starts immediately, or with the first message.',
  body: NewMonitor,
  work(tx, call, body) {
    // A monitor without a domain would be hidden from them.
    if (call.actor.tags && !body.domain_id)
      throw invalidParams([{ param: 'domain_id', code: 'required', message: NEEDS_DOMAIN }]);
    return createMonitor(tx, call, body);
  },
});

const list = monitors.list({
  limited: true,
  description: 'Returns the monitors of your team, newest first. Filters can be combined.',
  query: MonitorListQuery,
  rows: listMonitors,
});

const get = monitors.get({
  limited: true,
  description: 'Returns a monitor with the status of its last run.',
});

const update = monitors.update({
  limited: true,
  description: 'Changes, enables or disables a monitor. New targets start a run immediately.',
  body: MonitorPatch,
  work: changeMonitor,
});

const remove = monitors.remove({
  limited: true,
  description: 'Deletes a monitor and its runs.',
  work: deleteMonitor,
});

const run = route({
  method: 'POST',
  path: '/v1/monitors/:id/run',
  params: monitors.params,
  operation: 'runMonitor',
  limited: true,
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
  params: monitors.params,
  operation: 'listMonitorRuns',
  limited: true,
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

/** The operations on schedules of reports (contract §5). */

import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { transact } from '../store/after-commit.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/report-tables.ts';
import { standing } from '../team/permissions.ts';
import { deletedOf } from '../team/schema.ts';
import { runRoutes } from './run-routes.ts';
import { changeSchedule, createSchedule, deleteSchedule } from './schedule-change.ts';
import { listSchedules, presentSchedules, scheduleOr404 } from './schedule-queries.ts';
import { NewSchedule, Schedule, ScheduleListQuery, SchedulePatch } from './schedule-schema.ts';

async function present(db: Db | Tx, row: ReportScheduleRow): Promise<Schedule> {
  const [presented] = await presentSchedules(db, [row]);
  return presented!;
}

const create = route({
  method: 'POST',
  path: '/v1/reports/schedules',
  operation: 'createReportSchedule',
  role: 'admin',
  live: true,
  summary: 'Have a report sent by e-mail each day, week or month',
  body: NewSchedule,
  status: 201,
  location: ({ id }) => `/v1/reports/schedules/${id}`,
  response: Schedule,
  errors: ['conflict'],
  async handle(call) {
    const { app, body, keep } = call;
    return transact(app.db, async (tx) => {
      await standing(tx, call, 'admin');
      const answer = await present(tx, await createSchedule(tx, call, body));
      await keep(tx, answer);
      return answer;
    });
  },
});

const list = route({
  method: 'GET',
  path: '/v1/reports/schedules',
  operation: 'listReportSchedules',
  role: 'viewer',
  summary: 'List schedules of reports, newest first',
  query: ScheduleListQuery,
  response: listOf(Schedule),
  async handle({ app, query }) {
    const { rows, hasMore } = await listSchedules(app.db, query);
    const data = await presentSchedules(app.db, rows);
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/reports/schedules/:id',
  operation: 'getReportSchedule',
  role: 'viewer',
  summary: 'Get a schedule of reports: when the next one is sent, and who has unsubscribed',
  etag: true,
  response: Schedule,
  async handle({ app, params }) {
    return present(app.db, await scheduleOr404(app.db, params.id!));
  },
});

/** The row, where the request may change it as it is now. */
async function toChange(
  tx: Tx,
  call: { app: App; params: Record<string, string>; ifMatch(present: unknown): void },
): Promise<ReportScheduleRow> {
  const row = await scheduleOr404(tx, call.params.id!);
  call.ifMatch(await present(tx, row));
  return row;
}

const update = route({
  method: 'PATCH',
  path: '/v1/reports/schedules/:id',
  operation: 'updateReportSchedule',
  role: 'admin',
  live: true,
  summary: 'Change a schedule of reports, or switch it off and on; the next time is reckoned anew',
  etag: true,
  body: SchedulePatch,
  response: Schedule,
  async handle(call) {
    return transact(call.app.db, async (tx) => {
      await standing(tx, call, 'admin');
      const row = await toChange(tx, call);
      return present(tx, await changeSchedule(tx, call, row, call.body));
    });
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/reports/schedules/:id',
  operation: 'deleteReportSchedule',
  role: 'admin',
  live: true,
  summary: 'Delete a schedule of reports with its runs; copies that still wait are not sent',
  response: deletedOf('report_schedule'),
  async handle(call) {
    const { app, params } = call;
    await transact(app.db, async (tx) => {
      await standing(tx, call, 'admin');
      await deleteSchedule(tx, call, await toChange(tx, call));
    });
    return { id: params.id!, object: 'report_schedule' as const, deleted: true as const };
  },
});

export const scheduleRoutes = [create, list, get, update, remove, ...runRoutes];

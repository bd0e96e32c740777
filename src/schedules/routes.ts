/** Operations on report schedules (contract §5). */

import type { App } from '../app.ts';
import { PRIVATE_HEADERS } from '../http/response.ts';
import { route } from '../http/route.ts';
import { listSchema } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import { deletedOf } from '../team/schema.ts';
import {
  auditSchedule,
  changeSchedule,
  createSchedule,
  deleteSchedule,
} from './change-schedule.ts';
import { composeReportMails, previewReport } from './compose-report-mails.ts';
import {
  listRuns,
  listSchedules,
  presentRuns,
  presentSchedules,
  scheduleOr404,
} from './queries.ts';
import {
  NewSchedule,
  ReportRun,
  ReportRunListQuery,
  Schedule,
  ScheduleListQuery,
  SchedulePatch,
} from './schema.ts';
import { recordReportRun } from './send.ts';
import { periodUntil } from './times.ts';

// Sending now, preview, and runs.

/** If one of these changes while a report is composed, the report is outdated. */
const CONTENT_COLUMNS = [
  'name',
  'frequency',
  'recipients',
  'domains',
  'include_sections',
  'format',
  'timezone',
] as const satisfies (keyof ReportScheduleRow)[];

const send = route({
  method: 'POST',
  path: '/v1/reports/schedules/:id/send',
  operation: 'sendReportSchedule',
  role: 'admin',
  liveOnly: true,
  limit: { requests: 60, seconds: 3600 },
  summary:
    'Send a report now, outside its schedule; it covers a period of the usual length that ends with the current hour',
  response: ReportRun,
  errors: ['conflict', 'unavailable'],
  async handle(call) {
    const { app, params } = call;
    const schedule = await scheduleOr404(app.db, params.id!);
    const at = app.clock.now();
    const covered = periodUntil(schedule, at);
    const mails = await composeReportMails(app, schedule, { covered, at });
    return call.transact(async (tx) => {
      const row = await scheduleOr404(tx, schedule.id);
      if (CONTENT_COLUMNS.some((column) => row[column] !== schedule[column]))
        throw new AppError(
          'conflict',
          'The schedule changed while its report was being generated. Retry the request.',
        );
      const run = await recordReportRun(tx, app, row, { slot: null, covered, mails, error: null });
      await auditSchedule(tx, call, 'sent', row.id, { run: run.id });
      const [presented] = await presentRuns(tx, [run]);
      return presented!;
    });
  },
});

/** The page is self-contained: no requests, no scripts. */
const PREVIEW_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-popups";

const preview = route({
  method: 'GET',
  path: '/v1/reports/schedules/:id/preview',
  operation: 'previewReportSchedule',
  role: 'viewer',
  liveOnly: true,
  summary:
    'Preview the report that would be sent now, as an HTML page even for PDF reports; viewers do not see domains and alerts',
  produces: ['text/html'],
  async handle({ app, actor, params }) {
    const row = await scheduleOr404(app.db, params.id!);
    const html = await previewReport(app, row, actor.role);
    return new Response(html, {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': PREVIEW_POLICY,
        ...PRIVATE_HEADERS,
      },
    });
  },
});

const runs = route({
  method: 'GET',
  path: '/v1/reports/schedules/:id/runs',
  operation: 'listReportScheduleRuns',
  role: 'viewer',
  liveOnly: true,
  summary:
    'List the runs of a report schedule, newest first, with the delivery status for each recipient',
  query: ReportRunListQuery,
  response: listSchema(ReportRun),
  async handle({ app, params, query }) {
    const { id } = await scheduleOr404(app.db, params.id!);
    const { rows, hasMore } = await listRuns(app.db, id, query);
    const data = await presentRuns(app.db, rows);
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const runRoutes = [send, preview, runs];

async function present(db: Db | Tx, row: ReportScheduleRow): Promise<Schedule> {
  const [presented] = await presentSchedules(db, [row]);
  return presented!;
}

const create = route({
  method: 'POST',
  path: '/v1/reports/schedules',
  operation: 'createReportSchedule',
  role: 'admin',
  liveOnly: true,
  summary: 'Create a schedule that emails a report every day, week or month',
  body: NewSchedule,
  status: 201,
  location: ({ id }) => `/v1/reports/schedules/${id}`,
  response: Schedule,
  errors: ['conflict'],
  async handle(call) {
    const { body } = call;
    return call.transact(async (tx) => present(tx, await createSchedule(tx, call, body)));
  },
});

const list = route({
  method: 'GET',
  path: '/v1/reports/schedules',
  operation: 'listReportSchedules',
  role: 'viewer',
  summary: 'List report schedules, newest first',
  query: ScheduleListQuery,
  response: listSchema(Schedule),
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
  summary: 'Get a report schedule with its next send time and unsubscribed recipients',
  etag: true,
  response: Schedule,
  async handle({ app, params }) {
    return present(app.db, await scheduleOr404(app.db, params.id!));
  },
});

/** The row, if it matches the `If-Match` header of the request. */
async function matchingRow(
  tx: Tx,
  call: { app: App; params: Record<string, string>; ifMatch(current: unknown): void },
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
  liveOnly: true,
  summary: 'Update, enable or disable a report schedule; the next send time is recalculated',
  etag: true,
  body: SchedulePatch,
  response: Schedule,
  async handle(call) {
    return call.transact(async (tx) => {
      const row = await matchingRow(tx, call);
      return present(tx, await changeSchedule(tx, call, row, call.body));
    });
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/reports/schedules/:id',
  operation: 'deleteReportSchedule',
  role: 'admin',
  liveOnly: true,
  summary: 'Delete a report schedule and its runs; queued emails are canceled',
  response: deletedOf('report_schedule'),
  async handle(call) {
    const { params } = call;
    return call.transact(async (tx) => {
      await deleteSchedule(tx, call, await matchingRow(tx, call));
      return { id: params.id!, object: 'report_schedule', deleted: true };
    });
  },
});

export const scheduleRoutes = [create, list, get, update, remove, ...runRoutes];

/** Operations on report schedules (contract §5). */

import type { App } from '../app.ts';
import { editableBy, PRIVATE_HEADERS } from '../http/response.ts';
import { route } from '../http/route.ts';
import { deletedOf, idOf, listOf, listSchema } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
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

const REPORT_SCHEDULE_ID = idOf('rps', 'The ID of the report schedule.');

// Sending a report now, previews, and runs.

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

const editableSchedule = editableBy(SchedulePatch);

const send = route({
  method: 'POST',
  path: '/v1/reports/schedules/:id/send',
  params: { id: REPORT_SCHEDULE_ID },
  operation: 'sendReportSchedule',
  role: 'admin',
  limit: { requests: 60, seconds: 3600 },
  summary: 'Send a report now',
  description:
    'Sends a report outside its schedule. It covers the last complete days in the time zone of the schedule, as many as usual.',
  response: ReportRun,
  errors: ['conflict', 'unavailable'],
  async handle(call) {
    const { app, params } = call;
    const schedule = await scheduleOr404(app.db, params.id!);
    const at = app.clock.now();
    const period = periodUntil(schedule, at);
    const mails = await composeReportMails(app, schedule, { period, at });
    return call.transact(async (tx) => {
      const row = await scheduleOr404(tx, schedule.id);
      if (CONTENT_COLUMNS.some((column) => row[column] !== schedule[column]))
        throw new AppError(
          'conflict',
          'The schedule changed while its report was being generated. Retry the request.',
        );
      const run = await recordReportRun(tx, app, row, { slot: null, period, mails, error: null });
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
  params: { id: REPORT_SCHEDULE_ID },
  operation: 'previewReportSchedule',
  role: 'viewer',
  summary: 'Preview a report',
  description:
    'Returns the report that would be sent now, as an HTML page even for PDF reports. Viewers do not see domains and alerts.',
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
  params: { id: REPORT_SCHEDULE_ID },
  operation: 'listReportScheduleRuns',
  role: 'viewer',
  summary: 'List the runs of a report schedule',
  description: 'Returns the runs, newest first, with the delivery status for each recipient.',
  query: ReportRunListQuery,
  response: listSchema(ReportRun),
  async handle({ app, params, query }) {
    const { id } = await scheduleOr404(app.db, params.id!);
    const { rows, hasMore } = await listRuns(app.db, id, query);
    const data = await presentRuns(app.db, rows);
    return listOf(data, hasMore);
  },
});

async function present(db: Db | Tx, row: ReportScheduleRow): Promise<Schedule> {
  const [presented] = await presentSchedules(db, [row]);
  return presented!;
}

const create = route({
  method: 'POST',
  path: '/v1/reports/schedules',
  operation: 'createReportSchedule',
  role: 'admin',
  summary: 'Create a report schedule',
  description: 'Creates a schedule that emails a report every day, week or month.',
  body: NewSchedule,
  status: 201,
  etag: editableSchedule,
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
  summary: 'List report schedules',
  description: 'Returns the report schedules of your team, newest first.',
  query: ScheduleListQuery,
  response: listSchema(Schedule),
  async handle({ app, query }) {
    const { rows, hasMore } = await listSchedules(app.db, query);
    const data = await presentSchedules(app.db, rows);
    return listOf(data, hasMore);
  },
});

const get = route({
  method: 'GET',
  path: '/v1/reports/schedules/:id',
  params: { id: REPORT_SCHEDULE_ID },
  operation: 'getReportSchedule',
  role: 'viewer',
  summary: 'Get a report schedule',
  description: 'Returns a report schedule with its next send time and unsubscribed recipients.',
  etag: editableSchedule,
  response: Schedule,
  async handle({ app, params }) {
    return present(app.db, await scheduleOr404(app.db, params.id!));
  },
});

/** Returns the row. Throws `precondition_failed` if the `If-Match` header of the request does not match it. */
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
  params: { id: REPORT_SCHEDULE_ID },
  operation: 'updateReportSchedule',
  role: 'admin',
  summary: 'Update a report schedule',
  description:
    'Changes, enables or disables a report schedule. The next send time is recalculated.',
  etag: editableSchedule,
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
  params: { id: REPORT_SCHEDULE_ID },
  operation: 'deleteReportSchedule',
  role: 'admin',
  summary: 'Delete a report schedule',
  description: 'Deletes a report schedule and its runs. Queued emails are canceled.',
  response: deletedOf('report_schedule', 'rps'),
  async handle(call) {
    const { params } = call;
    return call.transact(async (tx) => {
      await deleteSchedule(tx, call, await matchingRow(tx, call));
      return { id: params.id!, object: 'report_schedule', deleted: true };
    });
  },
});

export const scheduleOperations = { create, list, get, update, remove, send, preview, runs };

/** The operations on schedules of reports (contract §5). */

import type { App } from '../app.ts';
import { PRIVATE_FIELDS } from '../http/response.ts';
import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import { deletedOf } from '../team/schema.ts';
import { changeSchedule, createSchedule, deleteSchedule, noteSchedule } from './change-schedule.ts';
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
import { writeRun } from './send.ts';
import { periodUntil } from './times.ts';

// The operations on what a schedule sends: now, as it would look, and what has been sent.

const CONTENTS = [
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
  live: true,
  limit: { requests: 60, seconds: 3600 },
  summary:
    'Send a report at once, beside its plan: of as long a time as it always covers, up to the end of this hour',
  response: ReportRun,
  errors: ['conflict', 'unavailable'],
  async handle(call) {
    const { app, params } = call;
    const asked = await scheduleOr404(app.db, params.id!);
    const at = app.clock.now();
    const covered = periodUntil(asked, at);
    const letters = await composeReportMails(app, asked, { covered, at });
    return call.transact(async (tx) => {
      const row = await scheduleOr404(tx, asked.id);
      if (CONTENTS.some((column) => row[column] !== asked[column]))
        throw new AppError(
          'conflict',
          'The schedule was changed while its report was made. Ask again.',
        );
      const run = await writeRun(tx, app, row, { slot: null, covered, letters, error: null });
      await noteSchedule(tx, call, 'sent', row.id, { run: run.id });
      const [answer] = await presentRuns(tx, [run]);
      return answer!;
    });
  },
});

/** Nothing is loaded and nothing runs; what is in the page is in it. */
const PREVIEW_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-popups";

const preview = route({
  method: 'GET',
  path: '/v1/reports/schedules/:id/preview',
  operation: 'previewReportSchedule',
  role: 'viewer',
  live: true,
  summary:
    'See the report that would be sent now, as a page; one that is sent as a PDF tells the same. Viewers see it without the section on domains and alerts',
  produces: ['text/html'],
  async handle({ app, actor, params }) {
    const row = await scheduleOr404(app.db, params.id!);
    const html = await previewReport(app, row, actor.role);
    return new Response(html, {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': PREVIEW_POLICY,
        ...PRIVATE_FIELDS,
      },
    });
  },
});

const runs = route({
  method: 'GET',
  path: '/v1/reports/schedules/:id/runs',
  operation: 'listReportScheduleRuns',
  role: 'viewer',
  live: true,
  summary:
    'List what a schedule has sent, newest first, with what became of the copy of each recipient',
  query: ReportRunListQuery,
  response: listOf(ReportRun),
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
  live: true,
  summary: 'Have a report sent by e-mail each day, week or month',
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
    return call.transact(async (tx) => {
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
    const { params } = call;
    return call.transact(async (tx) => {
      await deleteSchedule(tx, call, await toChange(tx, call));
      return { id: params.id!, object: 'report_schedule', deleted: true };
    });
  },
});

export const scheduleRoutes = [create, list, get, update, remove, ...runRoutes];

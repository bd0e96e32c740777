/** Operations on report schedules (contract §5). */

import { resource } from '../http/resource.ts';
import { editableBy, PRIVATE_HEADERS } from '../http/response.ts';
import { route } from '../http/route.ts';
import { listOf, listSchema } from '../http/schemas.ts';
import { AppError, errorMessage } from '../lib/errors.ts';
import type { ReportRunRow, ReportScheduleRow } from '../store/tables.generated.ts';
import { audit } from '../team/audit.ts';
import {
  AUDITED_SCHEDULE,
  changeSchedule,
  createSchedule,
  deleteSchedule,
} from './change-schedule.ts';
import { previewReport } from './compose-report-mails.ts';
import {
  audiencesOf,
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
import { composeRun, failedRun, recordReportRun } from './send.ts';
import { periodUntil } from './times.ts';

const schedules = resource({
  type: 'report_schedule',
  prefix: 'rps',
  path: '/v1/reports/schedules',
  name: 'ReportSchedule',
  noun: 'report schedule',
  roles: { read: 'viewer', change: 'admin' },
  response: Schedule,
  etag: editableBy(SchedulePatch),
  find: scheduleOr404,
  present: (rows, { db }) => presentSchedules(db, rows),
});

// Sending a report now, previews, and runs.

/** If one of these changes while a report is composed, the report is outdated. */
const CONTENT_COLUMNS = [
  'name',
  'frequency',
  'recipients',
  'domains',
  'tags',
  'recipients_by_tag',
  'include_sections',
  'format',
  'timezone',
] as const satisfies (keyof ReportScheduleRow)[];

const send = route({
  method: 'POST',
  path: '/v1/reports/schedules/:id/send',
  params: schedules.params,
  operation: 'sendReportSchedule',
  role: 'admin',
  limit: { requests: 60, seconds: 3600 },
  summary: 'Send a report now',
  description:
    'Sends a report outside its schedule. It covers the last complete days in the time zone of the schedule, as many as usual. With `recipients_by_tag`, returns the first of several runs: list them to see the others.',
  response: ReportRun,
  errors: ['conflict', 'unavailable'],
  async handle(call) {
    const { app, params } = call;
    const schedule = await scheduleOr404(app.db, params.id!);
    const at = app.clock.now();
    const period = periodUntil(schedule, at);
    const composed: Awaited<ReturnType<typeof composeRun>>[] = [];
    for (const audience of audiencesOf(schedule))
      composed.push(
        await composeRun(app, schedule, audience, { slot: null, period, at }).catch(
          (error: unknown) => {
            if (audience.tag === '') throw error;
            // The reports for other tags are sent.
            app.log.error('could not compose a report', {
              schedule: schedule.id,
              error: errorMessage(error),
            });
            return { slot: null, ...failedRun(audience, period) };
          },
        ),
      );
    return call.transact(async (tx) => {
      const row = await scheduleOr404(tx, schedule.id);
      if (CONTENT_COLUMNS.some((column) => row[column] !== schedule[column]))
        throw new AppError(
          'conflict',
          'The schedule changed while its report was being generated. Retry the request.',
        );
      const runs: ReportRunRow[] = [];
      for (const run of composed) runs.push(await recordReportRun(tx, app, row, run));
      const [first] = await presentRuns(tx, runs);
      await audit(tx, call, AUDITED_SCHEDULE, 'report_schedule.sent', row.id, { run: first!.id });
      return first!;
    });
  },
});

/** The page is self-contained: no requests, no scripts. */
const PREVIEW_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-popups";

const preview = route({
  method: 'GET',
  path: '/v1/reports/schedules/:id/preview',
  params: schedules.params,
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
  params: schedules.params,
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

const create = schedules.create({
  description: 'Creates a schedule that emails a report every day, week or month.',
  body: NewSchedule,
  errors: ['conflict'],
  work: createSchedule,
});

const list = schedules.list({
  description: 'Returns the report schedules of your team, newest first.',
  query: ScheduleListQuery,
  rows: listSchedules,
});

const get = schedules.get({
  description: 'Returns a report schedule with its next send time and unsubscribed recipients.',
});

const update = schedules.update({
  description:
    'Changes, enables or disables a report schedule. The next send time is recalculated.',
  body: SchedulePatch,
  work: changeSchedule,
});

const remove = schedules.remove({
  description: 'Deletes a report schedule and its runs. Queued emails are canceled.',
  work: deleteSchedule,
});

export const scheduleOperations = { create, list, get, update, remove, send, preview, runs };

/** The operations on what a schedule sends: now, as it would look, and what has been sent. */

import { PRIVATE_FIELDS } from '../http/private-fields.ts';
import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { transact } from '../store/after-commit.ts';
import type { ReportScheduleRow } from '../store/report-tables.ts';
import { standing } from '../team/permissions.ts';
import { writeLetters } from './run-letters.ts';
import { previewReport } from './run-preview.ts';
import { listRuns, presentRuns } from './run-queries.ts';
import { writeRun } from './run-record.ts';
import { noteSchedule } from './schedule-change.ts';
import { scheduleOr404 } from './schedule-queries.ts';
import { ReportRun, ReportRunListQuery } from './schedule-schema.ts';
import { periodUntil } from './schedule-times.ts';

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
    const { app, params, keep } = call;
    const asked = await scheduleOr404(app.db, params.id!);
    const at = app.clock.now();
    const covered = periodUntil(asked, at);
    const letters = await writeLetters(app, asked, { covered, at });
    return transact(app.db, async (tx) => {
      await standing(tx, call, 'admin');
      const row = await scheduleOr404(tx, asked.id);
      if (CONTENTS.some((column) => row[column] !== asked[column]))
        throw new AppError(
          'conflict',
          'The schedule was changed while its report was made. Ask again.',
        );
      const run = await writeRun(tx, app, row, { slot: null, covered, letters, error: null });
      await noteSchedule(tx, call, 'sent', row.id, { run: run.id });
      const [answer] = await presentRuns(tx, [run]);
      await keep(tx, answer);
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

export const runRoutes = [send, preview, runs];

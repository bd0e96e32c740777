/** The report that a schedule would send now, as a page for whoever looks. */

import type { App } from '../app.ts';
import { allows, type Role } from '../http/actor.ts';
import { note } from '../render/mail-look.ts';
import { previewOf, reportMail } from '../render/report-mail.ts';
import type { ScheduledReport } from '../render/summary.ts';
import type { ReportScheduleRow } from '../store/report-tables.ts';
import { gatherReport } from './run-gather.ts';
import { periodUntil } from './schedule-times.ts';

const LEFT_OUT =
  'The section on domains and alerts is left out here: it goes to the recipients, and members of the team see it in the preview.';

/** As HTML. Domains, incidents and what the subject says of them are shown to members, not to viewers. */
export async function previewReport(
  app: App,
  schedule: ReportScheduleRow,
  role: Role,
): Promise<string> {
  const report = await gatherReport(app, schedule, periodUntil(schedule, app.clock.now()));
  const shown = allows(role, 'member') ? report : withoutAlerts(report);
  const html = previewOf(reportMail(shown, { unsubscribeUrl: null, pdf: false }));
  if (shown.sections.length === report.sections.length) return html;
  return html.replace(
    /<body[^>]*>/,
    (body) => `${body}\n<div style="padding:16px">${note(LEFT_OUT)}</div>`,
  );
}

const withoutAlerts = (report: ScheduledReport): ScheduledReport => ({
  ...report,
  sections: report.sections.filter((section) => section !== 'alerts'),
  domains: [],
  domainsLeftOut: 0,
  incidents: [],
  incidentsLeftOut: 0,
});

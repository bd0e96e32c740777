/** Makes the mails of one report, one for each reader; takes as long as it takes, never inside a transaction. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../app.ts';
import type { MailAttachment } from '../net/mail-composition.ts';
import type { OutgoingMail } from '../outbox/queue.ts';
import { reportMail } from '../render/report-mail.ts';
import type { ScheduledReport } from '../render/summary.ts';
import type { ReportScheduleRow } from '../store/report-tables.ts';
import { gatherReport } from './run-gather.ts';
import { recipientsOf } from './schedule-present.ts';
import { readersGone, readerToken } from './schedule-readers.ts';
import type { Covered } from './schedule-times.ts';
import { localDate } from './time-zones.ts';

/**
 * By address, none for who has left; none at all where outgoing mail is not configured. `at` is the
 * time for which the report is made, in milliseconds since 1970. Rejects as the reporter does where
 * the report is a PDF.
 */
export async function writeLetters(
  app: App,
  schedule: ReportScheduleRow,
  { covered, at }: { covered: Covered; at: number },
): Promise<Map<string, OutgoingMail>> {
  const letters = new Map<string, OutgoingMail>();
  const recipients = recipientsOf(schedule);
  const gone = await readersGone(app.db, schedule.id, recipients);
  const readers = recipients.filter((email) => !gone.has(email));
  if (app.mailer === null || readers.length === 0) return letters;
  const report = await gatherReport(app, schedule, covered);
  const attachments = schedule.format === 'pdf' ? [await pdfOf(app, report, at)] : undefined;
  for (const to of readers) {
    const url = `${app.config.APP_URL}/unsubscribe/${readerToken(app, schedule.id, to)}`;
    const mail = reportMail(report, { unsubscribeUrl: url, pdf: attachments !== undefined });
    // Each takes some milliseconds: others have their turn between them.
    await nextTurn();
    letters.set(to, { to, ...mail, headers: unsubscribeFields(url), attachments });
  }
  return letters;
}

/** One click is for https alone (RFC 8058 §3.1). */
function unsubscribeFields(url: string): Record<string, string> {
  const field = { 'List-Unsubscribe': `<${url}>` };
  return url.startsWith('https:')
    ? { ...field, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
    : field;
}

async function pdfOf(app: App, report: ScheduledReport, at: number): Promise<MailAttachment> {
  const { bytes } = await app.reporter.render({ kind: 'summary', report });
  return {
    filename: `deliverability-${localDate(at, report.timezone)}.pdf`,
    contentType: 'application/pdf',
    content: bytes,
  };
}

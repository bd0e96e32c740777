/**
 * Finds the reporters of reports from before the service stored who signed them, and of those that an older program recorded.
 * Each report changes in one transaction and then has its mark, so that the job goes on after a crash.
 */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import type { Job } from '../../scheduler/scheduler.ts';
import { MessageDeletedError, readMessage } from '../../store/chunks.ts';
import { type Tx, transact } from '../../store/open.ts';
import type { FeedbackReporterRow, FeedbackReportRow } from '../../store/tables.generated.ts';
import { deleteReportRows } from '../expire.ts';
import { keptMail } from '../queries.ts';
import { verifyStored } from '../read-mail.ts';
import { isPeriodic, ofReporter, periodIdentity } from '../reading/identity.ts';
import type { ReportType } from '../reading/report.ts';
import { type Signer, signedReporter } from '../senders/reporter.ts';
import { EMPTY_CONTENT, REMOVED, type ReportStatus, type Verdict } from '../status.ts';
import { readerOf } from '../thread/reader.ts';
import { findOriginal, lockCopies } from './copies.ts';
import { sightingOf, uploadedReporter, upsertReporter } from './reporters.ts';
import { lockedReport } from './rows.ts';
import { leaveReporter } from './tallies.ts';
import { followTrust, stopCounting } from './trust.ts';

export const attributeJob = (app: App): Job => ({
  name: 'feedback.attribute',
  tick: '50 * * * * *',
  run: () => attributeReports(app),
});

export async function attributeReports(app: App): Promise<void> {
  // Copies are compared with the reports that count, which come first.
  const found =
    (await attributeAll(app, ['counted', 'unconfirmed', 'unverified'])) +
    (await attributeAll(app, ['duplicate', 'conflict']));
  if (found > 0) await followTrust(app);
}

async function attributeAll(app: App, statuses: string[]): Promise<number> {
  let count = 0;
  for (let after = ''; ; ) {
    const reports = await app.db
      .selectFrom('feedback_reports')
      .select(['id', 'mail_id', 'position'])
      // A literal, so that SQLite uses the partial index.
      .where('attributed', '=', sql.lit(0))
      .where('status', 'in', statuses)
      .where('id', '>', after)
      .orderBy('id')
      .limit(50)
      .execute();
    if (reports.length === 0) return count;
    for (const report of reports) {
      after = report.id;
      const evidence = await storedEvidence(app, report);
      const changed = await transact(app.db, (tx) =>
        evidence === undefined
          ? suspend(tx, report.id)
          : attribute(tx, app, report.id, evidence).then(() => true),
      );
      if (changed) count += 1;
    }
  }
}

interface Evidence {
  /** Whom the stored message authenticates; null for nobody or without the message. */
  signer: Signer | null;
  attached: boolean;
}

const NO_EVIDENCE: Evidence = { signer: null, attached: false };

/** undefined if DNS does not answer. */
async function storedEvidence(
  app: App,
  { mail_id, position }: Pick<FeedbackReportRow, 'mail_id' | 'position'>,
): Promise<Evidence | undefined> {
  const mail = await keptMail(app.db, mail_id);
  if (mail === null || (mail.source !== 'smtp' && mail.source !== 'imap')) return NO_EVIDENCE;
  try {
    const raw = await readMessage(app.db, mail);
    const { signer, isUndecided } = await verifyStored(app, mail, raw);
    if (isUndecided) return undefined;
    const item = (await readerOf(app).read(raw, Date.parse(mail.received_at)))[position];
    return { signer, attached: item?.ok === true && item.attached };
  } catch (error) {
    if (error instanceof MessageDeletedError) return NO_EVIDENCE;
    throw error;
  }
}

/** Stops counting a report until DNS shows who signed it. Returns whether it changed. */
async function suspend(tx: Tx, id: string): Promise<boolean> {
  const report = await lockedReport(tx, id);
  if (report?.status !== 'counted' || report.attributed === 1 || report.type === 'bounce')
    return false;
  // It can no longer be taken out of the sums.
  if (report.content === EMPTY_CONTENT) return false;
  await stopCounting(tx, report, 'unconfirmed');
  return true;
}

async function attribute(tx: Tx, app: App, id: string, evidence: Evidence): Promise<void> {
  const report = await lockedReport(tx, id);
  if (!report || report.attributed === 1 || report.status === REMOVED) return;
  const former = await tx
    .selectFrom('feedback_reporters')
    .selectAll()
    .where('id', '=', report.reporter_id)
    .executeTakeFirst();
  const reporter = await findReporter(tx, app, report, { ...evidence, former });
  const changed = {
    identity: ofReporter(reporter?.name ?? null, contentIdentity(report)),
    label: former?.name ?? null,
    attributed: 1,
  };
  await lockCopies(tx, { ...report, ...changed });
  if (report.status === 'duplicate' || report.status === 'conflict') {
    const original = await findOriginal(tx, { ...report, ...changed }, id);
    // It contradicted the report of someone else, so it is read once more. Its rows were not stored.
    if (!original && evidence.signer !== null && reporter !== null)
      return readAgain(tx, report, reporter);
  }
  const verdict: Verdict =
    report.source === 'upload' || report.type === 'bounce' || reporter?.trusted === 1
      ? 'counted'
      : reporter === null
        ? 'unverified'
        : 'unconfirmed';
  let status = report.status;
  let original_id = report.original_id;
  if (report.status === 'unverified' && reporter !== null) status = 'unconfirmed';
  if (report.status === 'unconfirmed' && reporter === null) status = 'unverified';
  if (report.status === 'counted') {
    // Two reports that differed by the name in them can be copies.
    const original = await findOriginal(tx, { ...report, ...changed }, id);
    const isCopy = original?.status === 'counted';
    if (report.content === EMPTY_CONTENT) {
      // It can no longer be taken out of the sums.
      if (isCopy) changed.identity = report.identity!;
    } else if (verdict === 'counted' && isCopy) {
      status = original.figures === report.figures ? 'duplicate' : 'conflict';
      original_id = original.id;
    } else status = verdict;
  }
  if (report.status === 'counted' && status !== 'counted') {
    await stopCounting(tx, report, status as ReportStatus);
    report.status = status;
  }
  await moveTo(tx, report, reporter);
  await tx
    .updateTable('feedback_reports')
    .set({ ...changed, status, original_id, reporter_id: reporter?.id ?? null })
    .where('id', '=', id)
    .execute();
}

async function findReporter(
  tx: Tx,
  app: App,
  { source, type, verified, received_at, status }: FeedbackReportRow,
  { former, signer, attached }: Evidence & { former: FeedbackReporterRow | undefined },
): Promise<FeedbackReporterRow | null> {
  const label = former?.name ?? 'unknown';
  const naming = sightingOf(label, received_at);
  if (source === 'upload')
    return upsertReporter(tx, app, await uploadedReporter(tx, label, type as ReportType), naming);
  const signed = signedReporter(signer, { type: type as ReportType, attached });
  if (signed !== null) return upsertReporter(tx, app, signed, naming);
  // Something authenticated the message, and it is no longer stored.
  const wasVerified = verified === 1 || (source === 'imap' && status !== 'unverified');
  return wasVerified && type !== 'bounce' ? (former ?? null) : null;
}

/** The hash of a report of a period had the name in it. Without its content, only copies with that name are found. */
function contentIdentity(report: FeedbackReportRow): string {
  const { type, identity, policy_domain: domain, period_from, period_to } = report;
  const { report_id } = JSON.parse(report.content) as { report_id?: string };
  if (!isPeriodic(type) || report_id === undefined) return identity!;
  const [begin, end] = [Date.parse(period_from!), Date.parse(period_to!)];
  return periodIdentity({ type: type!, reportId: report_id, domain, begin, end });
}

/** `upsertReporter` has added the report to a reporter that is not its former one. */
async function moveTo(
  tx: Tx,
  report: FeedbackReportRow,
  reporter: FeedbackReporterRow | null,
): Promise<void> {
  if (reporter?.id === report.reporter_id) return;
  await leaveReporter(tx, report);
  if (reporter !== null && report.status === 'counted')
    await tx
      .updateTable('feedback_reporters')
      .set(({ eb }) => ({ counted: eb('counted', '+', 1) }))
      .where('id', '=', reporter.id)
      .execute();
}

async function readAgain(
  tx: Tx,
  report: FeedbackReportRow,
  reporter: FeedbackReporterRow,
): Promise<void> {
  for (const reporter_id of new Set([report.reporter_id, reporter.id]))
    await leaveReporter(tx, { ...report, reporter_id });
  await deleteReportRows(tx, [report.id]);
  await tx
    .updateTable('feedback_mails')
    .set({ due_at: report.received_at, attempts: 0 })
    .where('id', '=', report.mail_id)
    .execute();
}

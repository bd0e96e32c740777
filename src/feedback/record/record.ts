/**
 * Records a report: its status and its sums in one transaction, then its rows in short ones. Each step leaves a mark by which a
 * repetition goes on, so that a crash between two of them neither loses nor doubles anything.
 */

import type { App } from '../../app.ts';
import { type Tx, transact } from '../../store/open.ts';
import type { FeedbackMailRow, FeedbackReportRow } from '../../store/tables.generated.ts';
import { untilAvailable } from '../../store/until-available.ts';
import { ofReporter } from '../reading/identity.ts';
import { REFUSAL_REASONS, type Refusal } from '../reading/report.ts';
import { type ReporterIdentity, type Signer, signedReporter } from '../senders/reporter.ts';
import { VERDICTS, type Verdict } from '../status.ts';
import { bytesLeftForReport } from '../storage/stored.ts';
import { freeBytesFor, type StorageUsage, storageUsage } from '../storage/usage.ts';
import type { PreparedItem, PreparedReport } from '../thread/prepare.ts';
import { findOriginal, hasArrived, lockCopies, statusBeside } from './copies.ts';
import { findDomain } from './find-domain.ts';
import { contentOf, limitReport } from './limit-rows.ts';
import { addBounces, addComplaint } from './messages.ts';
import { implausibleCount } from './plausible.ts';
import { signedRefusal } from './refused.ts';
import { uploadedReporter, upsertReporter } from './reporters.ts';
import { storeOnlyBatch, storeRows } from './rows.ts';
import { learnReportedSelectors } from './selectors.ts';
import { countReport, leaveReporter, touchDomain } from './tallies.ts';

export interface Recording {
  mail: FeedbackMailRow;
  /** The place of the item in the mail. */
  position: number;
  item: PreparedItem;
  /** Who the message authenticates. */
  signer: Signer | null;
}

/** Whether the message that carried it says more about people than what is stored of it. */
export const isPersonal = (item: PreparedItem): boolean =>
  item.ok
    ? item.type === 'complaint' || item.type === 'dmarc_failure' || item.type === 'bounce'
    : item.reason === 'not_a_report';

export async function recordItem(app: App, recording: Recording): Promise<void> {
  const report = await untilAvailable(() => recordOnce(app, recording));
  const { item } = recording;
  // The rows of an uncounted report are already stored.
  if (item.ok && report.stored_rows < report.row_count) await storeRows(app.db, report, item);
  if (item.ok && item.type === 'dmarc') await learnReportedSelectors(app.db, report.id);
}

/** The stored report, which an earlier attempt may have recorded. */
async function recordOnce(app: App, recording: Recording): Promise<FeedbackReportRow> {
  const { mail, position, item } = recording;
  const usage = await storageUsage(app);
  const report = await transact(app.db, async (tx) => {
    const earlier = await tx
      .selectFrom('feedback_reports')
      .selectAll()
      .where('mail_id', '=', mail.id)
      .where('position', '=', position)
      .executeTakeFirst();
    if (earlier) return earlier;
    if (!item.ok) return insertRefusal(tx, app, recording, item);
    // Nothing shows who sends there, and only TLS reports may be sent so (RFC 8460 §5.4).
    if (mail.source === 'https' && item.type !== 'tls')
      return insertRefusal(tx, app, recording, NOT_TLS);
    return insertReport(tx, app, recording, item, usage);
  });
  app.metrics.feedbackReports.inc({ type: report.type ?? 'unknown', status: report.status });
  return report;
}

const NOT_TLS: Refusal = {
  ok: false,
  reason: 'unsupported',
  detail: 'Only TLS reports are accepted over HTTPS.',
  type: null,
};

const STORAGE_FULL: Refusal = {
  ok: false,
  reason: 'storage_full',
  detail: `${REFUSAL_REASONS.storage_full}.`,
  type: null,
};

/** Of copies and of reports that contradict another one, only the figures are kept. */
const NO_ROWS = { batches: [], rowCount: 0, complaint: null, bounces: [] };

const baseRow = (app: App, { mail, position }: Recording): FeedbackReportRow => ({
  id: app.newId('fbr'),
  mail_id: mail.id,
  position,
  type: null,
  reason: null,
  detail: null,
  identity: null,
  figures: null,
  status: 'refused',
  original_id: null,
  reporter_id: null,
  domain_id: null,
  policy_domain: null,
  period_from: null,
  period_to: null,
  messages: 0,
  passed: 0,
  failed: 0,
  verified: null,
  source: mail.source,
  suffix: mail.suffix,
  repaired: '[]',
  content: '{}',
  row_count: 0,
  stored_rows: 0,
  counted_rows: 0,
  received_at: mail.received_at,
  label: null,
  file_identity: null,
  attributed: 1,
});

async function insertRefusal(
  tx: Tx,
  app: App,
  recording: Recording,
  refusal: Refusal,
): Promise<FeedbackReportRow> {
  const { type, reason, detail, excerpt } = refusal;
  const row = {
    ...baseRow(app, recording),
    type,
    reason,
    detail,
    domain_id: recording.mail.domain_id,
    content: JSON.stringify(excerpt ? { excerpt } : {}),
    ...(await signedRefusal(tx, app, recording, refusal)),
  };
  await tx.insertInto('feedback_reports').values(row).execute();
  return row;
}

async function insertReport(
  tx: Tx,
  app: App,
  recording: Recording,
  item: PreparedReport,
  usage: StorageUsage,
): Promise<FeedbackReportRow> {
  const { mail, position } = recording;
  const domain = await findDomain(tx, mail.domain_id, item);
  if (domain === null) {
    const detail = `${REFUSAL_REASONS.foreign_domain}: ${item.domains[0] ?? 'none'}.`;
    const refusal = { ok: false, reason: 'foreign_domain', detail, type: item.type } as const;
    return insertRefusal(tx, app, recording, refusal);
  }
  const isMail = mail.source === 'smtp' || mail.source === 'imap';
  const sender = await findSender(tx, recording, item);
  const identified = {
    identity: ofReporter(sender?.name ?? null, item.identity),
    file_identity: item.fileIdentity,
    figures: item.figures,
    source: mail.source,
    domain_id: domain.id,
  };
  await lockCopies(tx, identified);
  const naming = { label: item.label, at: mail.received_at };
  const reporter = sender && (await upsertReporter(tx, app, sender, naming));
  const isTrusted = mail.source === 'upload' || reporter?.trusted === 1;
  const waits = reporter === null ? 'unverified' : 'unconfirmed';
  const isChecked = isTrusted && mail.source !== 'upload';
  const detail = isChecked ? await implausibleCount(tx, { ...item, domain_id: domain.id }) : null;
  // What known receivers count is named, and counts.
  const isImplausible = detail !== null && reporter?.kind !== 'known';
  const verdict: Verdict = isImplausible
    ? 'implausible'
    : isTrusted || item.type === 'bounce'
      ? 'counted'
      : waits;
  const original = await findOriginal(tx, identified);
  const status = statusBeside(original, verdict, item.figures);
  const hasRows = VERDICTS.includes(status as Verdict);
  const stored = hasRows ? item : { ...item, ...NO_ROWS };
  // Bounces count without a trusted reporter, so they are limited too.
  const isLimited = status !== 'counted' || !isTrusted;
  const kept = isLimited
    ? limitReport(
        stored,
        // Space is reserved for reports about the domain that the message was sent to.
        Math.min(
          await bytesLeftForReport(tx, mail.id, position),
          domain.id === mail.domain_id ? Number.POSITIVE_INFINITY : freeBytesFor(usage, domain.id),
        ),
      )
    : stored;
  if (kept === null) {
    if (reporter !== null) await leaveReporter(tx, { reporter_id: reporter.id, status: 'refused' });
    return insertRefusal(tx, app, recording, { ...STORAGE_FULL, type: item.type });
  }
  const row: FeedbackReportRow = {
    ...baseRow(app, recording),
    ...identified,
    type: item.type,
    status,
    detail: hasRows ? detail : null,
    original_id: hasRows ? null : original!.id,
    reporter_id: reporter?.id ?? null,
    policy_domain: item.domains[0] ?? null,
    period_from: item.begin,
    period_to: item.end,
    messages: kept.messages,
    passed: kept.passed,
    failed: kept.failed,
    verified: isMail ? Number(reporter !== null) : null,
    repaired: item.repaired,
    content: contentOf(kept),
    label: item.label,
    row_count: kept.rowCount,
  };
  // The first copy to arrive shows that the address works, even after an upload. Anyone can resend a later one.
  if (status === 'duplicate' && verdict === 'counted' && !(await hasArrived(tx, row)))
    await touchDomain(tx, row);
  await tx.insertInto('feedback_reports').values(row).execute();
  if (kept.complaint)
    await addComplaint(tx, app, row, kept.complaint, reporter?.title ?? item.label);
  await addBounces(tx, app, row, kept.bounces);
  if (status === 'counted') await countReport(tx, app, row);
  // A report of usual size is recorded in one transaction.
  if (row.row_count === 0 || kept.batches.length > 1) return row;
  await storeOnlyBatch(tx, row, kept);
  return { ...row, stored_rows: row.row_count };
}

/** null without any proof: neither a signature nor an upload by a person. */
async function findSender(
  tx: Tx,
  { mail, signer }: Recording,
  { type, label, attached }: PreparedReport,
): Promise<ReporterIdentity | null> {
  if (mail.source === 'upload') return uploadedReporter(tx, label, type);
  return signedReporter(signer, { type, attached });
}

/**
 * Records a report: its status and its sums in one transaction, then its rows in short ones. Each step leaves a mark by which a
 * repetition goes on, so that a crash between two of them neither loses nor doubles anything.
 */

import type { App } from '../../app.ts';
import { findDomainOf, findDomain as shareDomain } from '../../domains/queries.ts';
import { lockName, type Tx, transact } from '../../store/open.ts';
import type { FeedbackMailRow, FeedbackReportRow } from '../../store/tables.generated.ts';
import { untilAvailable } from '../../store/until-available.ts';
import { REFUSAL_REASONS, type Refusal } from '../reading/report.ts';
import type { ReportStatus } from '../status.ts';
import type { PreparedItem, PreparedReport } from '../thread/prepare.ts';
import type { Verifications } from '../thread/verify.ts';
import { limitRows } from './limit-rows.ts';
import { addBounces, addComplaint } from './messages.ts';
import { upsertReporter } from './reporters.ts';
import { storeOnlyBatch, storeRows } from './rows.ts';
import { learnReportedSelectors } from './selectors.ts';
import { ARRIVALS, countReport, touchDomain } from './tallies.ts';

export interface Recording {
  mail: FeedbackMailRow;
  /** The place of the item in the mail. */
  position: number;
  item: PreparedItem;
  /** null if it did not come over SMTP, and so need not be verified. */
  verifications: Verifications | null;
}

/** Whether the message that carried it says more about people than what is stored of it. */
export const isPersonal = (item: PreparedItem): boolean =>
  item.ok
    ? item.type === 'complaint' || item.type === 'dmarc_failure' || item.type === 'bounce'
    : item.reason === 'not_a_report';

export async function recordItem(app: App, recording: Recording): Promise<void> {
  const report = await untilAvailable(() => recordOnce(app, recording));
  const { item } = recording;
  if (item.ok && report.stored_rows < report.row_count)
    // As many as it was recorded with, even if it counts by now.
    await storeRows(app.db, report, report.row_count < item.rowCount ? limitRows(item) : item);
  if (item.ok && item.type === 'dmarc') await learnReportedSelectors(app.db, report.id);
}

/** The stored report, which an earlier attempt may have recorded. */
async function recordOnce(app: App, recording: Recording): Promise<FeedbackReportRow> {
  const { mail, position, item } = recording;
  const report = await transact(app.db, async (tx) => {
    const earlier = await tx
      .selectFrom('feedback_reports')
      .selectAll()
      .where('mail_id', '=', mail.id)
      .where('position', '=', position)
      .executeTakeFirst();
    if (earlier) return earlier;
    if (!item.ok) return insertRefusal(tx, app, recording, item);
    // Anyone can send there, and only TLS reports need no verification (RFC 8460 §5.4).
    if (mail.source === 'https' && item.type !== 'tls')
      return insertRefusal(tx, app, recording, NOT_TLS);
    return insertReport(tx, app, recording, item);
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

const baseRow = (app: App, { mail, position }: Recording): FeedbackReportRow => ({
  id: app.newId('fbr'),
  mail_id: mail.id,
  position,
  ...{ type: null, reason: null, detail: null, identity: null, figures: null },
  status: 'refused',
  ...{ original_id: null, reporter_id: null, domain_id: null, policy_domain: null },
  ...{ period_from: null, period_to: null, messages: 0, passed: 0, failed: 0 },
  verified: null,
  source: mail.source,
  suffix: mail.suffix,
  ...{ repaired: '[]', content: '{}', row_count: 0, stored_rows: 0, counted_rows: 0 },
  received_at: mail.received_at,
});

async function insertRefusal(
  tx: Tx,
  app: App,
  recording: Recording,
  { type, reason, detail, excerpt }: Refusal,
): Promise<FeedbackReportRow> {
  const row = {
    ...baseRow(app, recording),
    ...{ type, reason, detail },
    domain_id: recording.mail.domain_id,
    content: JSON.stringify(excerpt ? { excerpt } : {}),
  };
  await tx.insertInto('feedback_reports').values(row).execute();
  return row;
}

async function insertReport(
  tx: Tx,
  app: App,
  recording: Recording,
  item: PreparedReport,
): Promise<FeedbackReportRow> {
  const { mail, verifications } = recording;
  const domain = await findDomain(tx, mail, item);
  if (domain === null) {
    const detail = `${REFUSAL_REASONS.foreign_domain}: ${item.domains[0] ?? 'none'}.`;
    const refusal = { ok: false, reason: 'foreign_domain', detail, type: item.type } as const;
    return insertRefusal(tx, app, recording, refusal);
  }
  // Copies can arrive at several nodes at once.
  await lockName(tx, `feedback report ${item.identity}`);
  const isVerified = verifications === null ? null : isGenuine(item, verifications);
  const reporter = await upsertReporter(tx, app, item.reporter, mail.received_at);
  const original = await findOriginal(tx, item);
  const mayCount = isVerified !== false || reporter.trusted === 1 || item.type === 'bounce';
  const status = statusOf(item, { original, mayCount });
  const hasRows = status === 'counted' || status === 'unverified';
  const kept = status === 'counted' ? item : limitRows(item);
  const row: FeedbackReportRow = {
    ...baseRow(app, recording),
    type: item.type,
    status,
    ...{ identity: item.identity, figures: item.figures },
    original_id: status === 'duplicate' || status === 'conflict' ? original!.id : null,
    reporter_id: reporter.id,
    domain_id: domain.id,
    policy_domain: item.domains[0] ?? null,
    ...{ period_from: item.begin, period_to: item.end },
    ...{ messages: item.messages, passed: item.passed, failed: item.failed },
    verified: isVerified === null ? null : Number(isVerified),
    ...{ repaired: item.repaired, content: contentOf(kept) },
    row_count: hasRows ? kept.rowCount : 0,
  };
  // The first copy to arrive shows that the address works, even after an upload. Anyone can resend a later one.
  if (status === 'duplicate' && mayCount && !(await hasArrived(tx, item)))
    await touchDomain(tx, row);
  await tx.insertInto('feedback_reports').values(row).execute();
  if (hasRows && item.complaint) await addComplaint(tx, app, row, item.complaint);
  if (hasRows) await addBounces(tx, app, row, item.bounces);
  if (status === 'counted') await countReport(tx, app, row);
  // A report of usual size is recorded in one transaction.
  if (row.row_count === 0 || kept.batches.length > 1) return row;
  await storeOnlyBatch(tx, row, kept);
  return { ...row, stored_rows: row.row_count };
}

/** With the sums by day, so that a report that counts later need not be read again. */
const contentOf = ({ content, dmarcDays, tlsDays }: PreparedReport): string =>
  JSON.stringify({ ...JSON.parse(content), dmarc_days: dmarcDays, tls_days: tlsDays });

/** The domain of the team that the report is about. One that names none is about the domain whose address it was sent to. */
async function findDomain(
  tx: Tx,
  { domain_id }: FeedbackMailRow,
  { domains }: PreparedReport,
): Promise<{ id: string } | null> {
  for (const name of domains) {
    const domain = await findDomainOf(tx, name);
    // Until the transaction ends, it cannot be deleted.
    if (domain) return (await shareDomain(tx, domain.id)) ?? null;
  }
  if (domains.length > 0 || domain_id === null) return null;
  return (await shareDomain(tx, domain_id)) ?? null;
}

export const isGenuine = ({ type }: PreparedReport, { any, dkim }: Verifications): boolean =>
  type === 'tls' ? dkim === 'pass' : any === 'pass';

type Original = Pick<FeedbackReportRow, 'id' | 'status' | 'figures'>;

/** The report that counts, or else the first copy that waits for its reporter to be trusted. */
async function findOriginal(tx: Tx, { identity }: PreparedReport): Promise<Original | null> {
  const copies = await tx
    .selectFrom('feedback_reports')
    .select(['id', 'status', 'figures'])
    .where('identity', '=', identity)
    .where('status', 'in', ['counted', 'unverified'])
    // In this order, the report that counts is first.
    .orderBy('status')
    .orderBy('id')
    .limit(1)
    .execute();
  return copies[0] ?? null;
}

/** Whether a copy that may count came from a reporter, rather than from a person. */
async function hasArrived(tx: Tx, { identity }: PreparedReport): Promise<boolean> {
  const copy = await tx
    .selectFrom('feedback_reports')
    .select('id')
    .where('identity', '=', identity)
    .where('status', 'in', ['counted', 'duplicate'])
    .where('source', 'in', ARRIVALS)
    .where('verified', 'is distinct from', 0)
    .limit(1)
    .executeTakeFirst();
  return copy !== undefined;
}

/** A forged copy that came first does not keep the genuine one from counting. */
function statusOf(
  { figures }: PreparedReport,
  { original, mayCount }: { original: Original | null; mayCount: boolean },
): ReportStatus {
  if (original === null || (original.status === 'unverified' && mayCount))
    return mayCount ? 'counted' : 'unverified';
  if (original.figures === figures) return 'duplicate';
  return original.status === 'counted' ? 'conflict' : 'unverified';
}

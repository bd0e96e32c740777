/**
 * Records reports. One transaction stores the status and sums of several waiting reports, with their rows if they are few. The rows
 * of a large report follow in short transactions. Each step stores its progress, so that after a crash, the next attempt continues
 * without losing or repeating anything.
 */

import type { App } from '../../app.ts';
import { createBatches } from '../../lib/batches.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { isUnavailable } from '../../store/errors.ts';
import { type Tx, transact } from '../../store/open.ts';
import type { FeedbackReporterRow, FeedbackReportRow } from '../../store/tables.generated.ts';
import { untilAvailable } from '../../store/until-available.ts';
import { ofReporter } from '../reading/identity.ts';
import { REFUSAL_REASONS, type Refusal } from '../reading/report.ts';
import { type ReporterIdentity, type Signer, signedReporter } from '../senders/reporter.ts';
import { VERDICTS, type Verdict } from '../status.ts';
import { bytesLeftForReport } from '../storage/stored.ts';
import { freeBytesFor, type StorageUsage, storageUsage } from '../storage/usage.ts';
import type { PreparedItem, PreparedReport } from '../thread/prepare.ts';
import { findOriginal, hasArrived, lockCopies, statusBeside } from './copies.ts';
import { findDomains } from './domains.ts';
import { contentOf, limitReport } from './limit-rows.ts';
import { addBounces, addComplaint } from './messages.ts';
import { implausibleCount } from './plausible.ts';
import { baseRow, insertRefusal, insertRow, type Recording } from './report-row.ts';
import {
  type ReporterSighting,
  sightingOf,
  uploadedReporter,
  upsertReporter,
} from './reporters.ts';
import { storeOnlyBatches, storeRows } from './rows.ts';
import { learnReportedSelectors } from './selectors.ts';
import { countReports, leaveReporter } from './tallies.ts';

/** Whether the message that carried it says more about people than what is stored of it. */
export const isPersonal = (item: PreparedItem): boolean =>
  item.ok
    ? item.type === 'complaint' || item.type === 'dmarc_failure' || item.type === 'bounce'
    : item.reason === 'not_a_report';

export async function recordItem(app: App, recording: Recording): Promise<void> {
  const report = await batchesOf(app)(recording);
  const { item } = recording;
  // The rows of an uncounted report are already stored.
  if (!item.ok || report.stored_rows === report.row_count) return;
  await storeRows(app.db, report, item);
  if (item.type === 'dmarc') await learnReportedSelectors(app.db, [report.id]);
}

/** In rows. A transaction with this many takes about 20 ms. */
export const MAX_BATCH_WEIGHT = 1500;
/** The cost of a report without its rows, in rows. */
const REPORT_WEIGHT = 10;

/** The cost of an item in a transaction, in rows. */
export function weightOf(item: PreparedItem, signer: Signer | null = null): number {
  // A signed refusal may lock its domain and reporter after those of other reports, so it is not combined.
  if (!item.ok) return signer === null ? REPORT_WEIGHT : MAX_BATCH_WEIGHT;
  // Other types lock sums in a different order.
  if (item.type !== 'dmarc' && item.type !== 'tls') return MAX_BATCH_WEIGHT;
  return REPORT_WEIGHT + (item.batches.length === 1 ? item.rowCount : 0);
}

const batchesOf = memoizePerObject((app: App) =>
  createBatches<Recording, FeedbackReportRow>({
    run: (recordings) => untilAvailable(() => recordTogether(app, recordings)),
    weigh: ({ item, signer }) => weightOf(item, signer),
    maxWeight: MAX_BATCH_WEIGHT,
    isCommon: isUnavailable,
  }),
);

/** Returns the stored reports. An earlier attempt may have recorded some of them. */
async function recordTogether(app: App, recordings: Recording[]): Promise<FeedbackReportRow[]> {
  const usage = await storageUsage(app);
  const reports = await transact(app.db, async (tx) => {
    const mails = new Set(recordings.map(({ mail }) => mail.id));
    const earlier = new Map(
      (await findRecorded(tx, [...mails])).map((report) => [placeOf(report), report]),
    );
    const found = recordings.map(({ mail, position }) =>
      earlier.get(placeOf({ mail_id: mail.id, position })),
    );
    const added = await insertAll(
      tx,
      app,
      recordings.filter((_, index) => !found[index]),
      usage,
    );
    return found.map((report) => report ?? added.shift()!);
  });
  for (const { type, status } of reports)
    app.metrics.feedbackReports.inc({ type: type ?? 'unknown', status });
  const complete = reports.filter(
    ({ type, status, row_count, stored_rows }) =>
      type === 'dmarc' && status === 'counted' && stored_rows === row_count,
  );
  await learnReportedSelectors(
    app.db,
    complete.map(({ id }) => id),
  );
  return reports;
}

const placeOf = ({ mail_id, position }: Pick<FeedbackReportRow, 'mail_id' | 'position'>) =>
  `${mail_id} ${position}`;

const findRecorded = (tx: Tx, mails: string[]): Promise<FeedbackReportRow[]> =>
  tx.selectFrom('feedback_reports').selectAll().where('mail_id', 'in', mails).execute();

const NOT_TLS: Refusal = {
  ok: false,
  reason: 'unsupported',
  detail: 'Only TLS reports are accepted over HTTPS.',
  type: null,
};

const msOf = (time: string | null): number | undefined => (time ? Date.parse(time) : undefined);

/** With its day: the figures may be there from another copy, so that nothing is missing. */
const storageFull = ({ type, domains, begin, end, figures }: PreparedReport): Refusal => ({
  ok: false,
  reason: 'storage_full',
  detail: `${REFUSAL_REASONS.storage_full}.`,
  type,
  about: { domain: domains[0], begin: msOf(begin), end: msOf(end) },
  digest: figures,
});

/** Of copies and of reports that contradict another one, only the figures are kept. */
const NO_ROWS = { batches: [], rowCount: 0, complaint: null, bounces: [] };

/** A report about a domain of the team. */
interface Attributed {
  item: PreparedReport;
  sender: ReporterIdentity | null;
  identified: Pick<FeedbackReportRow, 'identity' | 'figures' | 'source'> & {
    file_identity: string;
    domain_id: string;
  };
}

/** Changes that are made once for all reports of a batch. */
interface BatchChanges {
  counted: FeedbackReportRow[];
  touched: FeedbackReportRow[];
  stored: { report: FeedbackReportRow; batch: string }[];
}

/** Locks shared rows in the same order as other transactions, to avoid deadlocks. */
async function insertAll(
  tx: Tx,
  app: App,
  recordings: Recording[],
  usage: StorageUsage,
): Promise<FeedbackReportRow[]> {
  const attributed = await attributeAll(tx, recordings);
  await lockCopies(tx, ...attributed.flatMap((one) => ('item' in one ? [one.identified] : [])));
  const reporters = await addReporters(tx, app, recordings, attributed);
  const changes: BatchChanges = { counted: [], touched: [], stored: [] };
  const rows: FeedbackReportRow[] = [];
  for (const [index, recording] of recordings.entries()) {
    const one = attributed[index]!;
    const row =
      'item' in one
        ? await insertReport(tx, app, { ...recording, ...one, reporters, usage }, changes)
        : await insertRefusal(tx, app, recording, one);
    rows.push(row);
  }
  await countReports(tx, app, changes.counted, changes.touched);
  if (changes.stored.length > 0) await storeOnlyBatches(tx, changes.stored);
  return rows;
}

async function attributeAll(tx: Tx, recordings: Recording[]): Promise<(Attributed | Refusal)[]> {
  const domains = await findDomains(
    tx,
    recordings.map(({ mail, item }) =>
      item.ok
        ? { domains: item.domains, addressed: mail.domain_id }
        : { domains: [], addressed: null },
    ),
  );
  const attributed: (Attributed | Refusal)[] = [];
  for (const [index, recording] of recordings.entries()) {
    const { mail, item } = recording;
    const domain_id = domains[index] ?? null;
    if (!item.ok) attributed.push(item);
    // Over HTTPS, nothing shows the sender, and only TLS reports use it (RFC 8460 §5.4).
    else if (mail.source === 'https' && item.type !== 'tls') attributed.push(NOT_TLS);
    else if (domain_id === null) attributed.push(foreign(item));
    else {
      const sender = await findSender(tx, recording, item);
      const identified = {
        identity: ofReporter(sender?.name ?? null, item.identity),
        file_identity: item.fileIdentity,
        figures: item.figures,
        source: mail.source,
        domain_id,
      };
      attributed.push({ item, sender, identified });
    }
  }
  return attributed;
}

const foreign = ({ type, domains }: PreparedReport): Refusal => ({
  ok: false,
  reason: 'foreign_domain',
  detail: `${REFUSAL_REASONS.foreign_domain}: ${domains[0] ?? 'none'}.`,
  type,
});

type Reporters = Map<string, FeedbackReporterRow>;

/** Adds or updates the reporters. Returns them by name. */
async function addReporters(
  tx: Tx,
  app: App,
  recordings: Recording[],
  attributed: (Attributed | Refusal)[],
): Promise<Reporters> {
  const found = new Map<string, { sender: ReporterIdentity } & ReporterSighting>();
  for (const [index, one] of attributed.entries()) {
    if (!('item' in one) || one.sender === null) continue;
    const { name } = one.sender;
    const sighting = sightingOf(one.item.label, recordings[index]!.mail.received_at);
    const sum = found.get(name);
    if (!sum) found.set(name, { sender: one.sender, ...sighting });
    else {
      sum.reports += 1;
      if (sighting.first_at < sum.first_at) sum.first_at = sighting.first_at;
      if (sighting.last_at > sum.last_at) sum.last_at = sighting.last_at;
    }
  }
  const reporters: Reporters = new Map();
  for (const name of [...found.keys()].sort()) {
    const { sender, ...sighting } = found.get(name)!;
    reporters.set(name, await upsertReporter(tx, app, sender, sighting));
  }
  return reporters;
}

async function insertReport(
  tx: Tx,
  app: App,
  recording: Recording & Attributed & { reporters: Reporters; usage: StorageUsage },
  changes: BatchChanges,
): Promise<FeedbackReportRow> {
  const { mail, position, item, sender, identified, reporters, usage } = recording;
  const { domain_id } = identified;
  const isMail = mail.source === 'smtp' || mail.source === 'imap';
  const reporter = sender && reporters.get(sender.name)!;
  const isTrusted = mail.source === 'upload' || reporter?.trusted === 1;
  const waits = reporter === null ? 'unverified' : 'unconfirmed';
  const isChecked = isTrusted && mail.source !== 'upload';
  const detail = isChecked ? await implausibleCount(tx, { ...item, domain_id }) : null;
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
          domain_id === mail.domain_id ? Number.POSITIVE_INFINITY : freeBytesFor(usage, domain_id),
        ),
      )
    : stored;
  if (kept === null) {
    if (reporter !== null) await leaveReporter(tx, { reporter_id: reporter.id, status: 'refused' });
    return insertRefusal(tx, app, recording, storageFull(item));
  }
  // Rows that fit into one batch are stored in this transaction.
  const storedRows = kept.batches.length === 1 ? kept.rowCount : 0;
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
    stored_rows: storedRows,
    counted_rows: status === 'counted' ? storedRows : 0,
  };
  // The first copy to arrive shows that the address works, even after an upload. Anyone can resend a later one.
  if (status === 'duplicate' && verdict === 'counted' && !(await hasArrived(tx, row)))
    changes.touched.push(row);
  await insertRow(tx, row);
  if (kept.complaint)
    await addComplaint(tx, app, row, kept.complaint, reporter?.title ?? item.label);
  await addBounces(tx, app, row, kept.bounces);
  if (status === 'counted') changes.counted.push(row);
  if (storedRows > 0) changes.stored.push({ report: row, batch: kept.batches[0]! });
  return row;
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

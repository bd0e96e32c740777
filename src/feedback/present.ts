/** The JSON of feedback, in the API and in events. */

import type {
  BounceRow,
  ComplaintRow,
  DmarcRowRow,
  FeedbackReporterRow,
  FeedbackReportRow,
  TlsFailureRow,
} from '../store/tables.generated.ts';
import { explainBounce } from './bounces/explain.ts';
import { isSum, NO_ADDRESS } from './reading/fold-rows.ts';
import { REFUSAL_REASONS, type RefusalReason } from './reading/report.ts';
import type { Bounce, Complaint } from './schemas/message.ts';
import type { FeedbackReport, FeedbackRow, ListedReport } from './schemas/report.ts';
import type { ReporterKind } from './senders/reporter.ts';
import type { FeedbackReporter } from './senders/schema.ts';

/** A report with the name of its reporter. */
export type NamedReport = FeedbackReportRow & { reporter: string | null };

export function presentListedReport(row: NamedReport): ListedReport {
  const { id, type, status, reason, detail, domain_id, policy_domain, reporter } = row;
  const content = JSON.parse(row.content) as { report_id?: string };
  return {
    id,
    object: 'feedback_report' as const,
    type: type as ListedReport['type'],
    status: status as ListedReport['status'],
    reason: reason as RefusalReason | null,
    detail: detail ?? (reason === null ? null : `${REFUSAL_REASONS[reason as RefusalReason]}.`),
    domain_id,
    policy_domain,
    reporter,
    reporter_id: row.reporter_id,
    label: row.label,
    report_id: content.report_id ?? null,
    period: row.period_from === null ? null : { from: row.period_from, to: row.period_to! },
    messages: row.messages,
    passed: row.passed,
    failed: row.failed,
    verified: row.verified === null ? null : row.verified === 1,
    source: row.source as ListedReport['source'],
    suffix: row.suffix,
    repaired: JSON.parse(row.repaired),
    original_id: row.original_id,
    received_at: row.received_at,
  };
}

interface Content {
  policies?: object[];
  excerpt?: object;
  dmarc_days?: unknown;
  tls_days?: unknown;
}

/** With its rows, policies or details. */
export function presentReport(
  row: NamedReport,
  parts: { rows: DmarcRowRow[]; failures: TlsFailureRow[]; isSourceKept: boolean },
): FeedbackReport {
  const {
    dmarc_days: _days,
    tls_days: _sessions,
    policies,
    ...details
  } = JSON.parse(row.content) as Content;
  return {
    ...presentListedReport(row),
    row_count: row.row_count,
    rows: row.type === 'dmarc' ? parts.rows.map(presentRow) : null,
    policies: row.type === 'tls' ? ((policies ?? []) as never) : null,
    failures: row.type === 'tls' ? parts.failures.map(presentFailure) : null,
    details: details as Record<string, unknown>,
    source_kept: parts.isSourceKept,
  };
}

export function presentRow(row: DmarcRowRow): FeedbackRow {
  const { report_id: _report, domain_id: _domain, counted: _counted, ...rest } = row;
  const { position, results, reasons, ...columns } = rest;
  return {
    id: `${row.report_id}.${position}`,
    object: 'feedback_row',
    ...(columns as Omit<typeof columns, 'outcome'> & { outcome: 'pass' | 'fail' }),
    address: columns.address === NO_ADDRESS ? null : columns.address,
    folded: isSum(columns.address),
    results: results === null ? null : JSON.parse(results),
    reasons: reasons === null ? [] : JSON.parse(reasons),
  } as FeedbackRow;
}

const presentFailure = ({
  result_type,
  receiving_mx,
  sending_ip,
  reason_code,
  sessions,
}: TlsFailureRow) => ({ result_type, receiving_mx, sending_ip, reason_code, sessions });

export const presentReporter = (row: FeedbackReporterRow): FeedbackReporter => ({
  id: row.id,
  object: 'feedback_reporter',
  name: row.title ?? row.name,
  label: row.label,
  kind: (row.kind as ReporterKind | null) ?? 'earlier',
  status: row.kind === 'known' ? 'known' : row.trusted === 1 ? 'confirmed' : 'unconfirmed',
  first_at: row.first_at,
  last_at: row.last_at,
  reports: row.reports,
  counted: row.counted,
});

export function presentComplaint(row: ComplaintRow): Complaint {
  const { day: _day, ...columns } = row;
  return { ...columns, object: 'complaint' };
}

export function presentBounce(row: BounceRow): Bounce {
  const { day: _day, position: _position, authenticated, ...columns } = row;
  const explained = explainBounce(row);
  const explanation = explained && {
    provider: explained.provider,
    text: explained.text,
    reference: explained.reference,
  };
  return {
    ...columns,
    object: 'bounce',
    authenticated: authenticated === null ? null : authenticated === 1,
    explanation,
  } as Bounce;
}

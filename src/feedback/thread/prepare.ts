/** Turns what was read into what is stored, in the thread, so that the main thread only passes it on. */

import { DMARC_COUNTS, type DmarcCounts, STOPPED } from '../../figures/dmarc.ts';
import { valuesOf } from '../../figures/figure.ts';
import { isoTime } from '../../lib/clock.ts';
import { cleanText } from '../../store/text.ts';
import { outcomeOf } from '../reading/dmarc-rows.ts';
import { NO_ADDRESS } from '../reading/fold-rows.ts';
import type {
  BounceReport,
  Complaint,
  DmarcFailure,
  DmarcReport,
  DmarcRow,
  ReadItem,
  ReadReport,
  Refusal,
  Report,
  ReportType,
  TlsReport,
} from '../reading/report.ts';
import { spread } from './spread.ts';

export type PreparedItem = PreparedReport | Refusal;

export interface PreparedReport {
  ok: true;
  type: ReportType;
  /** What the report calls its reporter. */
  label: string;
  identity: string;
  fileIdentity: string;
  figures: string;
  attached: boolean;
  /** The domains that it may be about; the first one that is the team's counts. Empty if it names none. */
  domains: string[];
  /** ISO times; null for reports of one message. */
  begin: string | null;
  end: string | null;
  messages: number;
  passed: number;
  failed: number;
  /** JSON lists. */
  repaired: string;
  content: string;
  /** By day, in ascending order. */
  dmarcDays: DmarcDay[];
  tlsDays: TlsDay[];
  /** JSON lists of at most `BATCH_ROWS` rows of `dmarc_rows` or `tls_failures`, without the columns of the report. */
  batches: string[];
  rowCount: number;
  complaint: PreparedComplaint | null;
  bounces: PreparedBounce[];
}

export interface DmarcDay extends DmarcCounts {
  day: string;
}

export interface TlsDay {
  day: string;
  succeeded: number;
  failed: number;
}

export type PreparedComplaint = Record<
  | 'kind'
  | 'address'
  | 'from_domain'
  | 'subject'
  | 'message_id'
  | 'recipient_domain'
  | 'list_id'
  | 'feedback_id'
  | 'dkim_domain'
  | 'arrived_at',
  string | null
> & { kind: string };

export type PreparedBounce = Record<
  | 'class'
  | 'action'
  | 'status_code'
  | 'diagnostic'
  | 'remote_server'
  | 'reporting_server'
  | 'from_domain'
  | 'recipient_domain'
  | 'message_id',
  string | null
> & { class: string; action: string };

/** Small enough to be written in a few milliseconds. */
export const BATCH_ROWS = 500;

export const prepare = (item: ReadItem): PreparedItem => (item.ok ? prepareReport(item) : item);

const EMPTY = {
  begin: null,
  end: null,
  messages: 0,
  passed: 0,
  failed: 0,
  dmarcDays: [],
  tlsDays: [],
  batches: [],
  rowCount: 0,
  complaint: null,
  bounces: [],
};

function prepareReport({
  report,
  identity,
  fileIdentity,
  figures,
  attached,
  repaired,
}: ReadReport): PreparedReport {
  const common = {
    ok: true as const,
    type: report.type,
    label: report.reporter,
    identity,
    fileIdentity,
    figures,
    attached,
    repaired: JSON.stringify(repaired),
  };
  return { ...EMPTY, ...common, ...partsOf(report) };
}

type Parts = Pick<PreparedReport, 'domains' | 'content'> & Partial<PreparedReport>;

function partsOf(report: Report): Parts {
  switch (report.type) {
    case 'dmarc':
      return dmarcParts(report);
    case 'tls':
      return tlsParts(report);
    case 'dmarc_failure':
      return failureParts(report);
    case 'complaint':
      return complaintParts(report);
    case 'bounce':
      return bounceParts(report);
  }
}

const sum = (counts: number[]): number => counts.reduce((all, count) => all + count, 0);

function inBatches(rows: object[]): Pick<PreparedReport, 'batches' | 'rowCount'> {
  const batches: string[] = [];
  for (let start = 0; start < rows.length; start += BATCH_ROWS)
    // PostgreSQL reads no NUL and no half of a character in JSON.
    batches.push(
      JSON.stringify(rows.slice(start, start + BATCH_ROWS), (_key, value) =>
        typeof value === 'string' ? cleanText(value) : value,
      ),
    );
  return { batches, rowCount: rows.length };
}

const namesOf = (...domains: (string | null)[]): string[] => [
  ...new Set(domains.filter((domain) => domain !== null)),
];

// DMARC.

function dmarcParts(report: DmarcReport): Parts {
  const { begin, end, rows, totals, policy, email, extraContact, errors, generator } = report;
  const of = (matches: (total: DmarcReport['totals'][number]) => boolean) =>
    sum(totals.filter(matches).map(({ count }) => count));
  const day = isoTime(begin).slice(0, 10);
  return {
    domains: namesOf(report.domain),
    begin: isoTime(begin),
    end: isoTime(end),
    messages: of(() => true),
    passed: of(({ outcome }) => outcome === 'pass'),
    failed: of(({ outcome }) => outcome === 'fail'),
    content: JSON.stringify({
      report_id: report.reportId,
      policy,
      email,
      extra_contact: extraContact,
      errors,
      generator,
      folded_rows: report.foldedRows,
      folded_messages: report.foldedMessages,
    }),
    dmarcDays: dmarcDays(report),
    ...inBatches(rows.map((row, position) => storedRow(row, position, day))),
  };
}

/** Each combination of results is spread over the days, so that the counts of a day add up. */
function dmarcDays({ begin, end, totals }: DmarcReport): DmarcDay[] {
  const days = new Map<string, DmarcDay>();
  for (const { outcome, disposition, overridden, count } of totals)
    for (const [day, part] of spread(count, begin, end)) {
      const tally = days.get(day) ?? { day, ...valuesOf(DMARC_COUNTS, 'name', () => 0) };
      days.set(day, tally);
      tally.messages += part;
      tally[outcome === 'pass' ? 'passed' : 'failed'] += part;
      const column = DISPOSITION_COLUMNS[disposition];
      if (column !== null) tally[column] += part;
      if (overridden) tally.overridden += part;
    }
  return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}

const DISPOSITION_COLUMNS = {
  none: 'none' as const,
  unknown: null,
  ...valuesOf(STOPPED, 'disposition', ({ name }) => name),
};

function storedRow(row: DmarcRow, position: number, day: string): object {
  const { dkimResults, spfResults, reasons } = row;
  const dkim = dkimResults.find(({ result }) => result === 'pass') ?? dkimResults[0];
  const spf = spfResults.find(({ result }) => result === 'pass') ?? spfResults[0];
  const hasMore = dkimResults.length > 1 || spfResults.length > 1;
  const detail = [...dkimResults, ...spfResults].some(({ humanResult }) => humanResult !== null);
  return {
    position,
    day,
    address: row.address ?? NO_ADDRESS,
    count: row.count,
    outcome: outcomeOf(row),
    dkim: row.dkim,
    spf: row.spf,
    disposition: row.disposition,
    header_from: row.headerFrom,
    envelope_from: row.envelopeFrom,
    envelope_to: row.envelopeTo,
    dkim_domain: dkim?.domain ?? null,
    dkim_selector: dkim?.selector ?? null,
    dkim_result: dkim?.result ?? null,
    spf_domain: spf?.domain ?? null,
    spf_result: spf?.result ?? null,
    results: hasMore || detail ? JSON.stringify({ dkim: dkimResults, spf: spfResults }) : null,
    reasons: reasons.length > 0 ? JSON.stringify(reasons) : null,
  };
}

// TLS.

const MAX_SHOWN_POLICIES = 100;

function tlsParts(report: TlsReport): Parts {
  const { begin, end, policies } = report;
  const succeeded = sum(policies.map((policy) => policy.succeeded));
  const failed = sum(policies.map((policy) => policy.failed));
  const days = new Map<string, TlsDay>();
  const add = (column: 'succeeded' | 'failed', count: number) => {
    for (const [day, part] of spread(count, begin, end)) {
      const tally = days.get(day) ?? { day, succeeded: 0, failed: 0 };
      days.set(day, tally);
      tally[column] += part;
    }
  };
  add('succeeded', succeeded);
  add('failed', failed);
  const day = isoTime(begin).slice(0, 10);
  const failures = policies.flatMap((policy) => policy.failures);
  return {
    domains: namesOf(policies[0]?.policyDomain ?? null),
    begin: isoTime(begin),
    end: isoTime(end),
    messages: succeeded + failed,
    passed: succeeded,
    failed,
    content: JSON.stringify({
      report_id: report.reportId,
      contact: report.contact,
      policies: policies.slice(0, MAX_SHOWN_POLICIES).map((policy) => ({
        policy_type: policy.policyType,
        policy_domain: policy.policyDomain,
        policy_string: policy.policyString,
        mx_hosts: policy.mxHosts,
        succeeded: policy.succeeded,
        failed: policy.failed,
      })),
    }),
    tlsDays: [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1)),
    ...inBatches(
      failures.map((failure, position) => ({
        position,
        day,
        result_type: failure.resultType,
        receiving_mx: failure.receivingMx,
        sending_ip: failure.sendingIp,
        reason_code: failure.reasonCode ?? failure.additionalInformation,
        sessions: failure.sessions,
      })),
    ),
  };
}

// Reports about one message.

const timeOf = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

const contentOf = ({ message, derived, ...report }: Complaint | DmarcFailure): string =>
  JSON.stringify({
    ...report,
    arrivedAt: timeOf(report.arrivedAt),
    derived,
    message: { ...message, date: timeOf(message.date) },
  });

function failureParts(report: DmarcFailure): Parts {
  return {
    domains: namesOf(report.domain, report.message.fromDomain),
    messages: report.incidents,
    failed: report.incidents,
    content: contentOf(report),
  };
}

function complaintParts(report: Complaint): Parts {
  const { message } = report;
  // Anyone can write any domain into a message that is then reported. The loop says which one it is about, if it does.
  const isNamed = report.domain !== null && !report.derived.includes('domain');
  const signing = message.dkim.map(({ domain }) => domain);
  return {
    domains: isNamed
      ? namesOf(report.domain)
      : namesOf(report.domain, message.fromDomain, ...signing),
    messages: report.incidents,
    content: contentOf(report),
    complaint: {
      kind: report.kind,
      address: report.sourceAddress,
      from_domain: message.fromDomain,
      subject: message.subject,
      message_id: message.messageId,
      recipient_domain: report.recipientDomain,
      list_id: message.listId,
      feedback_id: message.feedbackId,
      dkim_domain: message.dkim[0]?.domain ?? null,
      arrived_at: timeOf(report.arrivedAt),
    },
  };
}

function bounceParts(report: BounceReport): Parts {
  const { message, recipients, reportingServer } = report;
  const { arrivedAt, ...rest } = report;
  return {
    domains: namesOf(report.domain),
    messages: recipients.length,
    failed: recipients.filter(({ action }) => action === 'failed').length,
    content: JSON.stringify({
      ...rest,
      arrivedAt: timeOf(arrivedAt),
      message: { ...message, date: timeOf(message.date) },
      recipients: recipients.slice(0, 100).map(({ key: _key, ...recipient }) => recipient),
    }),
    bounces: recipients.map((recipient) => ({
      class: recipient.class,
      action: recipient.action,
      status_code: recipient.status,
      diagnostic: recipient.diagnostic,
      remote_server: recipient.remoteServer,
      reporting_server: reportingServer,
      from_domain: message.fromDomain,
      recipient_domain: recipient.domain,
      message_id: message.messageId,
    })),
  };
}

/** API schemas of feedback. */

import * as v from 'valibot';
import { FeedbackState } from '../domains/schema.ts';
import { asText, labeled, quoted } from '../events/line.ts';
import { DMARC_COUNTS, STOPPED } from '../figures/dmarc.ts';
import { valuesOf } from '../figures/figure.ts';
import type { EventDeclaration } from '../http/openapi/webhooks.ts';
import { described, exampleId, idOf, named, PAGE_QUERY, Time, typeField } from '../http/schemas.ts';
import { isDay } from '../lib/clock.ts';
import { FEEDBACK_ORIGINS } from './intake.ts';
import { BOUNCE_CLASSES, DISPOSITIONS, REFUSAL_REASONS, REPORT_TYPES } from './reading/report.ts';
import { REPORT_STATUSES } from './status.ts';

const Text = v.nullable(v.string());
const Count = v.pipe(v.number(), v.integer());
const ReportType = v.picklist(REPORT_TYPES, `must be one of ${REPORT_TYPES.join(', ')}`);
const ReportStatus = v.picklist(REPORT_STATUSES, `must be one of ${REPORT_STATUSES.join(', ')}`);
const REASONS = Object.keys(REFUSAL_REASONS) as (keyof typeof REFUSAL_REASONS)[];

const Period = named(
  'FeedbackPeriod',
  v.object({
    from: described(Time, 'When the period begins.'),
    to: described(Time, 'When the period ends.'),
  }),
  'The period of a report.',
);

const REPORT = {
  id: described(v.string(), 'The ID of the report.'),
  object: typeField('feedback_report'),
  type: described(
    v.nullable(v.picklist(REPORT_TYPES)),
    'The type of the report. Null if it could not be read.',
  ),
  status: described(
    v.picklist(REPORT_STATUSES),
    '`counted`: it is part of all sums. `duplicate`: the same report was counted before. `conflict`: a report of the same reporter and ID with other figures was counted before. `unconfirmed`: nobody has confirmed its reporter. `implausible`: it counts far more messages than all others. `unverified`: nothing shows who sent it. `refused`: it could not be read, or is about another domain.',
  ),
  reason: described(v.nullable(v.picklist(REASONS)), 'Why the report was not accepted.'),
  detail: described(
    Text,
    'The reason in a sentence, with what was found. Reports with an implausible count have one, too, also those of known receivers, which count.',
    'The gzip data is damaged.',
  ),
  domain_id: described(Text, 'The ID of the domain that the report is about.'),
  policy_domain: described(
    Text,
    'The domain that the report names. It can be a subdomain of the domain.',
  ),
  reporter: described(
    Text,
    'The reporter: the domain or address that the message authenticates. For uploads, the name in the report. Null if nothing shows who sent it.',
  ),
  reporter_id: described(Text, 'The ID of the reporter.'),
  label: described(
    Text,
    'What the report calls its reporter, in lower case. Anyone can write this name.',
    'receiver ltd',
  ),
  report_id: described(Text, 'The ID that the reporter gave to the report.'),
  period: described(
    v.nullable(Period),
    'The period of the report. Null if it is about one message.',
  ),
  messages: described(
    Count,
    'The number of messages, sessions (`tls`), complaints or recipients (`bounce`).',
  ),
  passed: described(
    Count,
    'Messages whose evaluated DKIM or SPF result is a pass, or successful sessions.',
  ),
  failed: described(Count, 'Messages for which both results failed, or failed sessions.'),
  verified: described(
    v.nullable(v.boolean()),
    'Whether SPF or DKIM shows who sent the message that carried the report. Null if the report did not arrive in a message.',
  ),
  source: described(v.picklist(FEEDBACK_ORIGINS), 'How the report arrived.'),
  suffix: described(
    Text,
    'What follows the plus sign in the address that it was sent to.',
    'yahoo',
  ),
  repaired: described(v.array(v.string()), 'What had to be repaired to read the report, in words.'),
  original_id: described(Text, 'The report that it repeats or contradicts.', exampleId('fbr')),
  received_at: described(Time, 'When the report arrived.'),
};

const EXAMPLE = {
  id: exampleId('fbr'),
  object: 'feedback_report',
  type: 'dmarc',
  status: 'counted',
  reason: null,
  detail: null,
  domain_id: exampleId('dom'),
  policy_domain: 'example.com',
  reporter: 'receiver.example',
  reporter_id: exampleId('rep'),
  label: 'receiver ltd',
  report_id: '1795219200.1187',
  period: { from: '2026-11-21T00:00:00.000Z', to: '2026-11-21T23:59:59.000Z' },
  messages: 42,
  passed: 40,
  failed: 2,
  verified: true,
  source: 'smtp',
  suffix: null,
  repaired: [],
  original_id: null,
  received_at: '2026-11-22T01:00:00.000Z',
} as const;

export const ListedReport = named(
  'FeedbackReportListItem',
  v.object(REPORT),
  'A report as lists contain it.',
  EXAMPLE as never,
);
export type ListedReport = v.InferOutput<typeof ListedReport>;

const AuthResult = named(
  'FeedbackAuthResult',
  v.object({
    domain: described(Text, 'The domain that was checked.'),
    selector: described(v.optional(Text), 'The DKIM selector.'),
    scope: described(v.optional(Text), 'The SPF scope: `mfrom` or `helo`.'),
    result: described(v.string(), 'The result, as in RFC 8601.'),
    humanResult: described(Text, 'What the reporter says about it.'),
  }),
  'The result of one DKIM signature or one SPF check, without alignment.',
  {
    domain: 'example.com',
    selector: 's1',
    scope: 'mfrom',
    result: 'pass',
    humanResult: '2048-bit key',
  },
);

const AuthResults = named(
  'FeedbackAuthResults',
  v.object({
    dkim: described(v.array(AuthResult), 'The DKIM signatures.'),
    spf: described(v.array(AuthResult), 'The SPF checks.'),
  }),
  'All results of the messages of a row.',
  {
    dkim: [{ domain: 'example.com', selector: 's1', result: 'pass', humanResult: null }],
    spf: [{ domain: 'example.com', scope: 'mfrom', result: 'fail', humanResult: null }],
  },
);

const OverrideReason = named(
  'DmarcOverrideReason',
  v.object({
    type: described(v.string(), 'Such as `mailing_list` or `local_policy`.'),
    comment: described(Text, 'What the receiver says about it.'),
  }),
  'Why a receiver did not apply the policy.',
  { type: 'mailing_list', comment: 'arc=pass' },
);

export const FeedbackRow = named(
  'FeedbackRow',
  v.object({
    id: described(v.string(), 'The ID of the report, a dot, and the number of the row.'),
    object: typeField('feedback_row'),
    day: described(v.string(), 'The day on which the period of the report begins, in UTC.'),
    address: described(
      Text,
      'The IP address of the sender. Null in rows that sum up those with the fewest messages.',
    ),
    count: described(Count, 'The number of messages.'),
    outcome: described(v.picklist(['pass', 'fail']), '`fail`: both evaluated results failed.'),
    dkim: described(
      v.picklist(['pass', 'fail']),
      'DKIM with alignment, as the receiver evaluated it.',
    ),
    spf: described(
      v.picklist(['pass', 'fail']),
      'SPF with alignment, as the receiver evaluated it.',
    ),
    disposition: described(v.picklist(DISPOSITIONS), 'What the receiver did with the messages.'),
    header_from: described(Text, 'The From domain.'),
    envelope_from: described(Text, 'The domain of MAIL FROM.'),
    envelope_to: described(Text, 'The domain of the recipients.'),
    dkim_domain: described(Text, 'The domain of the signature that passes, or of the first one.'),
    dkim_selector: described(Text, 'Its selector.'),
    dkim_result: described(Text, 'Its result, without alignment.'),
    spf_domain: described(Text, 'The domain that SPF was checked for.'),
    spf_result: described(Text, 'The SPF result, without alignment.'),
    results: described(v.nullable(AuthResults), 'All results, if there are several.'),
    reasons: described(v.array(OverrideReason), 'Why the receiver did not apply the policy.'),
  }),
  'The messages of one sender in a DMARC report.',
  {
    id: `${exampleId('fbr')}.0`,
    object: 'feedback_row',
    day: '2026-11-21',
    address: '192.0.2.1',
    count: 40,
    outcome: 'pass',
    dkim: 'pass',
    spf: 'fail',
    disposition: 'none',
    header_from: 'example.com',
    envelope_from: 'bounce.example.net',
    envelope_to: 'example.net',
    dkim_domain: 'example.com',
    dkim_selector: 's1',
    dkim_result: 'pass',
    spf_domain: 'bounce.example.net',
    spf_result: 'pass',
    results: {
      dkim: [{ domain: 'example.com', selector: 's1', result: 'pass', humanResult: null }],
      spf: [{ domain: 'example.com', scope: 'mfrom', result: 'fail', humanResult: null }],
    },
    reasons: [{ type: 'mailing_list', comment: 'arc=pass' }],
  },
);
export type FeedbackRow = v.InferOutput<typeof FeedbackRow>;

const TlsPolicy = named(
  'TlsReportPolicy',
  v.object({
    policy_type: described(v.string(), '`sts`, `tlsa` or `no-policy-found`.'),
    policy_domain: described(Text, 'The domain of the policy.'),
    policy_string: described(v.array(v.string()), 'The policy as the reporter saw it.'),
    mx_hosts: described(v.array(v.string()), 'The mail servers in the policy.'),
    succeeded: described(Count, 'Successful sessions.'),
    failed: described(Count, 'Failed sessions.'),
  }),
  'The sessions to which one policy applied.',
  {
    policy_type: 'sts',
    policy_domain: 'example.com',
    mx_hosts: ['mx.example.com'],
    policy_string: ['version: STSv1', 'mode: enforce'],
    succeeded: 100,
    failed: 3,
  },
);

const TlsFailure = named(
  'TlsReportFailure',
  v.object({
    result_type: described(v.string(), 'The kind of failure (RFC 8460 §4.3).'),
    receiving_mx: described(Text, 'The mail server that the sender connected to.'),
    sending_ip: described(Text, 'The IP address of the sending server.'),
    reason_code: described(Text, 'What the reporter says about it.'),
    sessions: described(Count, 'The number of sessions.'),
  }),
  'Sessions that failed for the same reason.',
  {
    result_type: 'certificate-expired',
    receiving_mx: 'mx.example.com',
    sending_ip: '198.51.100.2',
    reason_code: 'expired 3 days ago',
    sessions: 3,
  },
);

export const FeedbackReport = named(
  'FeedbackReport',
  v.object({
    ...REPORT,
    row_count: described(Count, 'The number of rows, or of TLS failures.'),
    rows: described(
      v.nullable(v.array(FeedbackRow)),
      'For `dmarc`, the first 100 rows, those with the most messages first.',
    ),
    policies: described(v.nullable(v.array(TlsPolicy)), 'For `tls`, the policies.'),
    failures: described(v.nullable(v.array(TlsFailure)), 'For `tls`, the first 100 failures.'),
    details: described(
      v.record(v.string(), v.unknown()),
      'What else the report says, such as the published policy or the reported message.',
    ),
    source_kept: described(
      v.boolean(),
      'Whether the message or file can still be downloaded as it came.',
    ),
  }),
  'A report of a receiver about the mail of a domain.',
  {
    ...EXAMPLE,
    row_count: 2,
    rows: [],
    policies: [],
    failures: [],
    details: { policy: { p: 'none' } },
    source_kept: true,
  } as never,
);
export type FeedbackReport = v.InferOutput<typeof FeedbackReport>;

export const UploadedReports = named(
  'UploadedReports',
  v.object({
    object: typeField('list'),
    data: described(
      v.array(ListedReport),
      'One for each report in the file, whatever its status. At least one.',
    ),
  }),
  'The reports in an uploaded file.',
  { object: 'list', data: [EXAMPLE] } as never,
);

/** A day in the query. */
const Day = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\d$/, 'must be a day such as 2026-11-21'),
  v.check((text) => isDay(text), 'must be a real day from 1980 to 2199'),
  v.metadata({ jsonSchema: { type: 'string', format: 'date' } }),
);

export const PERIOD_QUERY = {
  from: described(
    v.optional(Day),
    'The first day, in UTC. The default is 29 days before `to`.',
    '2026-11-01',
  ),
  to: described(v.optional(Day), 'The last day, in UTC. The default is today.', '2026-11-30'),
};

const DOMAIN_ID = described(v.optional(v.string()), 'Only those of this domain.', exampleId('dom'));

export const ReportListQuery = v.strictObject({
  ...PAGE_QUERY,
  type: described(v.optional(ReportType), 'Only reports of this type.'),
  status: described(v.optional(ReportStatus), 'Only reports with this status.'),
  domain_id: DOMAIN_ID,
  reporter: described(v.optional(v.string()), 'Only reports of the reporter with this name or ID.'),
  day: described(
    v.optional(Day),
    'Only reports whose period includes this day, in UTC. Reports of one message have no period.',
    '2026-11-21',
  ),
  from: described(v.optional(Day), 'Only reports that arrived on this day or later, in UTC.'),
  to: described(v.optional(Day), 'Only reports that arrived on this day or earlier, in UTC.'),
});
export type ReportListQuery = v.InferOutput<typeof ReportListQuery>;

export const RowExportQuery = v.strictObject({
  outcome: described(
    v.optional(v.picklist(['pass', 'fail'], 'must be pass or fail')),
    'Only rows with this outcome.',
  ),
});

export const RowListQuery = v.strictObject({ ...PAGE_QUERY, ...RowExportQuery.entries });
export type RowListQuery = v.InferOutput<typeof RowListQuery>;

export const UploadQuery = v.strictObject({
  source: described(
    v.optional(v.picklist(['upload', 'imap'], 'must be upload or imap'), 'upload'),
    'Where the file comes from.',
  ),
});

// Sums.

export const SummaryQuery = v.strictObject({
  domain_id: described(v.string('is required'), 'The ID of the domain.', exampleId('dom')),
  ...PERIOD_QUERY,
});
export type SummaryQuery = v.InferOutput<typeof SummaryQuery>;

const TOTALS = valuesOf(DMARC_COUNTS, 'name', ({ description }) =>
  described(Count, `${description}.`),
);

const TOTALS_EXAMPLE = valuesOf(DMARC_COUNTS, 'name', ({ example }) => example);

const DmarcTotals = named(
  'DmarcTotals',
  v.object(TOTALS),
  'What happened to messages, as the reporters say.',
  TOTALS_EXAMPLE,
);

const DmarcDay = named(
  'DmarcDay',
  v.object({ date: described(v.string(), 'The day, in UTC.'), ...TOTALS }),
  'The messages of one day.',
  { date: '2026-11-21', ...TOTALS_EXAMPLE },
);

const ReporterShare = named(
  'DmarcReporter',
  v.object({
    id: idOf('rep', 'The ID of the reporter.'),
    name: described(v.string(), 'Its name.'),
    reports: described(Count, 'The number of its reports.'),
    messages: described(Count, 'The messages in its reports.'),
  }),
  'What one reporter counted.',
  { id: exampleId('rep'), name: 'receiver ltd', reports: 30, messages: 1200 },
);

const PolicySeen = named(
  'DmarcPolicySeen',
  v.object({
    policy_domain: described(Text, 'The domain of the policy.'),
    p: described(Text, 'The policy that the reporters saw.'),
    sp: described(Text, 'The policy for subdomains.'),
    np: described(Text, 'The policy for subdomains that do not exist.'),
    reports: described(Count, 'The number of reports.'),
    last_at: described(Time, 'When the last of them arrived.'),
  }),
  'A policy that reporters saw.',
  {
    policy_domain: 'example.com',
    p: 'reject',
    sp: 'none',
    np: 'reject',
    reports: 30,
    last_at: '2026-11-22T01:00:00.000Z',
  },
);

/** The period of a summary. */
const DAYS = {
  domain_id: idOf('dom', 'The ID of the domain.'),
  from: described(v.string(), 'The first day.', '2026-11-01'),
  to: described(v.string(), 'The last day.', '2026-11-30'),
};

export const DmarcFeedback = named(
  'DmarcFeedback',
  v.object({
    object: typeField('dmarc_feedback'),
    ...DAYS,
    state: FeedbackState,
    totals: described(DmarcTotals, 'The sums of all days.', TOTALS_EXAMPLE),
    days: described(v.array(DmarcDay), 'The days for which there are reports, oldest first.', [
      { date: '2026-11-21', ...TOTALS_EXAMPLE },
    ]),
    reporter_count: described(Count, 'How many reporters sent reports that count.', 3),
    reporters: described(
      v.array(ReporterShare),
      'Who reported, those with the most messages first; at most 100.',
      [],
    ),
    policies_seen: described(
      v.array(PolicySeen),
      'The policies that the reporters saw, the latest first.',
      [],
    ),
  }),
  'What DMARC reports say about a domain.',
);
export type DmarcFeedback = v.InferOutput<typeof DmarcFeedback>;

const ReporterSums = named(
  'DmarcReporterSums',
  v.object({
    id: idOf('rep', 'The ID of the reporter.'),
    name: described(v.string(), 'Its name.', 'receiver ltd'),
    reports: described(Count, 'The number of its reports.', 30),
    messages: described(Count, 'The messages in its reports.', 1200),
    passed: described(Count, 'Messages that pass DMARC.', 1180),
    failed: described(Count, 'Messages that fail DMARC.', 20),
    ...valuesOf(STOPPED, 'name', ({ name, example }) =>
      described(
        v.nullable(Count),
        `Messages that it ${name} because of the policy. Null if rows of the reports have expired.`,
        example,
      ),
    ),
    last_at: described(Time, 'When the newest of the reports arrived.'),
  }),
  'How one reporter counts the messages of a domain.',
);

export const DmarcReporters = named(
  'DmarcReporters',
  v.object({
    object: typeField('dmarc_reporters'),
    ...DAYS,
    reporters: described(
      v.array(ReporterSums),
      'Those with the most messages first; at most 100. Reports that are only partly in the period are counted in full.',
      [],
    ),
  }),
  'How each reporter counts the messages of a domain.',
);

const TlsDay = named(
  'TlsDay',
  v.object({
    date: described(v.string(), 'The day, in UTC.'),
    succeeded: described(Count, 'Successful sessions.'),
    failed: described(Count, 'Failed sessions.'),
  }),
  'The TLS sessions of one day.',
  { date: '2026-11-21', succeeded: 100, failed: 3 },
);

const TlsServer = named(
  'TlsServer',
  v.object({
    receiving_mx: described(Text, 'The mail server. Null if the reports do not name it.'),
    sessions: described(Count, 'Failed sessions with it.'),
  }),
  'The failures of one mail server.',
  { receiving_mx: 'mx.example.com', sessions: 3 },
);

const TlsReason = named(
  'TlsReason',
  v.object({
    result_type: described(v.string(), 'The kind of failure (RFC 8460 §4.3).'),
    sessions: described(Count, 'Failed sessions.'),
    meaning: described(v.string(), 'What it means.'),
    fix: described(v.string(), 'What to do about it.'),
  }),
  'Why sessions failed.',
  {
    result_type: 'certificate-expired',
    sessions: 3,
    meaning: 'The certificate of the mail server has expired.',
    fix: 'Renew the certificate of the mail server, and check that the server uses the new one.',
  },
);

const TlsReporter = named(
  'TlsReporter',
  v.object({
    id: idOf('rep', 'The ID of the reporter.'),
    name: described(v.string(), 'Its name.', 'receiver ltd'),
    reports: described(Count, 'The number of its reports.', 30),
    succeeded: described(Count, 'Successful sessions.', 100),
    failed: described(Count, 'Failed sessions.', 3),
    last_at: described(Time, 'When the newest of the reports arrived.'),
  }),
  'The TLS sessions that one reporter counts.',
);

const TlsPolicySum = named(
  'TlsPolicySum',
  v.object({
    policy_type: described(v.string(), '`sts`, `tlsa` or `no-policy-found`.', 'sts'),
    mode: described(Text, 'The mode of an MTA-STS policy, as the reporters saw it.', 'enforce'),
    succeeded: described(Count, 'Successful sessions.', 100),
    failed: described(Count, 'Failed sessions.', 3),
  }),
  'The TLS sessions to which a kind of policy applied.',
);

const TlsFailureSum = named(
  'TlsFailureSum',
  v.object({
    result_type: described(v.string(), 'The kind of failure.', 'certificate-expired'),
    receiving_mx: described(
      Text,
      'The mail server. Null if the reports do not name it.',
      'mx.example.com',
    ),
    sessions: described(Count, 'Failed sessions.', 3),
  }),
  'The sessions with one mail server that failed for the same reason.',
);

export const TlsFeedback = named(
  'TlsFeedback',
  v.object({
    object: typeField('tls_feedback'),
    ...DAYS,
    succeeded: described(Count, 'Successful sessions.', 100),
    failed: described(Count, 'Failed sessions.', 3),
    days: described(v.array(TlsDay), 'The days for which there are reports, oldest first.', [
      { date: '2026-11-21', succeeded: 100, failed: 3 },
    ]),
    servers: described(
      v.array(TlsServer),
      'The mail servers with failures, those with the most first.',
      [{ receiving_mx: 'mx.example.com', sessions: 3 }],
    ),
    reasons: described(v.array(TlsReason), 'Why sessions failed, the most frequent first.', []),
    failures: described(
      v.array(TlsFailureSum),
      'Failed sessions by reason and mail server, the most frequent first; at most 100.',
      [],
    ),
    reporter_count: described(Count, 'How many reporters sent reports that count.', 3),
    reporters: described(
      v.array(TlsReporter),
      'Who reported, those with the most sessions first; at most 100. Reports that are only partly in the period are counted in full.',
      [],
    ),
    policies: described(
      v.array(TlsPolicySum),
      'The kinds of policy that applied, from the newest 500 reports; those with the most sessions first.',
      [],
    ),
  }),
  'What TLS reports say about a domain.',
);

// Complaints and bounces.

const MESSAGE = {
  domain_id: described(Text, 'The ID of the domain.'),
  report_id: described(v.string(), 'The ID of the report.'),
  received_at: described(Time, 'When the report arrived.'),
  from_domain: described(Text, 'The From domain of the message.'),
  recipient_domain: described(Text, 'The domain of the recipient, whose address is not kept.'),
  message_id: described(Text, 'The Message-ID of the message, without angle brackets.'),
};

const COMPLAINT = {
  object: 'complaint',
  id: exampleId('cpl'),
  domain_id: exampleId('dom'),
  report_id: exampleId('fbr'),
  received_at: '2026-11-22T01:00:00.000Z',
  from_domain: 'example.com',
  recipient_domain: 'example.net',
  message_id: 'news-1@example.com',
  kind: 'abuse',
  provider: 'example.net',
  arrived_at: '2026-11-21T10:00:00.000Z',
  address: '192.0.2.1',
  subject: 'November news',
  list_id: '<news.example.com>',
  feedback_id: 'c1:news:example',
  dkim_domain: 'example.com',
} as const;

export const Complaint = named(
  'Complaint',
  v.object({
    id: described(v.string(), 'The ID of the complaint.'),
    object: typeField('complaint'),
    ...MESSAGE,
    kind: described(
      v.string(),
      '`abuse`: a recipient marked the message as spam. `not-spam` is the opposite. Also `fraud`, `virus`, or what the report says.',
    ),
    provider: described(v.string(), 'The domain of the mailbox provider.'),
    arrived_at: described(v.nullable(Time), 'When the message arrived at the provider.'),
    address: described(Text, 'The IP address that sent the message.'),
    subject: described(Text, 'The first 100 characters of its subject.'),
    list_id: described(Text, 'Its List-Id.'),
    feedback_id: described(Text, 'Its Feedback-ID.'),
    dkim_domain: described(Text, 'The domain of its first DKIM signature.'),
  }),
  'A complaint report about one message.',
  COMPLAINT,
);
export type Complaint = v.InferOutput<typeof Complaint>;

const EXPLANATION = {
  provider: 'Gmail',
  text: 'Gmail rejects mail without a passing SPF or DKIM result.',
  reference: 'https://support.google.com/a/answer/3726730',
};

const BounceExplanation = named(
  'BounceExplanation',
  v.object({
    provider: described(Text, 'The provider or gateway that replied, if it is known.'),
    text: described(v.string(), 'What the reply means, in a sentence or two.'),
    reference: described(Text, 'Where the provider, or the standard, describes its codes.'),
  }),
  'What the reply of a server means.',
  EXPLANATION,
);

const BOUNCE = {
  object: 'bounce',
  id: exampleId('bnc'),
  domain_id: exampleId('dom'),
  report_id: exampleId('fbr'),
  received_at: '2026-11-22T01:00:00.000Z',
  from_domain: 'example.com',
  recipient_domain: 'example.net',
  message_id: 'news-1@example.com',
  class: 'policy',
  action: 'failed',
  status_code: '5.7.26',
  diagnostic: '550-5.7.26 This message is unauthenticated',
  remote_server: 'mx.example.net',
  reporting_server: 'mail.example.com',
  provider: 'example.net',
  authenticated: false,
  explanation: EXPLANATION,
} as const;

export const Bounce = named(
  'Bounce',
  v.object({
    id: described(v.string(), 'The ID of the bounce.'),
    object: typeField('bounce'),
    ...MESSAGE,
    class: described(
      v.picklist(BOUNCE_CLASSES),
      '`hard`: permanent, for a reason other than policy, such as an unknown mailbox. `soft`: temporary, delayed, or a full mailbox. `policy`: the server rejected the message for authentication, reputation or content.',
    ),
    action: described(v.picklist(['failed', 'delayed']), '`delayed`: the server keeps trying.'),
    status_code: described(Text, 'The enhanced status code (RFC 3463).'),
    diagnostic: described(Text, 'The reply of the server, without mailbox names.'),
    remote_server: described(Text, 'The server that rejected the message.'),
    reporting_server: described(Text, 'The server that reports it.'),
    provider: described(v.string(), 'The domain of the mailbox provider.'),
    authenticated: described(
      v.nullable(v.boolean()),
      'Whether SPF or DKIM shows who sent the bounce. Servers rarely sign bounces. Null if it did not arrive in a message.',
    ),
    explanation: described(
      v.nullable(BounceExplanation),
      'What the reply means. null if it has no code and no text that is known.',
    ),
  }),
  'A message that could not be delivered to a recipient.',
  BOUNCE,
);
export type Bounce = v.InferOutput<typeof Bounce>;

// In lists, with what other parts of the service know about them.

const MessageSource = named(
  'MessageSource',
  v.object({
    id: described(
      Text,
      'The ID of the source; null for a sending service that no DMARC report has named yet.',
      exampleId('src'),
    ),
    name: described(v.string(), 'Its name, or what your team calls it.', 'Mailchimp'),
  }),
  'The source that sent a message.',
);

const BounceFinding = named(
  'BounceFinding',
  v.object({
    test_id: idOf('test', 'The ID of the test.'),
    completed_at: described(Time, 'When it was completed.'),
    check_id: described(v.string(), 'The ID of the check.', 'dkim'),
    title: described(v.string(), 'What the check found.', 'The message is not signed with DKIM'),
    fix: described(Text, 'How to fix it.', 'Turn on DKIM at the service that sends your mail.'),
  }),
  'The finding of a test that explains a bounce.',
);

const SENDER = {
  reporter: described(Text, 'Who reported it.', 'receiver.example'),
  source: described(v.nullable(MessageSource), 'Who sent the message; null if it is unknown.'),
};

const SENDER_EXAMPLE = {
  reporter: 'example.net',
  source: { id: exampleId('src'), name: 'Mailchimp' },
};

export const ListedComplaint = named(
  'ListedComplaint',
  v.object({ ...Complaint.entries, ...SENDER }),
  'A complaint with the source of the message.',
  { ...COMPLAINT, ...SENDER_EXAMPLE },
);
export type ListedComplaint = v.InferOutput<typeof ListedComplaint>;

export const ListedBounce = named(
  'ListedBounce',
  v.object({
    ...Bounce.entries,
    subject: described(Text, 'The first 100 characters of the subject.', 'November news'),
    ...SENDER,
    finding: described(
      v.nullable(BounceFinding),
      'The newest unfixed finding with the same cause, from the last 20 tests; null if there is none.',
    ),
  }),
  'A bounce with the source of the message, and the finding that explains it.',
  {
    ...BOUNCE,
    ...SENDER_EXAMPLE,
    subject: 'November news',
    finding: {
      test_id: exampleId('test'),
      completed_at: '2026-11-21T12:00:00.000Z',
      check_id: 'dkim',
      title: 'Your message has no DKIM signature',
      fix: 'Turn on DKIM signing for example.com in your mail server or email service.',
    },
  },
);
export type ListedBounce = v.InferOutput<typeof ListedBounce>;

const MESSAGE_FILTERS = {
  domain_id: DOMAIN_ID,
  from: described(v.optional(Day), 'Only those whose report arrived on this day or later.'),
  to: described(v.optional(Day), 'Only those whose report arrived on this day or earlier.'),
};

export const ComplaintListQuery = v.strictObject({ ...PAGE_QUERY, ...MESSAGE_FILTERS });
export const ComplaintExportQuery = v.strictObject(MESSAGE_FILTERS);
export const BounceExportQuery = v.strictObject({
  ...MESSAGE_FILTERS,
  class: described(
    v.optional(v.picklist(BOUNCE_CLASSES, `must be one of ${BOUNCE_CLASSES.join(', ')}`)),
    'Only bounces of this class.',
  ),
});
export const BounceListQuery = v.strictObject({ ...PAGE_QUERY, ...BounceExportQuery.entries });

/** A count for each value of a column. */
const countBy = <Column extends string>(
  name: string,
  column: Column,
  text: string,
  example: string,
) =>
  named(
    name,
    v.object({
      [column]: described(Text, text, example),
      count: described(Count, 'How many.', 2),
    } as Record<Column, v.GenericSchema<string | null>> & { count: v.GenericSchema<number> }),
    `A count by ${column.replace('_', ' ')}.`,
  );

const CountByDay = named(
  'CountByDay',
  v.object({
    date: described(v.string(), 'The day, in UTC.', '2026-11-21'),
    count: described(Count, 'How many.', 2),
  }),
  'A count by day.',
);

const BounceDay = named(
  'BounceDay',
  v.object({
    date: described(v.string(), 'The day, in UTC.', '2026-11-21'),
    count: described(Count, 'All bounces of the day.', 2),
    policy: described(Count, 'Rejected by policy.', 2),
    hard: described(Count, 'Permanent, for a reason other than policy.', 0),
    soft: described(Count, 'Temporary, delayed, or a full mailbox.', 0),
  }),
  'The bounces of a day, by class.',
);
const CountBySource = named(
  'CountBySource',
  v.object({
    source_id: described(
      Text,
      'The ID of the source; null if it is unknown, or no DMARC report has named it yet.',
      exampleId('src'),
    ),
    name: described(Text, 'Its name; null for all unknown sources.', 'Mailchimp'),
    count: described(Count, 'How many.', 2),
    messages: described(
      v.nullable(Count),
      'Messages of the source that DMARC reports count in the period.',
      1200,
    ),
  }),
  'A count by source.',
);
const REPORTED_MESSAGES = described(
  Count,
  'Messages of the domain that DMARC reports count in the period, to compare with.',
  1200,
);
const BY_SOURCE = [{ source_id: exampleId('src'), name: 'Mailchimp', count: 2, messages: 1200 }];
const CountByKind = countBy('CountByKind', 'kind', 'The kind.', 'abuse');
const CountByProvider = countBy('CountByProvider', 'provider', 'The provider.', 'example.net');
const CountByAddress = countBy('CountByAddress', 'address', 'The IP address.', '192.0.2.1');
const CountByClass = countBy('CountByClass', 'class', 'The class.', 'policy');
const CountByCode = countBy('CountByCode', 'status_code', 'The enhanced status code.', '5.7.26');

export const ComplaintSummary = named(
  'ComplaintSummary',
  v.object({
    object: typeField('complaint_summary'),
    ...DAYS,
    total: described(Count, 'Complaints of the kind `abuse`.', 2),
    messages: REPORTED_MESSAGES,
    days: described(v.array(CountByDay), 'Complaints by day.', [{ date: '2026-11-21', count: 2 }]),
    kinds: described(v.array(CountByKind), 'All kinds, such as `not-spam`.', [
      { kind: 'abuse', count: 2 },
    ]),
    providers: described(v.array(CountByProvider), 'Complaints by provider.', [
      { provider: 'example.net', count: 2 },
    ]),
    addresses: described(v.array(CountByAddress), 'Complaints by sending address.', [
      { address: '192.0.2.1', count: 2 },
    ]),
    sources: described(v.array(CountBySource), 'Complaints by source.', BY_SOURCE),
  }),
  'The complaints about a domain.',
);

export const BounceSummary = named(
  'BounceSummary',
  v.object({
    object: typeField('bounce_summary'),
    ...DAYS,
    total: described(Count, 'All bounces.', 2),
    messages: REPORTED_MESSAGES,
    days: described(v.array(BounceDay), 'Bounces by day.', [
      { date: '2026-11-21', count: 2, policy: 2, hard: 0, soft: 0 },
    ]),
    classes: described(v.array(CountByClass), 'Bounces by class.', [{ class: 'policy', count: 2 }]),
    providers: described(v.array(CountByProvider), 'Bounces by provider.', [
      { provider: 'example.net', count: 2 },
    ]),
    codes: described(v.array(CountByCode), 'Bounces by code.', [
      { status_code: '5.7.26', count: 2 },
    ]),
    sources: described(
      v.array(CountBySource),
      'Bounces by source, identified by the reporting server or, for the newest 500 of the others, by the returned message.',
      BY_SOURCE,
    ),
    sources_unread: described(
      Count,
      'Bounces that `sources` leaves out: their reporting server is not a source of the domain, and their returned message was not read.',
      0,
    ),
  }),
  'The bounces of a domain.',
);

export const DomainFeedbackState = named(
  'DomainFeedbackState',
  v.object({
    object: typeField('domain_feedback'),
    domain_id: idOf('dom', 'The ID of the domain.'),
    name: described(v.string(), 'The domain name.', 'example.com'),
    address: described(v.string(), 'Its feedback address.'),
    state: FeedbackState,
    last_report_at: described(Time, 'When the last report that counts arrived by email.'),
  }),
  'Whether reports about a domain arrive.',
  {
    object: 'domain_feedback',
    domain_id: exampleId('dom'),
    name: 'example.com',
    address: 'fb-q3v9k2m7x5t1w8b4@inbox.example.org',
    state: 'stopped',
    last_report_at: '2026-11-22T01:00:00.000Z',
  },
);

/** The event types of this feature. */
export const FEEDBACK_EVENTS: EventDeclaration[] = [
  {
    type: 'feedback.stopped',
    summary: 'Reports about a domain no longer arrive',
    description:
      'No DMARC or TLS report that counts has arrived by email for 3 days, after at least 7 days of reports. Sent once each time that reports stop.',
    data: DomainFeedbackState,
    object: 'the state of the feedback of the domain',
    line: (data) => [asText(data.name), labeled('last report', data.last_report_at)],
  },
  {
    type: 'complaint.received',
    summary: 'A complaint report arrived',
    description:
      'A known or confirmed feedback loop sent a complaint report. `kind` says what the recipient reported.',
    data: Complaint,
    object: 'the complaint',
    line: (data) => [asText(data.kind), quoted(data.subject), labeled('at', data.provider)],
  },
  {
    type: 'bounce.received',
    summary: 'A server rejected a message by policy',
    description:
      'A message bounced for authentication, reputation or content. Other bounces have no event. If `authenticated` is false, anyone may have sent it. No bounce opens an incident by itself.',
    data: Bounce,
    object: 'the bounce',
    line: (data) => [
      asText(data.status_code),
      labeled('at', data.provider),
      quoted(data.diagnostic),
    ],
  },
];

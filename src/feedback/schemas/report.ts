/** API schemas of reports of receivers and their rows. */

import * as v from 'valibot';
import {
  Count,
  described,
  exampleId,
  idOf,
  meaningsOf,
  named,
  oneOf,
  PAGE_QUERY,
  Text,
  Time,
  typeField,
} from '../../http/schemas.ts';
import { FEEDBACK_ORIGINS } from '../intake.ts';
import { DISPOSITIONS, REFUSAL_REASONS, REPORT_TYPES } from '../reading/report.ts';
import { REPORT_STATUSES, STATUSES } from '../status.ts';
import { Day, DOMAIN_ID } from './period.ts';

const ReportType = oneOf(REPORT_TYPES);

const ReportStatus = oneOf(REPORT_STATUSES);

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
  id: idOf('fbr'),
  object: typeField('feedback_report'),
  type: described(
    v.nullable(v.picklist(REPORT_TYPES)),
    'The type of the report. Null if it could not be read.',
  ),
  status: described(v.picklist(REPORT_STATUSES), meaningsOf(STATUSES)),
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
  reporter_id: Text,
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
  repaired: described(
    v.array(v.string()),
    'What was repaired to read the report, and which values are invalid, as short phrases.',
  ),
  original_id: described(Text, 'The report that it repeats or contradicts.', exampleId('fbr')),
  received_at: described(Time, 'When the report arrived.'),
};

const EXAMPLE = {
  type: 'dmarc',
  status: 'counted',
  reason: null,
  detail: null,
  reporter: 'receiver.example',
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
      'The IP address of the sender. Null if the report has none. If the row sums up others: a network such as `203.0.113.0/24`, or `others`, followed by the authenticated domain.',
    ),
    folded: described(v.boolean(), 'Whether the row sums up the smallest rows of one source.'),
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
    disposition: described(
      v.picklist(DISPOSITIONS),
      'What the receiver did with the messages. `unknown`: the report has an invalid value.',
    ),
    header_from: described(Text, 'The From domain.'),
    envelope_from: described(Text, 'The domain of MAIL FROM.'),
    envelope_to: described(Text, 'The domain of the recipients.'),
    dkim_domain: described(Text, 'The domain of the signature that passes, or of the first one.'),
    dkim_selector: Text,
    dkim_result: described(Text, 'Its result, without alignment.'),
    spf_domain: described(Text, 'The domain that SPF was checked for.'),
    spf_result: described(Text, 'The SPF result, without alignment.'),
    results: described(v.nullable(AuthResults), 'All results, if there are several.'),
    reasons: described(v.array(OverrideReason), 'Why the receiver did not apply the policy.'),
  }),
  'The messages of one sender in a DMARC report.',
  {
    id: `${exampleId('fbr')}.0`,
    day: '2026-11-21',
    folded: false,
    count: 40,
    outcome: 'pass',
    dkim: 'pass',
    spf: 'fail',
    disposition: 'none',
    header_from: 'example.com',
    envelope_from: 'bounce.example.net',
    envelope_to: 'example.net',
    dkim_domain: 'example.com',
    dkim_result: 'pass',
    spf_domain: 'bounce.example.net',
    spf_result: 'pass',
  },
);

export type FeedbackRow = v.InferOutput<typeof FeedbackRow>;

const TlsPolicy = named(
  'TlsReportPolicy',
  v.object({
    policy_type: described(v.string(), '`sts`, `tlsa` or `no-policy-found`.'),
    policy_domain: Text,
    policy_string: described(v.array(v.string()), 'The policy as the reporter saw it.'),
    mx_hosts: described(v.array(v.string()), 'The mail servers in the policy.'),
    succeeded: Count,
    failed: described(Count, 'Failed sessions.'),
  }),
  'The sessions to which one policy applied.',
  {
    policy_type: 'sts',
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

const UploadedReport = named(
  'UploadedReport',
  v.object({
    ...REPORT,
    file: described(
      v.optional(v.string()),
      'The name of the file, if the files were sent as a form.',
      'google.com!example.com!1795305600!1795391999.xml.gz',
    ),
  }),
  'A report in an uploaded file.',
  EXAMPLE as never,
);
export type UploadedReport = v.InferOutput<typeof UploadedReport>;

export const UploadedReports = named(
  'UploadedReports',
  v.object({
    object: typeField('list'),
    data: described(
      v.array(UploadedReport),
      'The reports in the files, in the order of the files, whatever their status. Each file has at least one.',
    ),
  }),
  'The reports in uploaded files.',
  {} as never,
);
export type UploadedReports = v.InferOutput<typeof UploadedReports>;

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

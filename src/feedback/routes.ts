/** The operations on feedback. */

import * as v from 'valibot';
import { NO_MAIL, sharesInWords } from '../figures/mail-shares.ts';
import { route } from '../http/route.ts';
import { deletedOf, described, idOf, listOf, listSchema } from '../http/schemas.ts';
import { csvFile, streamed } from '../http/streamed.ts';
import type { CsvColumn } from '../lib/csv.ts';
import { AppError } from '../lib/errors.ts';
import { readPieces } from '../store/chunks.ts';
import type { DmarcDayRow, DmarcRowRow } from '../store/tables.generated.ts';
import { audit } from '../team/audit.ts';
import { AUDITED_REPORT } from './audited.ts';
import { findDomainByToken } from './destination.ts';
import { feedbackExports } from './export-routes.ts';
import { storeFeedback } from './intake.ts';
import { mailShares } from './mail-shares.ts';
import { describeBounces, describeComplaints } from './messages/describe.ts';
import { bounceSummary, complaintSummary } from './messages/sums.ts';
import { presentListedReport, presentReport, presentRow } from './present.ts';
import {
  eachRow,
  firstFailures,
  firstRows,
  keptMail,
  listBounces,
  listComplaints,
  listReports,
  listRows,
  reportOr404,
} from './queries.ts';
import { finishRemoval, startRemoval } from './record/remove.ts';
import { dmarcReporters } from './reporters.ts';
import { DmarcFeedback, DmarcReporters } from './schemas/dmarc.ts';
import {
  BounceListQuery,
  ComplaintListQuery,
  ListedBounce,
  ListedComplaint,
} from './schemas/message.ts';
import { BounceSummary, ComplaintSummary } from './schemas/message-sums.ts';
import { SummaryQuery } from './schemas/period.ts';
import {
  FeedbackReport,
  FeedbackRow,
  ListedReport,
  ReportListQuery,
  RowExportQuery,
  RowListQuery,
  UploadedReports,
  UploadQuery,
} from './schemas/report.ts';
import { TlsFeedback } from './schemas/tls.ts';
import { reporterOperations } from './senders/routes.ts';
import { consumeTlsBytes, requireStorage } from './storage/require.ts';
import { dmarcDays, dmarcFeedback, exportName, periodOf, TOTALS } from './sums.ts';
import { tlsFeedback } from './tls/summary.ts';
import { FORM_TYPE, receiveUpload } from './upload.ts';

const REPORT_ID = idOf('fbr', 'The ID of the report.');

const list = route({
  method: 'GET',
  path: '/v1/feedback/reports',
  operation: 'listFeedbackReports',
  limited: true,
  role: 'viewer',
  summary: 'List reports of receivers',
  description: 'Returns the reports of receivers, newest first. Filters can be combined.',
  query: ReportListQuery,
  response: listSchema(ListedReport),
  async handle({ app, query }) {
    const { rows, hasMore } = await listReports(app.db, query);
    return listOf(rows.map(presentListedReport), hasMore);
  },
});

const get = route({
  method: 'GET',
  path: '/v1/feedback/reports/:id',
  params: { id: REPORT_ID },
  operation: 'getFeedbackReport',
  limited: true,
  role: 'viewer',
  summary: 'Get a report of a receiver',
  description:
    'Returns a report with its first 100 rows, its policies, or its details. `GET /v1/feedback/reports/{id}/rows` has all rows.',
  response: FeedbackReport,
  async handle({ app, params }) {
    const { db } = app;
    const row = await reportOr404(db, params.id!);
    const [rows, failures, mail] = await Promise.all([
      firstRows(db, row.id),
      firstFailures(db, row.id),
      keptMail(db, row.mail_id),
    ]);
    return presentReport(row, { rows, failures, isSourceKept: mail !== null });
  },
});

const rows = route({
  method: 'GET',
  path: '/v1/feedback/reports/:id/rows',
  params: { id: REPORT_ID },
  operation: 'listFeedbackRows',
  limited: true,
  role: 'viewer',
  summary: 'List the rows of a DMARC report',
  description:
    'Returns the rows of a DMARC report, those with the most messages first. At most 5,000 are kept one by one.',
  query: RowListQuery,
  response: listSchema(FeedbackRow),
  async handle({ app, params, query }) {
    const report = await reportOr404(app.db, params.id!);
    const { rows: found, hasMore } = await listRows(app.db, report.id, query);
    return listOf(found.map(presentRow), hasMore);
  },
});

const exportRows = route({
  method: 'GET',
  path: '/v1/feedback/reports/:id/rows/export',
  params: { id: REPORT_ID },
  operation: 'exportFeedbackRows',
  limited: true,
  role: 'viewer',
  summary: 'Export the rows of a DMARC report',
  description: 'Returns all rows of a DMARC report that are kept as CSV, in the order of the list.',
  query: RowExportQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  async handle({ app, params, query }) {
    const report = await reportOr404(app.db, params.id!);
    const kept = eachRow(app.db, report.id, query);
    return csvFile(`rows-${report.id}`, ROW_COLUMNS, kept);
  },
});

const ROW_COLUMNS: CsvColumn<DmarcRowRow>[] = [
  'day',
  'address',
  'count',
  'outcome',
  'disposition',
  'dkim',
  'spf',
  'header_from',
  'envelope_from',
  'envelope_to',
  'dkim_domain',
  'dkim_selector',
  'dkim_result',
  'spf_domain',
  'spf_result',
  'reasons',
];

const remove = route({
  method: 'DELETE',
  path: '/v1/feedback/reports/:id',
  params: { id: REPORT_ID },
  operation: 'deleteFeedbackReport',
  role: 'member',
  summary: 'Delete a report of a receiver',
  description:
    'Deletes a report with its rows, complaints or bounces, and takes its messages out of all sums. If the report arrives again, it counts again. A counted report whose rows have expired cannot be deleted, so it stays in the sums.',
  response: deletedOf('feedback_report', 'fbr'),
  errors: ['conflict'],
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    const deleted = await call.transact(async (tx) => {
      const { reporter } = await reportOr404(tx, id);
      const report = await startRemoval(tx, id);
      if (!report) throw new AppError('not_found', 'No such report.');
      const { type, status, policy_domain, messages } = report;
      await audit(tx, call, AUDITED_REPORT, 'feedback_report.deleted', id, {
        type,
        status,
        reporter,
        domain: policy_domain,
        messages,
      });
      return { id, object: 'feedback_report' as const, deleted: true as const };
    });
    await finishRemoval(app, id);
    return deleted;
  },
});

const source = route({
  method: 'GET',
  path: '/v1/feedback/reports/:id/source',
  params: { id: REPORT_ID },
  operation: 'getFeedbackReportSource',
  limited: true,
  role: 'viewer',
  summary: 'Get a report as it came',
  description:
    'Returns the message or file that carried the report, as an attachment. It is kept for 30 days; complaints, failure reports and bounces only if the administrator has turned that on.',
  produces: ['application/octet-stream'],
  responseHeaders: ['Content-Disposition'],
  async handle({ app, params }) {
    const report = await reportOr404(app.db, params.id!);
    const mail = await keptMail(app.db, report.mail_id);
    if (!mail) throw new AppError('not_found', 'The original report is no longer available.');
    const extension = mail.source === 'smtp' || mail.source === 'imap' ? 'eml' : 'bin';
    return new Response(streamed(readPieces(app.db, mail)), {
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(mail.size),
        'content-disposition': `attachment; filename="${report.id}.${extension}"`,
        'cache-control': 'private, no-store',
      },
    });
  },
});

const upload = route({
  method: 'POST',
  path: '/v1/feedback/reports',
  operation: 'uploadFeedback',
  role: 'member',
  summary: 'Upload reports of receivers',
  description:
    'Reads one file or message in any container: XML, JSON, gzip, zip, or a raw email message. A form can have up to 50 files in fields named `file`, with at most 2 MiB in total. Returns each report that the files contain, whatever its status. Uploaded reports count without further proof. With `source=imap`, a message must be signed, because anyone could have sent it to the mailbox.',
  query: UploadQuery,
  consumes: {
    type: 'application/octet-stream',
    also: [
      'message/rfc822',
      'application/gzip',
      'application/zip',
      'application/xml',
      'text/xml',
      FORM_TYPE,
    ],
    maxBytes: ({ config }) => config.FEEDBACK_MAX_SIZE,
  },
  status: 201,
  response: UploadedReports,
  errors: ['unavailable'],
  handle: (call) => receiveUpload(call),
});

const TLS_RATE = { requests: 600, seconds: 3600 };
const MAX_TLS_BYTES = 5 * 1024 * 1024;

/** RFC 8460 §5.4. Reporters send no credentials. */
const postTls = route({
  method: 'POST',
  path: '/feedback/tls/:token',
  params: {
    token: described(
      v.string(),
      'The 16 characters after `fb-` in the feedback address of the domain.',
      'q3v9k2m7x5t1w8b4',
    ),
  },
  operation: 'postTlsReport',
  role: 'public',
  writes: true,
  limit: TLS_RATE,
  summary: 'Send a TLS report',
  description:
    'For mail servers that send TLS reports over HTTPS (RFC 8460). Their sender cannot be verified, so these reports are listed but never count. The token is the part of the feedback address after `fb-`.',
  consumes: {
    type: 'application/tlsrpt+gzip',
    also: ['application/tlsrpt+json'],
    maxBytes: () => MAX_TLS_BYTES,
  },
  status: 202,
  produces: ['text/plain'],
  errors: ['unavailable'],
  async handle({ app, params, raw, transact, caller }) {
    const domainId = await findDomainByToken(app.db, params.token!.toLowerCase());
    if (domainId === null) throw new AppError('not_found', 'No such address.');
    await consumeTlsBytes(app, caller.ip, raw.byteLength);
    const arrival = { raw, source: 'https', domainId, envelope: null } as const;
    await requireStorage(app, arrival);
    await storeFeedback(app, { ...arrival, suffix: null }, (work) => transact(work));
    return new Response('Accepted\n', {
      status: 202,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
  },
});

const dmarc = route({
  method: 'GET',
  path: '/v1/feedback/dmarc',
  operation: 'getDmarcFeedback',
  limited: true,
  role: 'viewer',
  summary: 'Get the sums of DMARC reports',
  description: 'Returns what DMARC reports say about a domain, by day and by reporter.',
  query: SummaryQuery,
  response: DmarcFeedback,
  errors: ['not_found'],
  async handle({ app, query }) {
    const period = await periodOf(app, query);
    const { id } = period.domain;
    const shares = (await mailShares(app.db, { ...period, ids: [id] })).get(id) ?? NO_MAIL;
    return {
      ...(await dmarcFeedback(app, period)),
      shares,
      shares_text: sharesInWords(shares),
    };
  },
});

const exportDmarc = route({
  method: 'GET',
  path: '/v1/feedback/dmarc/export',
  operation: 'exportDmarcFeedback',
  limited: true,
  role: 'viewer',
  summary: 'Export the days of DMARC reports',
  description: 'Returns what DMARC reports say about a domain on each day of a period, as CSV.',
  query: SummaryQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  errors: ['not_found'],
  async handle({ app, query }) {
    const period = await periodOf(app, query);
    const days = await dmarcDays(app.db, period);
    return csvFile(exportName('days', period), DAY_COLUMNS, days);
  },
});

const DAY_COLUMNS: CsvColumn<DmarcDayRow>[] = [['date', ({ day }) => day], ...TOTALS];

const dmarcReportersRoute = route({
  method: 'GET',
  path: '/v1/feedback/dmarc/reporters',
  operation: 'getDmarcReporters',
  limited: true,
  role: 'viewer',
  summary: 'Get the sums of each reporter',
  description:
    'Returns how each reporter counts the messages of a domain, and what it did because of the policy.',
  query: SummaryQuery,
  response: DmarcReporters,
  errors: ['not_found'],
  handle: async ({ app, query }) => dmarcReporters(app.db, await periodOf(app, query)),
});

const tls = route({
  method: 'GET',
  path: '/v1/feedback/tls',
  operation: 'getTlsFeedback',
  limited: true,
  role: 'viewer',
  summary: 'Get the sums of TLS reports',
  description:
    'Returns the TLS sessions of a domain by day, and why they failed, with the fix for each reason.',
  query: SummaryQuery,
  response: TlsFeedback,
  errors: ['not_found'],
  handle: async ({ app, query }) => tlsFeedback(app, await periodOf(app, query)),
});

const complaintsSummary = route({
  method: 'GET',
  path: '/v1/feedback/complaints/summary',
  operation: 'getComplaintSummary',
  limited: true,
  role: 'viewer',
  summary: 'Get the sums of complaints',
  description:
    'Returns the complaints about a domain by day, provider, source and sending address.',
  query: SummaryQuery,
  response: ComplaintSummary,
  errors: ['not_found'],
  handle: async ({ app, query }) => complaintSummary(app, await periodOf(app, query)),
});

const complaints = route({
  method: 'GET',
  path: '/v1/feedback/complaints',
  operation: 'listComplaints',
  limited: true,
  role: 'viewer',
  summary: 'List complaints',
  description: 'Returns the complaints that count, newest first.',
  query: ComplaintListQuery,
  response: listSchema(ListedComplaint),
  async handle({ app, query }) {
    const { rows: found, hasMore } = await listComplaints(app.db, query);
    return listOf(await describeComplaints(app.db, found), hasMore);
  },
});

const bouncesSummary = route({
  method: 'GET',
  path: '/v1/feedback/bounces/summary',
  operation: 'getBounceSummary',
  limited: true,
  role: 'viewer',
  summary: 'Get the sums of bounces',
  description: 'Returns the bounces of a domain by day, class, provider, source and code.',
  query: SummaryQuery,
  response: BounceSummary,
  errors: ['not_found'],
  handle: async ({ app, query }) => bounceSummary(app, await periodOf(app, query)),
});

const bounces = route({
  method: 'GET',
  path: '/v1/feedback/bounces',
  operation: 'listBounces',
  limited: true,
  role: 'viewer',
  summary: 'List bounces',
  description:
    'Returns the bounces, newest first, each with what the provider means and the finding of a test that explains it.',
  query: BounceListQuery,
  response: listSchema(ListedBounce),
  async handle({ app, query }) {
    const { rows: found, hasMore } = await listBounces(app.db, query);
    return listOf(await describeBounces(app.db, found), hasMore);
  },
});

export const feedbackOperations = {
  list,
  upload,
  get,
  rows,
  exportRows,
  remove,
  source,
  ...reporterOperations,
  dmarc,
  exportDmarc,
  dmarcReporters: dmarcReportersRoute,
  tls,
  complaints,
  complaintsSummary,
  bounces,
  bouncesSummary,
  ...feedbackExports,
  postTls,
};

/** The exports of TLS reports, complaints and bounces as CSV. */

import type * as v from 'valibot';
import { route } from '../http/route.ts';
import { streamed } from '../http/streamed.ts';
import { type CsvColumn, csvHeaders, toCsv } from '../lib/csv.ts';
import { describeBounces, describeComplaints } from './messages/describe.ts';
import {
  BounceExportQuery,
  ComplaintExportQuery,
  type ListedBounce,
  type ListedComplaint,
} from './messages/schema.ts';
import { SummaryQuery } from './period-schema.ts';
import { eachBounces, eachComplaints } from './queries.ts';
import { exportName, periodOf } from './sums.ts';
import { explainTlsFailure } from './tls/explain.ts';
import { eachFailure, type NamedFailure } from './tls/policies.ts';
import type { TlsFeedback } from './tls/schema.ts';
import { tlsDays } from './tls/summary.ts';

const exportTls = route({
  method: 'GET',
  path: '/v1/feedback/tls/export',
  operation: 'exportTlsFeedback',
  role: 'viewer',
  summary: 'Export the days of TLS reports',
  description: 'Returns the TLS sessions of a domain on each day of a period, as CSV.',
  query: SummaryQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  errors: ['not_found'],
  async handle({ app, query }) {
    const period = await periodOf(app, query);
    return new Response(streamed(toCsv(TLS_DAY_COLUMNS, await tlsDays(app, period))), {
      headers: csvHeaders(exportName('tls-days', period)),
    });
  },
});

type TlsDay = v.InferOutput<typeof TlsFeedback>['days'][number];

const TLS_DAY_COLUMNS: CsvColumn<TlsDay>[] = [
  ['date', ({ date }) => date],
  ['succeeded', ({ succeeded }) => succeeded],
  ['failed', ({ failed }) => failed],
];

const exportTlsFailures = route({
  method: 'GET',
  path: '/v1/feedback/tls/failures/export',
  operation: 'exportTlsFailures',
  role: 'viewer',
  summary: 'Export TLS failures',
  description:
    'Returns all failures in the TLS reports of a period as CSV, each with its meaning. The day is that on which the period of the report begins.',
  query: SummaryQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  errors: ['not_found'],
  async handle({ app, query }) {
    const period = await periodOf(app, query);
    const columns = failureColumns(period.domain.name);
    return new Response(streamed(toCsv(columns, eachFailure(app.db, period))), {
      headers: csvHeaders(exportName('tls-failures', period)),
    });
  },
});

const failureColumns = (domain: string): CsvColumn<NamedFailure>[] => [
  ['day', (row) => row.day],
  ['reporter', (row) => row.reporter],
  ['report_id', (row) => row.report_id],
  ['result_type', (row) => row.result_type],
  ['sessions', (row) => row.sessions],
  ['receiving_mx', (row) => row.receiving_mx],
  ['sending_ip', (row) => row.sending_ip],
  ['reason_code', (row) => row.reason_code],
  ['meaning', (row) => explainTlsFailure(row.result_type, domain).meaning],
];

const exportComplaints = route({
  method: 'GET',
  path: '/v1/feedback/complaints/export',
  operation: 'exportComplaints',
  role: 'viewer',
  summary: 'Export complaints',
  description: 'Returns all matching complaints as CSV, newest first.',
  query: ComplaintExportQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  async handle({ app: { db }, query }) {
    const all = describedRows(eachComplaints(db, query), (found) => describeComplaints(db, found));
    return new Response(streamed(toCsv(COMPLAINT_COLUMNS, all)), {
      headers: csvHeaders(messagesName('complaints', query)),
    });
  },
});

async function* describedRows<Row, Described>(
  pages: AsyncIterable<Row[]>,
  describe: (rows: Row[]) => Promise<Described[]>,
): AsyncGenerator<Described> {
  for await (const page of pages) yield* await describe(page);
}

/** Days and IDs have no characters that a file name must not have. */
const messagesName = (what: string, { from, to }: { from?: string; to?: string }): string =>
  [what, from, to].filter((part) => part !== undefined).join('-');

const COMPLAINT_COLUMNS: CsvColumn<ListedComplaint>[] = [
  ['id', (row) => row.id],
  ['received_at', (row) => row.received_at],
  ['arrived_at', (row) => row.arrived_at],
  ['kind', (row) => row.kind],
  ['provider', (row) => row.provider],
  ['reporter', (row) => row.reporter],
  ['source', ({ source: found }) => found?.name ?? null],
  ['address', (row) => row.address],
  ['from_domain', (row) => row.from_domain],
  ['recipient_domain', (row) => row.recipient_domain],
  ['subject', (row) => row.subject],
  ['message_id', (row) => row.message_id],
  ['list_id', (row) => row.list_id],
  ['feedback_id', (row) => row.feedback_id],
  ['dkim_domain', (row) => row.dkim_domain],
];

const exportBounces = route({
  method: 'GET',
  path: '/v1/feedback/bounces/export',
  operation: 'exportBounces',
  role: 'viewer',
  summary: 'Export bounces',
  description:
    'Returns all matching bounces as CSV, newest first, each with what the provider means.',
  query: BounceExportQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  async handle({ app: { db }, query }) {
    const all = describedRows(eachBounces(db, query), (found) => describeBounces(db, found));
    return new Response(streamed(toCsv(BOUNCE_COLUMNS, all)), {
      headers: csvHeaders(messagesName('bounces', query)),
    });
  },
});

const BOUNCE_COLUMNS: CsvColumn<ListedBounce>[] = [
  ['id', (row) => row.id],
  ['received_at', (row) => row.received_at],
  ['class', (row) => row.class],
  ['action', (row) => row.action],
  ['status_code', (row) => row.status_code],
  ['diagnostic', (row) => row.diagnostic],
  ['meaning', (row) => row.explanation?.text ?? null],
  ['provider', (row) => row.provider],
  ['reporter', (row) => row.reporter],
  ['source', ({ source: found }) => found?.name ?? null],
  ['remote_server', (row) => row.remote_server],
  ['reporting_server', (row) => row.reporting_server],
  ['from_domain', (row) => row.from_domain],
  ['recipient_domain', (row) => row.recipient_domain],
  ['subject', (row) => row.subject],
  ['message_id', (row) => row.message_id],
  ['test_id', ({ finding }) => finding?.test_id ?? null],
  ['finding', ({ finding }) => finding?.title ?? null],
];

export const feedbackExports = { exportTls, exportTlsFailures, exportComplaints, exportBounces };

/** The exports of TLS reports, complaints and bounces as CSV. */

import type * as v from 'valibot';
import { route } from '../http/route.ts';
import { csvFile } from '../http/streamed.ts';
import type { CsvColumn } from '../lib/csv.ts';
import { describeBounces, describeComplaints } from './messages/describe.ts';
import { eachBounces, eachComplaints } from './queries.ts';
import {
  BounceExportQuery,
  ComplaintExportQuery,
  type ListedBounce,
  type ListedComplaint,
} from './schemas/message.ts';
import { SummaryQuery } from './schemas/period.ts';
import type { TlsFeedback } from './schemas/tls.ts';
import { exportName, periodOf } from './sums.ts';
import { explainTlsFailure } from './tls/explain.ts';
import { eachFailure, type NamedFailure } from './tls/policies.ts';
import { tlsDays } from './tls/summary.ts';

const exportTls = route({
  method: 'GET',
  path: '/v1/feedback/tls/export',
  operation: 'exportTlsFeedback',
  limited: true,
  role: 'viewer',
  summary: 'Export the days of TLS reports',
  description: 'Returns the TLS sessions of a domain on each day of a period, as CSV.',
  query: SummaryQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  errors: ['not_found'],
  async handle({ app, query }) {
    const period = await periodOf(app, query);
    return csvFile(exportName('tls-days', period), TLS_DAY_COLUMNS, await tlsDays(app, period));
  },
});

type TlsDay = v.InferOutput<typeof TlsFeedback>['days'][number];

const TLS_DAY_COLUMNS: CsvColumn<TlsDay>[] = ['date', 'succeeded', 'failed'];

const exportTlsFailures = route({
  method: 'GET',
  path: '/v1/feedback/tls/failures/export',
  operation: 'exportTlsFailures',
  limited: true,
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
    return csvFile(exportName('tls-failures', period), columns, eachFailure(app.db, period));
  },
});

const failureColumns = (domain: string): CsvColumn<NamedFailure>[] => [
  'day',
  'reporter',
  'report_id',
  'result_type',
  'sessions',
  'receiving_mx',
  'sending_ip',
  'reason_code',
  ['meaning', (row) => explainTlsFailure(row.result_type, domain).meaning],
];

const exportComplaints = route({
  method: 'GET',
  path: '/v1/feedback/complaints/export',
  operation: 'exportComplaints',
  limited: true,
  role: 'viewer',
  summary: 'Export complaints',
  description: 'Returns all matching complaints as CSV, newest first.',
  query: ComplaintExportQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  async handle({ app: { db }, query }) {
    const all = describedRows(eachComplaints(db, query), (found) => describeComplaints(db, found));
    return csvFile(messagesName('complaints', query), COMPLAINT_COLUMNS, all);
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
  'id',
  'received_at',
  'arrived_at',
  'kind',
  'provider',
  'reporter',
  ['source', ({ source: found }) => found?.name ?? null],
  'address',
  'from_domain',
  'recipient_domain',
  'subject',
  'message_id',
  'list_id',
  'feedback_id',
  'dkim_domain',
];

const exportBounces = route({
  method: 'GET',
  path: '/v1/feedback/bounces/export',
  operation: 'exportBounces',
  limited: true,
  role: 'viewer',
  summary: 'Export bounces',
  description:
    'Returns all matching bounces as CSV, newest first, each with what the provider means.',
  query: BounceExportQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  async handle({ app: { db }, query }) {
    const all = describedRows(eachBounces(db, query), (found) => describeBounces(db, found));
    return csvFile(messagesName('bounces', query), BOUNCE_COLUMNS, all);
  },
});

const BOUNCE_COLUMNS: CsvColumn<ListedBounce>[] = [
  'id',
  'received_at',
  'class',
  'action',
  'status_code',
  'diagnostic',
  ['meaning', (row) => row.explanation?.text ?? null],
  'provider',
  'reporter',
  ['source', ({ source: found }) => found?.name ?? null],
  'remote_server',
  'reporting_server',
  'from_domain',
  'recipient_domain',
  'subject',
  'message_id',
  ['test_id', ({ finding }) => finding?.test_id ?? null],
  ['finding', ({ finding }) => finding?.title ?? null],
];

export const feedbackExports = { exportTls, exportTlsFailures, exportComplaints, exportBounces };

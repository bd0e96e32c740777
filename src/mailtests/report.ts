/** The operations that answer a test's report: as a page, and as a PDF. */

import type { CategoryScore, Grade } from '../analysis/result.ts';
import type { App } from '../app.ts';
import type { Call } from '../http/route.ts';
import { route } from '../http/route.ts';
import { AppError } from '../lib/errors.ts';
import type { ReportFormat, SealedReport } from '../render/thread/job.ts';
import type { TestRow } from '../store/tables.ts';
import { findMessageOf, MessageGone, readMessage } from './messages.ts';
import { presentTest } from './present.ts';
import { testOr404 } from './test-or-404.ts';

export const reportHtml = route({
  method: 'GET',
  path: '/v1/tests/:id/report.html',
  operation: 'getTestReportPage',
  role: 'viewer',
  summary: 'Get the report of a test as a page that needs nothing but itself',
  produces: ['text/html'],
  errors: ['conflict', 'unavailable'],
  handle: (call) => answer(call, 'html', { 'content-type': 'text/html; charset=utf-8' }),
});

export const reportPdf = route({
  method: 'GET',
  path: '/v1/tests/:id/report.pdf',
  operation: 'getTestReportPdf',
  role: 'viewer',
  summary: 'Get the report of a test as a PDF',
  produces: ['application/pdf'],
  errors: ['conflict', 'unavailable'],
  handle: (call) =>
    answer(call, 'pdf', {
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename="${call.params.id}.pdf"`,
    }),
});

type Asked = Pick<Call<'viewer', undefined, undefined>, 'app' | 'actor' | 'params' | 'signal'>;

async function answer(
  { app, actor, params, signal }: Asked,
  format: ReportFormat,
  headers: Record<string, string>,
): Promise<Response> {
  const row = await testOr404(app, params.id!, actor.livemode);
  const report = sealedReport(row, app);
  const message = () => messageOf(app, row.id);
  const { bytes, policy } = await app.reporter.render({ format, report, message, signal });
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      ...headers,
      'content-length': String(bytes.byteLength),
      ...(policy === null ? {} : { 'content-security-policy': policy }),
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    },
  });
}

/** null where the message is gone: its report tells what was found in it all the same. */
async function messageOf({ db }: App, testId: string): Promise<Uint8Array | null> {
  const message = await findMessageOf(db, testId);
  if (!message) return null;
  try {
    return await readMessage(db, message);
  } catch (error) {
    if (error instanceof MessageGone) return null;
    throw error;
  }
}

/** Throws `conflict` for a test that has no result. */
function sealedReport(row: TestRow, { config }: Pick<App, 'config'>): SealedReport {
  if (row.checks === null) throw new AppError('conflict', withoutResult(row));
  const { id, name, received_at, completed_at, subject, from_address, ...test } = presentTest(
    row,
    config,
  );
  return {
    ...{ id, name, received_at, completed_at, subject, from_address },
    score: test.score,
    grade: test.grade as Grade | null,
    cap: test.cap,
    coverage: test.coverage ?? 1,
    summary: test.summary ?? '',
    message_size: test.message_size ?? 0,
    auth_results: test.auth_results,
    categories: test.categories as CategoryScore[],
    ruleset: test.ruleset ?? '',
    envelope: test.envelope,
    // Results of the first rulesets lack it.
    judged_kind: test.judged_kind ?? { kind: 'transactional', by: 'message', reasons: [] },
    placement: [],
    checks: row.checks,
    providers: row.providers ?? '[]',
  };
}

function withoutResult({ status, failure_reason }: TestRow): string {
  if (status === 'waiting') return 'There is no report yet: the mail has not come.';
  if (status === 'processing') return 'There is no report yet: the mail is being analysed.';
  return failure_reason === 'not_received'
    ? 'There is no report: the mail did not come in time.'
    : 'There is no report: the mail could not be analysed.';
}

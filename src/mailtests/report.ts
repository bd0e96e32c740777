/** The operations that return the report of a test, as a page or a PDF. */

import type { App } from '../app.ts';
import { PRIVATE_HEADERS } from '../http/response.ts';
import type { Call } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { ReportFormat } from '../report/report.ts';
import { findMessageOf, MessageDeletedError, readMessage } from './messages.ts';
import { storedReport } from './present.ts';
import { testOr404 } from './queries.ts';

export const reportHtml = route({
  method: 'GET',
  path: '/v1/tests/:id/report.html',
  operation: 'getTestReportPage',
  role: 'viewer',
  summary: 'Get the report of a test as a self-contained HTML page',
  produces: ['text/html'],
  errors: ['conflict', 'unavailable'],
  handle: (call) => respond(call, 'html', { 'content-type': 'text/html; charset=utf-8' }),
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
    respond(call, 'pdf', {
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename="${call.params.id}.pdf"`,
    }),
});

type ReportCall = Pick<Call<'viewer', undefined, undefined>, 'app' | 'actor' | 'params' | 'signal'>;

async function respond(
  { app, actor, params, signal }: ReportCall,
  format: ReportFormat,
  headers: Record<string, string>,
): Promise<Response> {
  const row = await testOr404(app, params.id!, actor.livemode);
  const report = storedReport(row, app);
  const message = () => messageOf(app, row.id);
  const { bytes, policy } = await app.reporter.render({
    kind: 'test',
    format,
    report,
    message,
    signal,
  });
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      ...headers,
      'content-length': String(bytes.byteLength),
      ...(policy === null ? {} : { 'content-security-policy': policy }),
      ...PRIVATE_HEADERS,
    },
  });
}

/** null if the message was deleted: the report then shows the findings without it. */
async function messageOf({ db }: App, testId: string): Promise<Uint8Array | null> {
  const message = await findMessageOf(db, testId);
  if (!message) return null;
  try {
    return await readMessage(db, message);
  } catch (error) {
    if (error instanceof MessageDeletedError) return null;
    throw error;
  }
}

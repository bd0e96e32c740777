/** The operations that return the report of a test, as a page or a PDF. */

import type { App } from '../app.ts';
import { findDomainNames } from '../domains/queries.ts';
import { reportedSourceOf } from '../feedback/sources/of-test.ts';
import { type Actor, allows } from '../http/actor.ts';
import { PRIVATE_HEADERS } from '../http/response.ts';
import type { Call } from '../http/route.ts';
import { route } from '../http/route.ts';
import { idOf } from '../http/schemas.ts';
import { ownerOf } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import type { PartDifference } from '../report/difference.ts';
import type { AppFrame, ReportFormat, StoredMessage } from '../report/report.ts';
import { MessageDeletedError, readMessage } from '../store/chunks.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { FORM_REFERRER } from '../ui/frame.tsx';
import { loadedImagesOf } from './images.ts';
import { findMessageOf } from './messages.ts';
import { storedReport } from './present.ts';
import { testOr404 } from './queries.ts';
import { findTries } from './unsubscribe.ts';

const TEST_ID = idOf('test', 'The ID of the test.');

export const reportHtml = route({
  method: 'GET',
  path: '/v1/tests/:id/report.html',
  params: { id: TEST_ID },
  operation: 'getTestReportPage',
  limited: true,
  role: 'viewer',
  summary: 'Get a report as a page',
  description: 'Returns the report of a test as a self-contained HTML page.',
  produces: ['text/html'],
  errors: ['conflict', 'unavailable'],
  handle: (call) => respond(call, 'html', { 'content-type': 'text/html; charset=utf-8' }),
});

export const reportPdf = route({
  method: 'GET',
  path: '/v1/tests/:id/report.pdf',
  params: { id: TEST_ID },
  operation: 'getTestReportPdf',
  limited: true,
  role: 'viewer',
  responseHeaders: ['Content-Disposition'],
  summary: 'Get a report as a PDF',
  description: 'Returns the report of a test as a PDF.',
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
  call: ReportCall,
  format: ReportFormat,
  headers: Record<string, string>,
): Promise<Response> {
  const row = await testOr404(call.app, call.params.id!, call.actor.livemode);
  return render(call, row, { format, headers });
}

/** The report of a test as a page of the web application. */
export const renderTestPage = (
  call: Omit<ReportCall, 'params'>,
  row: TestRow,
  frame: AppFrame,
): Promise<Response> =>
  render(call, row, {
    format: 'html',
    headers: { 'content-type': 'text/html; charset=utf-8' },
    frame,
  });

interface RenderOptions {
  format: ReportFormat;
  headers: Record<string, string>;
  frame?: AppFrame;
}

async function render(
  { app, actor, signal }: Omit<ReportCall, 'params'>,
  row: TestRow,
  { format, headers, frame }: RenderOptions,
): Promise<Response> {
  const report = {
    ...storedReport(row, app),
    reportedSource: await reportedSourceOf(app, row),
    unsubscribeTries: await findTries(app, row.id),
    ...(format === 'html' && hasForms(actor)
      ? {
          kindForm: kindPath(row.id),
          imagesForm: imagesPath(row.id),
          unsubscribeForm: unsubscribePath(row.id),
        }
      : {}),
    ...(frame && canPublish(actor) ? { publish: await publishTarget(app, row) } : {}),
  };
  const message = () => storedMessage(app, row.id, true);
  const { bytes, policy } = await app.reportRenderer.render({
    kind: 'test',
    format,
    frame,
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
      // A browser may store the page, but asks again before it shows it.
      ...(format === 'html' && { 'cache-control': 'private, no-cache' }),
      ...('kindForm' in report || frame ? { 'referrer-policy': FORM_REFERRER } : {}),
    },
  });
}

const canPublish = ({ role, livemode }: Actor): boolean => allows(role, 'admin') && livemode;

/** Where records of the domain of a test can be published; null if the domain is not the team’s. */
async function publishTarget(
  { db, config }: Pick<App, 'db' | 'config'>,
  { id, domain_id }: Pick<TestRow, 'id' | 'domain_id'>,
): Promise<{ url: string; owner: string } | null> {
  if (domain_id === null) return null;
  const name = (await findDomainNames(db, [domain_id])).get(domain_id);
  if (name === undefined) return null;
  const url = `${config.APP_URL}/domains/${domain_id}/dns?test_id=${id}`;
  return { url, owner: ownerOf(name) };
}

/** Only a signed-in browser can send forms. */
const hasForms = ({ sessionId, role }: Actor): boolean =>
  sessionId !== null && allows(role, 'member');

/** Where the page of a report sends the kind that the reader chooses. */
export const kindPath = (testId: string): string => `/tests/${testId}/kind`;

/** Where the page of a report sends the wish to load the images of the message. */
export const imagesPath = (testId: string): string => `/tests/${testId}/images`;

/** Where the page of a report sends the wish to try the unsubscribe link. */
export const unsubscribePath = (testId: string): string => `/tests/${testId}/unsubscribe`;

/** The difference of the messages of two tests; null if one of them was deleted, or if they are too large. */
export async function differenceOf(
  app: App,
  [before, after]: [string, string],
): Promise<PartDifference[] | null> {
  const bytesOf = async (id: string) => {
    const message = await storedMessage(app, id, false);
    if (message === null) throw new AppError('not_found', 'The message was deleted.');
    return message.raw;
  };
  try {
    const { bytes } = await app.reportRenderer.render({
      kind: 'difference',
      messages: async () => ({ before: await bytesOf(before), after: await bytesOf(after) }),
    });
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** null if the message was deleted: the report then shows the findings without it. */
export async function storedMessage(
  { db }: Pick<App, 'db'>,
  testId: string,
  withImages: boolean,
): Promise<StoredMessage | null> {
  const message = await findMessageOf(db, testId);
  if (!message) return null;
  try {
    const raw = await readMessage(db, message);
    return { raw, images: withImages ? await loadedImagesOf(db, testId) : null };
  } catch (error) {
    if (error instanceof MessageDeletedError) return null;
    throw error;
  }
}

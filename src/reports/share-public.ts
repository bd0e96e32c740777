/** What whoever has a link reads, without credentials: a page, a PDF, or JSON (contract §5). */

import type { App } from '../app.ts';
import { prefersJson } from '../http/page.ts';
import { type Call, route } from '../http/route.ts';
import type { ErrorCode } from '../lib/errors.ts';
import type { Rendered, ReportFormat } from '../render/thread/job.ts';
import type { SharedReportRow } from '../store/report-tables.ts';
import { publicJson } from './share-content.ts';
import { openShare, PRIVATE_FIELDS } from './share-queries.ts';
import { renderShare } from './share-rendering.ts';
import { PublicReport } from './share-schema.ts';
import { noteView } from './share-views.ts';

/** Nobody guesses a token of 256 bits; and nobody keeps the service busy by making reports. */
const LIMIT = { requests: 120, seconds: 60 };

const TYPES = {
  html: 'text/html; charset=utf-8',
  pdf: 'application/pdf',
  json: 'application/json',
};

const ERRORS: ErrorCode[] = ['gone', 'unavailable'];

/** Before the page, whose path takes its own too. */
const getPdf = route({
  method: 'GET',
  path: '/reports/public/:token.pdf',
  secretParams: ['token'],
  operation: 'getPublicReportPdf',
  role: 'public',
  byLink: true,
  limit: 'getPublicReport',
  summary: 'Read a shared report by its link as a PDF',
  produces: ['application/pdf'],
  errors: ERRORS,
  handle: (call) => answer(call, 'pdf'),
});

const getPage = route({
  method: 'GET',
  path: '/reports/public/:token',
  secretParams: ['token'],
  operation: 'getPublicReport',
  role: 'public',
  byLink: true,
  limit: LIMIT,
  summary: 'Read a shared report by its link: a page, or JSON with `Accept: application/json`',
  produces: ['text/html', 'application/json'],
  json: PublicReport,
  errors: ERRORS,
  handle: (call) => answer(call, prefersJson(call.headers.get('accept') ?? '') ? 'json' : 'html'),
});

type Asked = Pick<Call<'public', undefined, undefined>, 'app' | 'params' | 'headOnly'>;

async function answer(
  { app, params, headOnly }: Asked,
  form: ReportFormat | 'json',
): Promise<Response> {
  const row = await openShare(app, params.token!);
  const { bytes, policy } =
    form === 'json' ? await asJson(app, row) : await renderShare(app, row, form);
  if (!headOnly) noteView(app, row.id);
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      ...PRIVATE_FIELDS,
      'content-type': TYPES[form],
      'content-length': String(bytes.byteLength),
      ...(policy === null ? {} : { 'content-security-policy': policy }),
      ...(form === 'pdf' ? { 'content-disposition': 'inline; filename="report.pdf"' } : VARY),
    },
  });
}

const VARY = { vary: 'Accept' };

async function asJson(app: App, row: SharedReportRow): Promise<Rendered> {
  return { bytes: new TextEncoder().encode(await publicJson(app, row)), policy: null };
}

export const publicRoutes = [getPdf, getPage];

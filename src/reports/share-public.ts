/** What whoever has a link reads, without credentials: a page, a PDF, or JSON (contract §5). */

import { prefersJson } from '../http/page.ts';
import { PRIVATE_FIELDS } from '../http/private-fields.ts';
import { type Call, route } from '../http/route.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { PAGE_CSP } from '../render/page/frame.tsx';
import { openShare } from './share-queries.ts';
import { keptShare, renderShare, type ShareForm } from './share-rendering.ts';
import { FormQuery, PublicReport } from './share-schema.ts';
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
  query: FormQuery,
  produces: ['text/html', 'application/json', 'application/pdf'],
  json: PublicReport,
  errors: ERRORS,
  handle(call) {
    // The link on the page says no token this way, so a saved copy of the page has none.
    if (call.query.format === 'pdf') return answer(call, 'pdf');
    return answer(call, prefersJson(call.headers.get('accept') ?? '') ? 'json' : 'html');
  },
});

type Asked = Pick<Call<'public', undefined, undefined>, 'app' | 'params' | 'headOnly'>;

async function answer({ app, params, headOnly }: Asked, form: ShareForm): Promise<Response> {
  const row = await openShare(app, params.token!);
  // Asking for the head alone makes nothing: its length is told where it is known.
  const rendered = headOnly ? await keptShare(app, row, form) : await renderShare(app, row, form);
  if (!headOnly) {
    // Rendering may have waited for its turn: a link that was revoked meanwhile gives nothing more.
    await openShare(app, params.token!);
    noteView(app, row.id);
  }
  return new Response(headOnly ? null : (rendered!.bytes as Uint8Array<ArrayBuffer>), {
    headers: {
      ...PRIVATE_FIELDS,
      'content-type': TYPES[form],
      ...(rendered && { 'content-length': String(rendered.bytes.byteLength) }),
      ...(form === 'html' && { 'content-security-policy': rendered?.policy ?? POLICY }),
      ...(form === 'pdf' ? { 'content-disposition': 'inline; filename="report.pdf"' } : VARY),
    },
  });
}

/** Of a page that is not made yet. */
const POLICY = `${PAGE_CSP}; frame-ancestors 'none'`;

const VARY = { vary: 'Accept' };

export const publicRoutes = [getPdf, getPage];

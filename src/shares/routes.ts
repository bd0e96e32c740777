/** Operations on shared reports (contract §5). */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { prefersJson } from '../http/request-context.ts';
import { resource } from '../http/resource.ts';
import { PRIVATE_HEADERS } from '../http/response.ts';
import { type Call, route } from '../http/route.ts';
import { described } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { type ErrorCode, errorMessage } from '../lib/errors.ts';
import { PAGE_CSP } from '../ui/frame.tsx';
import { createShare, revokeShare } from './change-share.ts';
import {
  findActiveShare,
  listShares,
  presentCreated,
  presentShares,
  shareOr404,
} from './queries.ts';
import { cachedShare, renderShare, type ShareFormat } from './rendering.ts';
import {
  FormatQuery,
  NewShare,
  PublicReport,
  Share,
  ShareListQuery,
  ShareWithLink,
} from './schema.ts';

const TOKEN = {
  token: described(v.string(), 'The last path segment of the shared link.', 'q3v9k2m7x5t1w8b4'),
};
const shares = resource({
  type: 'shared_report',
  prefix: 'rpt',
  path: '/v1/reports/shared',
  name: 'SharedReport',
  noun: 'shared report',
  roles: { read: 'viewer', change: 'member' },
  hasTestMode: true,
  response: Share,
  find: (db, id, { livemode }) => shareOr404(db, id, livemode),
  present: (rows, { app, actor, db }) => presentShares(db, app, actor, rows),
});

// Public reports, without credentials, as page, PDF or JSON (contract §5).

/** Limits the rendering load. Guessing is not a concern, because tokens have 256 bits. */
const LIMIT = { requests: 120, seconds: 60 };

const CONTENT_TYPES = {
  html: 'text/html; charset=utf-8',
  pdf: 'application/pdf',
  json: 'application/json',
};

const ERRORS: ErrorCode[] = ['gone', 'unavailable'];

/** Must be registered before the page, because the path of the page also matches PDF requests. */
const getPdf = route({
  method: 'GET',
  path: '/reports/public/:token.pdf',
  secretParams: ['token'],
  params: TOKEN,
  operation: 'getPublicReportPdf',
  role: 'public',
  isPublicLink: true,
  limit: 'getPublicReport',
  summary: 'Get a shared report as a PDF',
  description: 'Returns the public form of a shared report. Unknown query parameters are ignored.',
  produces: ['application/pdf'],
  responseHeaders: ['Content-Disposition'],
  errors: ERRORS,
  handle: (call) => respond(call, 'pdf'),
});

const getPage = route({
  method: 'GET',
  path: '/reports/public/:token',
  secretParams: ['token'],
  params: TOKEN,
  operation: 'getPublicReport',
  role: 'public',
  isPublicLink: true,
  limit: LIMIT,
  summary: 'Get a shared report',
  description:
    'Returns the public form of a shared report as a page or, with `Accept: application/json`, as JSON. Unknown query parameters are ignored.',
  query: FormatQuery,
  produces: ['text/html', 'application/json', 'application/pdf'],
  json: PublicReport,
  errors: ERRORS,
  handle(call) {
    // The page links to its PDF with just this query, so that a saved copy does not contain the token.
    if (call.query.format === 'pdf') return respond(call, 'pdf');
    return respond(call, prefersJson(call.headers.get('accept') ?? '') ? 'json' : 'html');
  },
});

type PublicCall = Pick<Call<'public', undefined, undefined>, 'app' | 'params' | 'headOnly'>;

async function respond(
  { app, params, headOnly }: PublicCall,
  format: ShareFormat,
): Promise<Response> {
  const row = await findActiveShare(app, params.token!);
  // HEAD renders nothing. It returns the length only if the rendering is cached.
  const rendered = headOnly
    ? await cachedShare(app, row, format)
    : await renderShare(app, row, format);
  if (!headOnly) {
    // Rendering takes time, and the link may have been revoked in the meantime.
    await findActiveShare(app, params.token!);
    countView(app, row.id);
  }
  return new Response(headOnly ? null : (rendered!.bytes as Uint8Array<ArrayBuffer>), {
    headers: {
      ...PRIVATE_HEADERS,
      'content-type': CONTENT_TYPES[format],
      ...(rendered && { 'content-length': String(rendered.bytes.byteLength) }),
      ...(format === 'html' && { 'content-security-policy': rendered?.policy ?? DEFAULT_POLICY }),
      ...(format === 'pdf' ? { 'content-disposition': 'inline; filename="report.pdf"' } : VARY),
    },
  });
}

/** For HEAD requests to a page that is not in the cache. */
const DEFAULT_POLICY = `${PAGE_CSP}; frame-ancestors 'none'`;

const VARY = { vary: 'Accept' };

// View counts.

/** Counts a view in the background: the response does not wait for it and does not fail with it. */
function countView({ db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>, id: string): void {
  db.updateTable('shared_reports')
    .set(({ eb }) => ({
      view_count: eb('view_count', '+', 1),
      last_viewed_at: isoTime(clock.now()),
    }))
    .where('id', '=', id)
    .execute()
    .catch((error: unknown) =>
      log.warn('could not count a view of a shared report', {
        report_id: id,
        error: errorMessage(error),
      }),
    );
}

const create = route({
  method: 'POST',
  path: '/v1/reports/share',
  operation: 'shareReport',
  limited: true,
  role: 'member',
  hasTestMode: true,
  summary: 'Share reports',
  description:
    'Creates a public link to the reports of one or more tests, or to the status of the domains with some tags.',
  body: NewShare,
  status: 201,
  location: ({ id }) => `/v1/reports/shared/${id}`,
  response: ShareWithLink,
  async handle(call) {
    const { app, body } = call;
    return call.transact(async (tx) =>
      presentCreated(app, await createShare(tx, call, body), body.test_ids ?? []),
    );
  },
});

const list = shares.list({
  limited: true,
  description:
    'Returns the shared reports, newest first, including expired and revoked ones. Only admins and the owner see the links.',
  query: ShareListQuery,
  rows: (db, query, { actor }) => listShares(db, actor.livemode, query),
});

const get = shares.get({
  limited: true,
  summary: 'Get a shared report of your team',
  description:
    'Returns a shared report with its view count. Only admins and the owner see its link.',
});

const revoke = shares.remove({
  operation: 'revokeSharedReport',
  limited: true,
  summary: 'Revoke a shared report',
  description: 'Revokes a shared report. Its link stops working immediately.',
  work: revokeShare,
});

export const shareOperations = { create, list, get, revoke, getPdf, getPage };

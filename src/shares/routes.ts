/** Operations on shared reports (contract §5). */

import type { App } from '../app.ts';
import { prefersJson } from '../http/request-context.ts';
import { PRIVATE_HEADERS } from '../http/response.ts';
import { type Call, route } from '../http/route.ts';
import { listSchema } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { type ErrorCode, errorMessage } from '../lib/errors.ts';
import { PAGE_CSP } from '../report/html/frame.tsx';
import { deletedOf } from '../team/schema.ts';
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
  FormQuery,
  NewShare,
  PublicReport,
  Share,
  ShareListQuery,
  ShareWithLink,
} from './schema.ts';

// Public reports, without credentials, as page, PDF or JSON (contract §5).

/** Limits the load of rendering. Guessing is hopeless anyway: tokens have 256 bits. */
const LIMIT = { requests: 120, seconds: 60 };

const TYPES = {
  html: 'text/html; charset=utf-8',
  pdf: 'application/pdf',
  json: 'application/json',
};

const ERRORS: ErrorCode[] = ['gone', 'unavailable'];

/** Must be registered before the page, whose path matches this one too. */
const getPdf = route({
  method: 'GET',
  path: '/reports/public/:token.pdf',
  secretParams: ['token'],
  operation: 'getPublicReportPdf',
  role: 'public',
  isPublicLink: true,
  limit: 'getPublicReport',
  summary: 'Get a shared report as a PDF',
  produces: ['application/pdf'],
  errors: ERRORS,
  handle: (call) => respond(call, 'pdf'),
});

const getPage = route({
  method: 'GET',
  path: '/reports/public/:token',
  secretParams: ['token'],
  operation: 'getPublicReport',
  role: 'public',
  isPublicLink: true,
  limit: LIMIT,
  summary: 'Get a shared report as a page or, with `Accept: application/json`, as JSON',
  query: FormQuery,
  produces: ['text/html', 'application/json', 'application/pdf'],
  json: PublicReport,
  errors: ERRORS,
  handle(call) {
    // With this query the page links to its PDF without its token, so a saved copy does not contain the token.
    if (call.query.format === 'pdf') return respond(call, 'pdf');
    return respond(call, prefersJson(call.headers.get('accept') ?? '') ? 'json' : 'html');
  },
});

type PublicCall = Pick<Call<'public', undefined, undefined>, 'app' | 'params' | 'headOnly'>;

async function respond(
  { app, params, headOnly }: PublicCall,
  form: ShareFormat,
): Promise<Response> {
  const row = await findActiveShare(app, params.token!);
  // HEAD renders nothing. It returns the length only if the rendering is cached.
  const rendered = headOnly ? await cachedShare(app, row, form) : await renderShare(app, row, form);
  if (!headOnly) {
    // Rendering takes time: the link may have been revoked meanwhile.
    await findActiveShare(app, params.token!);
    countView(app, row.id);
  }
  return new Response(headOnly ? null : (rendered!.bytes as Uint8Array<ArrayBuffer>), {
    headers: {
      ...PRIVATE_HEADERS,
      'content-type': TYPES[form],
      ...(rendered && { 'content-length': String(rendered.bytes.byteLength) }),
      ...(form === 'html' && { 'content-security-policy': rendered?.policy ?? DEFAULT_POLICY }),
      ...(form === 'pdf' ? { 'content-disposition': 'inline; filename="report.pdf"' } : VARY),
    },
  });
}

/** For HEAD requests to a page that is not rendered yet. */
const DEFAULT_POLICY = `${PAGE_CSP}; frame-ancestors 'none'`;

const VARY = { vary: 'Accept' };

const publicRoutes = [getPdf, getPage];

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
  role: 'member',
  summary: 'Create a shared link to the reports of one or more tests',
  body: NewShare,
  status: 201,
  location: ({ id }) => `/v1/reports/shared/${id}`,
  response: ShareWithLink,
  async handle(call) {
    const { app, body } = call;
    return call.transact(async (tx) =>
      presentCreated(app, await createShare(tx, call, body), body.test_ids),
    );
  },
});

const list = route({
  method: 'GET',
  path: '/v1/reports/shared',
  operation: 'listSharedReports',
  role: 'viewer',
  summary:
    'List shared reports, newest first, including expired and revoked ones; only admins and the owner see the links',
  query: ShareListQuery,
  response: listSchema(Share),
  async handle({ app, actor, query }) {
    const { rows, hasMore } = await listShares(app.db, actor.livemode, query);
    const data = await presentShares(app.db, app, actor, rows);
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/reports/shared/:id',
  operation: 'getSharedReport',
  role: 'viewer',
  summary: 'Get a shared report with its view count; only admins and the owner see its link',
  response: Share,
  async handle({ app, actor, params }) {
    const row = await shareOr404(app.db, params.id!, actor.livemode);
    return (await presentShares(app.db, app, actor, [row]))[0]!;
  },
});

const revoke = route({
  method: 'DELETE',
  path: '/v1/reports/shared/:id',
  operation: 'revokeSharedReport',
  role: 'member',
  summary: 'Revoke a shared report; its link stops working immediately',
  response: deletedOf('shared_report'),
  async handle(call) {
    const { actor, params } = call;
    return call.transact(async (tx) => {
      await revokeShare(tx, call, await shareOr404(tx, params.id!, actor.livemode));
      return { id: params.id!, object: 'shared_report', deleted: true };
    });
  },
});

export const shareRoutes = [create, list, get, revoke, ...publicRoutes];

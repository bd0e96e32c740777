/** The operations by which a team shares reports and takes them back (contract §5). */

import type { App } from '../app.ts';
import { prefersJson } from '../http/request-context.ts';
import { PRIVATE_FIELDS } from '../http/response.ts';
import { type Call, route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { type ErrorCode, errorMessage } from '../lib/errors.ts';
import { PAGE_CSP } from '../report/html/frame.tsx';
import { deletedOf } from '../team/schema.ts';
import { createShare, revokeShare } from './change-share.ts';
import { listShares, openShare, presentMade, presentShares, shareOr404 } from './queries.ts';
import { keptShare, renderShare, type ShareForm } from './rendering.ts';
import {
  FormQuery,
  NewShare,
  PublicReport,
  Share,
  ShareListQuery,
  ShareWithLink,
} from './schema.ts';

// What whoever has a link reads, without credentials: a page, a PDF, or JSON (contract §5).

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

const publicRoutes = [getPdf, getPage];

// How often the report of a link was read.

/** Counts one, behind whatever else is written: no reader waits for it, nor is refused where it fails. */
function noteView({ db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>, id: string): void {
  db.updateTable('shared_reports')
    .set(({ eb }) => ({
      view_count: eb('view_count', '+', 1),
      last_viewed_at: isoTime(clock.now()),
    }))
    .where('id', '=', id)
    .execute()
    .catch((error: unknown) =>
      log.warn('a view of a shared report was not counted', {
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
  summary: 'Make a link by which whoever has it reads the reports of some tests, without a sign-in',
  body: NewShare,
  status: 201,
  location: ({ id }) => `/v1/reports/shared/${id}`,
  response: ShareWithLink,
  async handle(call) {
    const { app, body } = call;
    return call.transact(async (tx) =>
      presentMade(app, await createShare(tx, call, body), body.test_ids),
    );
  },
});

const list = route({
  method: 'GET',
  path: '/v1/reports/shared',
  operation: 'listSharedReports',
  role: 'viewer',
  summary: 'List shared reports, newest first, those that have ended too; admins see their links',
  query: ShareListQuery,
  response: listOf(Share),
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
  summary: 'Get a shared report: how often it was read, and, for admins, its link',
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
  summary: 'Revoke a shared report: its link ends at once',
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

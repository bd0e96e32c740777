/** The pages of a public test: its address, then its report, behind a link that nobody can guess. */

import * as v from 'valibot';
import type { App } from '../../app.ts';
import { PRIVATE_HEADERS } from '../../http/response.ts';
import { type Call, route } from '../../http/route.ts';
import { isoTime } from '../../lib/clock.ts';
import { waitUntil } from '../../lib/concurrency.ts';
import { AppError } from '../../lib/errors.ts';
import {
  createPublicTest,
  deletePublicTest,
  PUBLIC_RETENTION_MS,
  publicTestOr404,
} from '../../mailtests/public.ts';
import type { ReportFormat } from '../../report/report.ts';
import { sharedReport } from '../../shares/rendering.ts';
import type { TestRow } from '../../store/tables.generated.ts';
import { Copyable } from '../../ui/components.tsx';
import { FORM, Notice, Submit } from '../frame/form.tsx';
import { pageResponse, seeOther } from '../frame/page.tsx';
import { page } from '../frame/page-route.ts';
import { DEFAULT_LOCALE } from '../frame/reader.tsx';
import { formatTime } from '../frame/times.tsx';

const PATH = '/public/tests';
const pathOf = (token: string): string => `${PATH}/${encodeURIComponent(token)}`;

/** The path contains the token, and nobody but the visitor should find the page. */
const HEADERS = { 'x-robots-tag': 'noindex, nofollow', 'cache-control': 'private, no-store' };

/** Renders reports for anyone, so it is limited beside the number of tests. */
const LIMIT = { requests: 60, seconds: 60 };

const create = route({
  method: 'POST',
  path: PATH,
  operation: 'submitPublicTest',
  role: 'public',
  writes: true,
  summary: 'Create a public test',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    requirePublicTests(call.app);
    return seeOther(pathOf(await createPublicTest(call)));
  },
});

function requirePublicTests({ config }: Pick<App, 'config'>): void {
  if (!config.PUBLIC_TESTS)
    throw new AppError('not_found', 'Public tests are disabled. Sign in to test a message.');
}

const Query = v.strictObject({
  /** The report as a PDF. */
  format: v.optional(v.string()),
  /** The script of the page waits this many seconds for another state than `seen`. */
  wait: v.optional(v.string()),
  seen: v.optional(v.string()),
  /** The report links to its deletion with a query, so that the page does not repeat the token. */
  delete: v.optional(v.string()),
});

const MAX_WAIT_SECONDS = 25;

const show = page({
  path: `${PATH}/:token`,
  secretParams: ['token'],
  operation: 'showPublicTest',
  role: 'public',
  limit: LIMIT,
  summary: 'Show a public test',
  query: Query,
  async handle(call) {
    const { app, params, query, signal } = call;
    const token = params.token!;
    if (query.delete !== undefined) return seeOther(`${pathOf(token)}/delete`);
    const find = () => publicTestOr404(app, token);
    const first = await find();
    const ms = Math.min(Number(query.wait) || 0, MAX_WAIT_SECONDS) * 1000;
    const row =
      ms > 0 && query.seen === first.status
        ? await waitUntil(app, { name: first.id, ms, abort: signal }, find, isNews(first.status))
        : first;
    if (row.status === 'completed') return reportResponse(call, row, query.format === 'pdf');
    return row.status === 'failed' ? failedPage(row) : waitingPage(app, row, token);
  },
});

const isNews =
  (seen: string) =>
  ({ status }: TestRow): boolean =>
    status !== seen;

function waitingPage({ config }: App, row: TestRow, token: string): Response {
  const address = `${row.token}@${config.INBOX_DOMAIN}`;
  const isWaiting = row.status === 'waiting';
  return pageResponse({
    title: isWaiting ? 'Send your message to this address' : 'Checking your message',
    wide: true,
    headers: HEADERS,
    children: (
      <div
        class="stack"
        id="watched"
        data-watch={pathOf(token)}
        data-version={row.status}
        data-stage={row.status}
        data-status={isWaiting ? '' : 'The message has arrived. The checks are running.'}
      >
        {isWaiting ? (
          <>
            <div class="box address">
              <Copyable text={address} label="the address" />
            </div>
            <p>
              Send one message, exactly as you send it to your recipients. The report appears here.
              The address works until{' '}
              {formatTime(row.expires_at, { timeZone: null, locale: DEFAULT_LOCALE })}.
            </p>
            <p class="small muted">
              Anyone with the link to this page can read the report, but not the message. Both are
              deleted after 7 days.
            </p>
          </>
        ) : (
          <p>The message has arrived. The checks take up to 15 seconds.</p>
        )}
        <noscript>
          <p>
            <a href={pathOf(token)}>Reload this page</a> to see the report.
          </p>
        </noscript>
      </div>
    ),
    more: <DeleteLink token={token} />,
  });
}

const DeleteLink = ({ token }: { token: string }) => (
  <p class="small">
    <a href={`${pathOf(token)}/delete`}>Delete this test</a>
  </p>
);

const FAILURES = {
  not_received: 'No message arrived before the address expired.',
  unreadable: 'The message could not be analyzed, because it is malformed or too complex.',
  analysis_error: 'The message could not be analyzed. DNS did not respond for several minutes.',
};

function failedPage({ failure_reason }: TestRow): Response {
  return pageResponse({
    title: 'No report',
    headers: HEADERS,
    children: (
      <>
        <Notice tone="fail">{FAILURES[failure_reason ?? 'analysis_error']}</Notice>
        <form method="post" action={PATH}>
          <Submit>Get a new address</Submit>
        </form>
      </>
    ),
  });
}

type PublicCall = Pick<Call<'public', undefined, undefined>, 'app' | 'signal'>;

/** The report without the message, as behind a shared link. */
async function reportResponse(
  { app, signal }: PublicCall,
  row: TestRow,
  isPdf: boolean,
): Promise<Response> {
  const format: ReportFormat = isPdf ? 'pdf' : 'html';
  const { bytes, policy } = await app.reportRenderer.render({
    kind: 'shared',
    format,
    shared: async () => ({
      title: null,
      created_at: row.created_at,
      expires_at: isoTime(Date.parse(row.created_at) + PUBLIC_RETENTION_MS),
      reports: [sharedReport(row, app)],
      deletedTests: 0,
      canDelete: true,
    }),
    signal,
  });
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      ...PRIVATE_HEADERS,
      ...HEADERS,
      'content-type': isPdf ? 'application/pdf' : 'text/html; charset=utf-8',
      'content-length': String(bytes.byteLength),
      ...(policy === null ? {} : { 'content-security-policy': policy }),
      ...(isPdf ? { 'content-disposition': 'inline; filename="report.pdf"' } : {}),
    },
  });
}

const showDeletion = page({
  path: `${PATH}/:token/delete`,
  secretParams: ['token'],
  operation: 'showPublicTestDeletion',
  role: 'public',
  summary: 'Show the confirmation to delete a public test',
  async handle({ app, params }) {
    await publicTestOr404(app, params.token!);
    return pageResponse({
      title: 'Delete this test?',
      headers: HEADERS,
      children: (
        <>
          <p>The message and its report are deleted immediately, for everyone with the link.</p>
          <form method="post" action={`${pathOf(params.token!)}/delete`}>
            <Submit>Delete test</Submit>
          </form>
          <p class="links">
            <a href={pathOf(params.token!)}>Cancel</a>
          </p>
        </>
      ),
    });
  },
});

const submitDeletion = route({
  method: 'POST',
  path: `${PATH}/:token/delete`,
  secretParams: ['token'],
  operation: 'submitPublicTestDeletion',
  role: 'public',
  writes: true,
  summary: 'Delete a public test',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    await call.transact((tx) => deletePublicTest(tx, call.app, call.params.token!));
    return seeOther('/?done=deleted');
  },
});

export const publicTestPages = [create, showDeletion, submitDeletion, show];

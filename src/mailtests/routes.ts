/** The operations on tests (contract §4). */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { requireDomain } from '../domains/queries.ts';
import { route } from '../http/route.ts';
import { listSchema } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { waitUntil } from '../lib/concurrency.ts';
import { AppError } from '../lib/errors.ts';
import { afterCommit } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { audit } from '../team/audit.ts';
import { reauthorize } from '../team/permissions.ts';
import { findMessageOf, readChunks } from './messages.ts';
import { presentListed, presentTest } from './present.ts';
import {
  ANALYZE_JOB,
  changeTest,
  deleteTests,
  eachTest,
  insertTest,
  listTests,
  newTestRow,
  testOr404,
} from './queries.ts';
import { reportHtml, reportPdf } from './report.ts';
import {
  ListedTest,
  NewTest,
  SubmitQuery,
  Test,
  TestFilters,
  TestListQuery,
  TestPatch,
  WaitQuery,
} from './schema.ts';
import { submitMessage } from './submit.ts';
import { countTest } from './tally.ts';

// Reanalysis.

const reanalyze = route({
  method: 'POST',
  path: '/v1/tests/:id/reanalyze',
  operation: 'reanalyzeTest',
  role: 'member',
  summary: 'Reanalyze the stored message with the current DNS records and rules',
  response: Test,
  errors: ['conflict'],
  async handle(call) {
    const { app, actor, params } = call;
    return call.transact(async (tx) => {
      const row = await testOr404({ db: tx }, params.id!, actor.livemode);
      if (row.status !== 'completed')
        throw new AppError(
          'conflict',
          `Only completed tests can be reanalyzed. This test is ${row.status}.`,
        );
      const due = { analysis_due_at: isoTime(app.clock.now()), analysis_attempts: 0 };
      await changeTest(tx, row, due);
      afterCommit(tx, () => app.scheduler.wake(ANALYZE_JOB));
      return presentTest(row, app.config);
    });
  },
});

const location = ({ id }: { id: string }) => `/v1/tests/${id}`;

const createTest = route({
  method: 'POST',
  path: '/v1/tests',
  operation: 'createTest',
  role: 'member',
  summary: 'Create a test and get its test address',
  body: NewTest,
  status: 201,
  etag: true,
  location,
  response: Test,
  async handle(call) {
    const { app, actor, body } = call;
    const row = newTestRow(app, { ...body, livemode: actor.livemode });
    return call.transact(async (tx) => {
      await requireDomain(tx, row.domain_id);
      await insertTest(tx, row);
      return presentTest(row, app.config);
    });
  },
});

const submitTest = route({
  method: 'POST',
  path: '/v1/tests',
  operation: 'submitTest',
  role: 'member',
  summary: 'Test the raw message in the request body',
  query: SubmitQuery,
  errors: ['unavailable'],
  consumes: { type: 'message/rfc822', maxBytes: ({ config }) => config.SMTP_MAX_SIZE },
  status: 201,
  etag: true,
  location,
  response: Test,
  async handle(call) {
    const { app, actor, query, raw } = call;
    if (raw.byteLength === 0)
      throw new AppError('malformed_request', 'The request body is empty. Send the raw message.');
    const { livemode } = actor;
    return submitMessage(app, raw, { ...query, livemode }, call.transact);
  },
});

const list = route({
  method: 'GET',
  path: '/v1/tests',
  operation: 'listTests',
  role: 'viewer',
  summary: 'List tests, newest first',
  query: TestListQuery,
  response: listSchema(ListedTest),
  async handle({ app, actor, query }) {
    const { rows, hasMore } = await listTests(app.db, actor.livemode, query);
    const data = rows.map((row) => presentListed(row, app.config));
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const exportTests = route({
  method: 'GET',
  path: '/v1/tests/export',
  operation: 'exportTests',
  role: 'viewer',
  summary: 'Export tests as CSV or, with `Accept: application/x-ndjson`, as JSON lines',
  query: TestFilters,
  produces: ['text/csv', 'application/x-ndjson'],
  handle({ app, actor, query, headers }) {
    const json = /ndjson|jsonl|json/.test(headers.get('accept') ?? '');
    const tests = (async function* () {
      for await (const row of eachTest(app.db, actor.livemode, query))
        yield presentListed(row, app.config);
    })();
    return new Response(streamed(json ? toJsonLines(tests) : toCsv(tests)), {
      headers: {
        'content-type': json ? 'application/x-ndjson' : 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="tests-${isoTime(app.clock.now()).slice(0, 10)}.${json ? 'jsonl' : 'csv'}"`,
      },
    });
  },
});

const getTest = route({
  method: 'GET',
  path: '/v1/tests/:id',
  operation: 'getTest',
  role: 'viewer',
  summary: 'Get a test; with `wait`, wait up to that many seconds for its result',
  etag: true,
  query: WaitQuery,
  response: Test,
  async handle(call) {
    const { app, actor, params, query } = call;
    const find = () => testOr404(app, params.id!, actor.livemode);
    if (query.wait === 0) return presentTest(await find(), app.config);
    const row = await waitForEnd(
      app,
      { id: params.id!, ms: query.wait * 1000, abort: call.signal },
      find,
    );
    await reauthorize(app.db, call, 'viewer');
    return presentTest(row, app.config);
  },
});

const updateTest = route({
  method: 'PATCH',
  path: '/v1/tests/:id',
  operation: 'updateTest',
  role: 'member',
  summary: 'Update the name or metadata of a test',
  etag: true,
  body: TestPatch,
  response: Test,
  async handle(call) {
    const { app, actor, params, body, ifMatch } = call;
    return call.transact(async (tx) => {
      const row = await testOr404({ db: tx }, params.id!, actor.livemode);
      ifMatch(presentTest(row, app.config));
      const change = {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.metadata === undefined ? {} : { metadata: JSON.stringify(body.metadata ?? {}) }),
      };
      const changed = { ...row, ...change };
      if (Object.keys(change).length > 0) await changeTest(tx, changed, change);
      return presentTest(changed, app.config);
    });
  },
});

const removeTest = route({
  method: 'DELETE',
  path: '/v1/tests/:id',
  operation: 'deleteTest',
  role: 'member',
  summary: 'Delete a test and its message',
  response: v.object({ id: v.string(), object: v.literal('test'), deleted: v.literal(true) }),
  async handle(call) {
    const { app, actor, params, ifMatch } = call;
    const id = params.id!;
    return call.transact(async (tx) => {
      const row = await testOr404({ db: tx }, id, actor.livemode);
      ifMatch(presentTest(row, app.config));
      await countTest(tx, row, -1);
      await deleteTests(tx, [id]);
      await audit(tx, call, { action: 'test.deleted', object: { type: 'test', id } });
      afterCommit(tx, () => app.signals.raise(id));
      return { id, object: 'test', deleted: true };
    });
  },
});

const source = route({
  method: 'GET',
  path: '/v1/tests/:id/source',
  operation: 'getTestSource',
  role: 'viewer',
  summary: 'Get the message exactly as received',
  produces: ['message/rfc822'],
  async handle({ app, actor, params }) {
    const test = await testOr404(app, params.id!, actor.livemode);
    const message = await findMessageOf(app.db, test.id);
    if (!message) throw new AppError('not_found', 'This test has no message.');
    return new Response(streamed(readChunks(app.db, message)), {
      headers: {
        'content-type': 'message/rfc822',
        'content-length': String(message.size),
        'content-disposition': `attachment; filename="${test.id}.eml"`,
        'cache-control': 'private, no-store',
      },
    });
  },
});

/** `export` comes before `:id`, because the first match wins. */
export const testRoutes = [
  createTest,
  submitTest,
  list,
  exportTests,
  getTest,
  updateTest,
  removeTest,
  source,
  reportHtml,
  reportPdf,
  reanalyze,
];

// The export as CSV (RFC 4180) or JSON lines, streamed.

const COLUMNS: [string, (test: ListedTest) => string | number | null][] = [
  ['id', (t) => t.id],
  ['created_at', (t) => t.created_at],
  ['name', (t) => t.name],
  ['status', (t) => t.status],
  ['failure_reason', (t) => t.failure_reason],
  ['score', (t) => t.score],
  ['grade', (t) => t.grade],
  ['spf', (t) => t.auth_results.spf],
  ['dkim', (t) => t.auth_results.dkim],
  ['dmarc', (t) => t.auth_results.dmarc],
  ['from_address', (t) => t.from_address],
  ['subject', (t) => t.subject],
  ['kind', (t) => t.kind],
  ['message_size', (t) => t.message_size],
  ['coverage', (t) => t.coverage],
  ['received_at', (t) => t.received_at],
  ['completed_at', (t) => t.completed_at],
  ['summary', (t) => t.summary],
];

/**
 * Prefixes text that a spreadsheet would evaluate as a formula with an apostrophe, so that it is shown
 * as text.
 */
function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const csvLine = (cells: string[]): string => `${cells.join(',')}\r\n`;

async function* toCsv(tests: AsyncIterable<ListedTest>): AsyncGenerator<string> {
  yield csvLine(COLUMNS.map(([name]) => name));
  for await (const test of tests) yield csvLine(COLUMNS.map(([, value]) => csvCell(value(test))));
}

async function* toJsonLines(tests: AsyncIterable<ListedTest>): AsyncGenerator<string> {
  for await (const test of tests) yield `${JSON.stringify(test)}\n`;
}

/** A response body that is generated while it is read. */
function streamed(parts: AsyncGenerator<string | Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}

// Long polling with `?wait=`.

/** Resolves with the test when it ends, after `ms` milliseconds, or when the client disconnects. */
function waitForEnd(
  app: Pick<App, 'signals' | 'clock'>,
  { id, ms, abort }: { id: string; ms: number; abort: AbortSignal },
  find: () => Promise<TestRow>,
): Promise<TestRow> {
  return waitUntil(app, { name: id, ms, abort }, find, isEnded);
}

function isEnded({ status }: TestRow): boolean {
  return status === 'completed' || status === 'failed';
}

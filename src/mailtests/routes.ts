/** The operations on tests (contract §4). */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { requireDomain } from '../domains/queries.ts';
import { rememberTrace } from '../events/traces.ts';
import { requireUnlimited, tagsToStore } from '../http/limited.ts';
import { editableBy } from '../http/response.ts';
import { type RouteSpec, route } from '../http/route.ts';
import { deletedOf, idOf, listOf, listSchema } from '../http/schemas.ts';
import { csvFile, streamed } from '../http/streamed.ts';
import { isoTime } from '../lib/clock.ts';
import { waitUntil } from '../lib/concurrency.ts';
import type { CsvColumn } from '../lib/csv.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { readPieces } from '../store/chunks.ts';
import { afterCommit } from '../store/open.ts';
import { audit } from '../team/audit.ts';
import { reauthorize } from '../team/permissions.ts';
import { AUDITED_TEST } from './audited.ts';
import { getHistory } from './history-routes.ts';
import { createInbox, presentInbox } from './inboxes.ts';
import { notAMessage } from './message-file.ts';
import { readMessageReceipt } from './message-receipt.ts';
import { findMessageOf } from './messages.ts';
import { insertPlacements, LOOK_JOB, requireSeeds, withSeeds } from './placement.ts';
import { type PresentedRow, presentListed, presentTest } from './present.ts';
import { preview, previewPage } from './preview.ts';
import {
  changeTest,
  deleteTests,
  eachTest,
  insertTest,
  listTests,
  newTestRow,
  presentedTestOr404,
  requestReanalysis,
  type TestToPresent,
  testOr404,
} from './queries.ts';
import { reportHtml, reportPdf } from './report.ts';
import { ListedTest, Test } from './schema.ts';
import { TestExportQuery, TestListQuery, WaitQuery } from './schemas/filter.ts';
import { Inbox } from './schemas/inbox.ts';
import { NewTest, Reanalysis, SubmitQuery, TestPatch } from './schemas/request.ts';
import { submitMessage } from './submit.ts';
import { insertTags, replaceTags, tagsOf } from './tags.ts';
import { countTest } from './tally.ts';

const TEST_ID = idOf('test', 'The ID of the test.');

// Reanalysis.

const editableTest = editableBy(TestPatch);

const reanalyze = route({
  method: 'POST',
  path: '/v1/tests/:id/reanalyze',
  params: { id: TEST_ID },
  operation: 'reanalyzeTest',
  limited: true,
  role: 'member',
  hasTestMode: true,
  summary: 'Reanalyze a test',
  description:
    'Analyzes the stored message with the current DNS records and rules. The test stays `completed` meanwhile, and the new result replaces the old one. Sends no event and no alert. With `kind`, the message is from now on evaluated as that kind of mail; `auto` lets the service detect it again.',
  body: Reanalysis,
  response: Test,
  errors: ['conflict'],
  async handle(call) {
    const { app, actor, params, body } = call;
    return call.transact(async (tx) => {
      const row = await testOr404({ db: tx }, params.id!, actor.livemode);
      const due = await requestReanalysis(tx, app, row, body.kind);
      return presentTest(due, app.config, await tagsOf(tx, row.id));
    });
  },
});

const location = ({ id }: { id: string }) => `/v1/tests/${id}`;

const NO_PLACEMENT =
  'is not available with reusable: create a placement monitor, whose address is permanent too';

const createTest = route({
  method: 'POST',
  path: '/v1/tests',
  operation: 'createTest',
  limited: true,
  role: 'member',
  hasTestMode: true,
  summary: 'Create a test',
  description:
    'Creates a test and returns its test address. Send one message to it before `expires_at`, then read the result with `GET /v1/tests/{id}?wait=50`. With `placement`, send the same message to all `seed_addresses` too. With `reusable`, creates and returns an inbox instead: its address never expires, and each message to it becomes a new test.',
  body: NewTest,
  otherBody: 'send a raw message to /v1/tests/raw',
  status: 201,
  etag: (created) => (created.object === 'test' ? editableTest(created) : created.id),
  location: ({ id, object }) => `/v1/${object === 'test' ? 'tests' : 'inboxes'}/${id}`,
  response: v.union([Test, Inbox]),
  async handle(call) {
    const { app, actor, body } = call;
    if (body.reusable) {
      if (body.placement)
        throw invalidParams([{ param: 'placement', code: 'invalid', message: NO_PLACEMENT }]);
      return call.transact(async (tx) => {
        await requireDomain(tx, body.domain_id ?? null);
        return presentInbox(await createInbox(tx, call, body), app.config);
      });
    }
    const tags = tagsToStore(actor, body.tags, body.domain_id != null);
    const created = newTestRow(app, { ...body, livemode: actor.livemode, limit: actor.tags });
    const seeds = body.placement ? requireSeeds(app.config) : [];
    const row = withSeeds(created, seeds);
    return call.transact(async (tx) => {
      await requireDomain(tx, row.domain_id);
      await insertTest(tx, row);
      rememberTrace(app, row.id);
      await insertTags(tx, row, tags);
      await insertPlacements(tx, row, seeds);
      if (seeds.length > 0) afterCommit(tx, () => app.scheduler.wake(LOOK_JOB));
      return presentTest(row, app.config, tags.toSorted());
    });
  },
});

/** A message in the body, for build pipelines. */
const submission = {
  method: 'POST',
  role: 'member',
  hasTestMode: true,
  summary: 'Test a raw message',
  description:
    'Tests the message in the request body, without sending it. A body that is no email message gets 400.',
  query: SubmitQuery,
  errors: ['unavailable'],
  consumes: { type: 'message/rfc822', maxBytes: ({ config }) => config.SMTP_MAX_SIZE },
  status: 201,
  etag: editableTest,
  location,
  response: Test,
  async handle(call) {
    const { app, actor, query, raw } = call;
    if (raw.byteLength === 0)
      throw new AppError('malformed_request', 'The request body is empty. Send the raw message.');
    const problem = notAMessage('The request body', raw);
    if (problem !== null) throw new AppError('malformed_request', `${problem}.`);
    const { livemode, tags: limit } = actor;
    const tags = tagsToStore(actor, query.tags);
    return submitMessage(app, raw, { ...query, tags, livemode, limit }, call.transact);
  },
} satisfies Partial<RouteSpec<'member', typeof SubmitQuery, undefined, typeof Test>>;

const submitTest = route({
  ...submission,
  path: '/v1/tests/raw',
  operation: 'submitTest',
  limited: true,
});

/** The previous path for messages, recognized by the content type. Not documented: the two bodies have different parameters. */
export const submitTestByType = route({
  ...submission,
  path: '/v1/tests',
  operation: 'submitTestByType',
  limited: true,
});

const list = route({
  method: 'GET',
  path: '/v1/tests',
  operation: 'listTests',
  limited: true,
  role: 'viewer',
  summary: 'List tests',
  description:
    'Returns the tests of your mode (live or test), newest first. The filters can be combined.',
  query: TestListQuery,
  response: listSchema(ListedTest),
  async handle({ app, actor, query }) {
    const { tests, hasMore } = await listTests(app.db, actor.livemode, query);
    const data = tests.map(({ row, tags }) => presentListed(row, app.config, tags));
    return listOf(data, hasMore);
  },
});

const exportTests = route({
  method: 'GET',
  path: '/v1/tests/export',
  operation: 'exportTests',
  limited: true,
  role: 'viewer',
  summary: 'Export tests',
  description:
    'Returns all matching tests as CSV or, with `Accept: application/x-ndjson`, as JSON lines. Each line is a `TestListItem`.',
  query: TestExportQuery,
  produces: ['text/csv', 'application/x-ndjson'],
  responseHeaders: ['Content-Disposition'],
  handle({ app, actor, query, headers }) {
    const wantsJson = /ndjson|jsonl|json/.test(headers.get('accept') ?? '');
    const tests = (async function* () {
      for await (const { row, tags } of eachTest(app.db, actor.livemode, query))
        yield presentListed(row, app.config, tags);
    })();
    const name = `tests-${isoTime(app.clock.now()).slice(0, 10)}`;
    if (!wantsJson) return csvFile(name, COLUMNS, tests);
    return new Response(streamed(toJsonLines(tests)), {
      headers: {
        'content-type': 'application/x-ndjson',
        'content-disposition': `attachment; filename="${name}.jsonl"`,
      },
    });
  },
});

const getTest = route({
  method: 'GET',
  path: '/v1/tests/:id',
  params: { id: TEST_ID },
  operation: 'getTest',
  limited: true,
  role: 'viewer',
  summary: 'Get a test',
  description:
    'Returns a test with its findings. With `wait`, the response comes as soon as the test ends, or after that many seconds. With `for=placement`, it also waits for the final placement.',
  etag: editableTest,
  query: WaitQuery,
  response: Test,
  async handle(call) {
    const { app, actor, params, query } = call;
    const find = () => presentedTestOr404(app.db, params.id!, actor.livemode);
    const present = async (row: TestToPresent) =>
      presentTest(row, app.config, row.is_tagged ? await tagsOf(app.db, row.id) : []);
    if (query.wait === 0) return present(await find());
    const row = await waitForEnd(
      app,
      { id: params.id!, ms: query.wait * 1000, abort: call.signal },
      find,
      query.for === 'placement' ? isSettled : isEnded,
    );
    await reauthorize(app.db, call, 'viewer');
    return present(row);
  },
});

const updateTest = route({
  method: 'PATCH',
  path: '/v1/tests/:id',
  params: { id: TEST_ID },
  operation: 'updateTest',
  limited: true,
  role: 'member',
  hasTestMode: true,
  summary: 'Update a test',
  description: 'Changes the name, the metadata or the tags of a test.',
  etag: editableTest,
  body: TestPatch,
  response: Test,
  async handle(call) {
    const { app, actor, params, body, ifMatch } = call;
    return call.transact(async (tx) => {
      const row = await testOr404({ db: tx }, params.id!, actor.livemode);
      const tags = await tagsOf(tx, row.id);
      ifMatch(presentTest(row, app.config, tags));
      if (body.tags && body.tags.toSorted().join() !== tags.join())
        requireUnlimited(actor, 'the tags of a test');
      const change = {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.metadata === undefined ? {} : { metadata: JSON.stringify(body.metadata ?? {}) }),
      };
      const changed = { ...row, ...change };
      if (Object.keys(change).length > 0) await changeTest(tx, changed, change);
      if (body.tags) await replaceTags(tx, row, body.tags);
      return presentTest(changed, app.config, body.tags?.toSorted() ?? tags);
    });
  },
});

const removeTest = route({
  method: 'DELETE',
  path: '/v1/tests/:id',
  params: { id: TEST_ID },
  operation: 'deleteTest',
  limited: true,
  role: 'member',
  hasTestMode: true,
  summary: 'Delete a test',
  description: 'Deletes a test and its message. A deleted test no longer counts in summaries.',
  response: deletedOf('test', 'test'),
  async handle(call) {
    const { app, actor, params, ifMatch } = call;
    const id = params.id!;
    return call.transact(async (tx) => {
      const row = await testOr404({ db: tx }, id, actor.livemode);
      ifMatch(presentTest(row, app.config, await tagsOf(tx, id)));
      await countTest(tx, row, -1);
      await deleteTests(tx, [id]);
      await audit(tx, call, AUDITED_TEST, 'test.deleted', id);
      afterCommit(tx, () => app.signals.raise(id));
      return { id, object: 'test', deleted: true };
    });
  },
});

const source = route({
  method: 'GET',
  path: '/v1/tests/:id/source',
  params: { id: TEST_ID },
  operation: 'getTestSource',
  limited: true,
  role: 'viewer',
  summary: 'Get the message of a test',
  description: 'Returns the message exactly as received, as an attachment.',
  produces: ['message/rfc822'],
  responseHeaders: ['Content-Disposition'],
  async handle({ app, actor, params }) {
    const test = await testOr404(app, params.id!, actor.livemode);
    const message = await findMessageOf(app.db, test.id);
    if (!message) throw new AppError('not_found', 'This test has no message.');
    return new Response(streamed(readPieces(app.db, message)), {
      headers: {
        'content-type': 'message/rfc822',
        'content-length': String(message.size),
        'content-disposition': `attachment; filename="${test.id}.eml"`,
        'cache-control': 'private, no-store',
      },
    });
  },
});

export const testOperations = {
  create: createTest,
  submit: submitTest,
  receipt: readMessageReceipt,
  list,
  export: exportTests,
  get: getTest,
  history: getHistory,
  update: updateTest,
  remove: removeTest,
  source,
  reportHtml,
  reportPdf,
  preview,
  previewPage,
  reanalyze,
};

// The export, streamed.

const COLUMNS: CsvColumn<ListedTest>[] = [
  'id',
  'created_at',
  'name',
  'status',
  'failure_reason',
  'score',
  'grade',
  ['spf', (t) => t.auth_results.spf],
  ['dkim', (t) => t.auth_results.dkim],
  ['dmarc', (t) => t.auth_results.dmarc],
  'from_address',
  'subject',
  'kind',
  'message_size',
  'coverage',
  'received_at',
  'completed_at',
  'summary',
  ['tags', (t) => t.tags.join(',')],
];

async function* toJsonLines(tests: AsyncIterable<ListedTest>): AsyncGenerator<string> {
  for await (const test of tests) yield `${JSON.stringify(test)}\n`;
}

// Long polling with `?wait=`.

/** Resolves with the test when it is done, after `ms` milliseconds, or when the client disconnects. */
function waitForEnd(
  app: Pick<App, 'signals' | 'clock'>,
  { id, ms, abort }: { id: string; ms: number; abort: AbortSignal },
  find: () => Promise<TestToPresent>,
  isDone: (row: TestToPresent) => boolean,
): Promise<TestToPresent> {
  return waitUntil(app, { name: id, ms, abort }, find, isDone);
}

/** A test without placement is settled with its result. */
const isSettled = (row: PresentedRow): boolean =>
  isEnded(row) && row.placement_status !== 'waiting';

function isEnded({ status }: PresentedRow): boolean {
  return status === 'completed' || status === 'failed';
}

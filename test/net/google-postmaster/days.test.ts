/** The figures by day at Google Postmaster Tools: calls, pages, missing values, and partial answers. */

// @one-database: about requests to Google.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { valuesOf } from '../../../src/figures/figure.ts';
import { GMAIL_FIGURES } from '../../../src/figures/gmail.ts';
import { isDay } from '../../../src/lib/clock.ts';
import { AccountError } from '../../../src/net/account-error.ts';
import { startHttpScript } from '../../helpers/http-script.ts';
import {
  type PostmasterServer,
  type ServedDay,
  servedDomain,
  startPostmasterServer,
} from '../../helpers/postmaster-server.ts';
import { failure, open } from './opening.ts';

const DOMAIN = 'acme.example';
const WEEK = { from: '2026-11-15', to: '2026-11-21' };
const BATCH = '/v2/domainStats:batchQuery';

const FULL: ServedDay = {
  spamRate: 0.0012,
  spf: 0.99,
  dkim: 1,
  dmarc: 0.98,
  tlsRate: 1,
  tlsMessages: 51_234,
  errors: [
    { type: 'reject', reason: 'low_ip_reputation', rate: 0.02, count: 41 },
    { type: 'reject', reason: 'spammy_content', rate: 0, count: 0 },
    { type: 'temp_fail', reason: 'other', rate: 0.01 },
  ],
  feedbackLoops: { newsletter: 0.004, receipts: null },
  signedLoops: { newsletter: 0.005 },
};

const NOTHING = {
  ...valuesOf(GMAIL_FIGURES, 'column', () => null),
  errors: null,
  feedback_loops: null,
};

const serve = (server: PostmasterServer, days: Record<string, ServedDay>) =>
  server.domains.set(DOMAIN, servedDomain({ days }));

const paths = ({ exchanges }: Pick<PostmasterServer, 'exchanges'>) =>
  exchanges.map(({ path }) => path);

test('All figures of a week are read in two calls; what was not published is null', async (t) => {
  const server = await startPostmasterServer(t);
  serve(server, {
    '2026-11-14': FULL,
    '2026-11-15': FULL,
    '2026-11-17': { spamRate: 0 },
    '2026-11-18': {},
    '2026-11-21': { dkim: 0.5, errors: [{ type: 'reject', reason: 'other', rate: 0 }] },
    '2026-11-22': FULL,
  });
  const { days, problem } = await open(server).days(DOMAIN, WEEK);
  assert.equal(problem, null);
  assert.deepEqual(days, [
    {
      day: '2026-11-15',
      spam_rate: 0.0012,
      spf_rate: 0.99,
      dkim_rate: 1,
      dmarc_rate: 0.98,
      tls_rate: 1,
      tls_messages: 51_234,
      reject_rate: 0.02,
      temp_fail_rate: 0.01,
      errors: [
        { type: 'reject', reason: 'low_ip_reputation', rate: 0.02, count: 41 },
        { type: 'temp_fail', reason: 'other', rate: 0.01, count: null },
      ],
      feedback_loops: [
        { id: 'newsletter', aggregation_key_type: 'FROM_HEADER', spam_rate: 0.004 },
        { id: 'receipts', aggregation_key_type: 'FROM_HEADER', spam_rate: null },
        { id: 'newsletter', aggregation_key_type: 'ALL_DKIM', spam_rate: 0.005 },
      ],
    },
    { ...NOTHING, day: '2026-11-17', spam_rate: 0 },
    { ...NOTHING, day: '2026-11-21', dkim_rate: 0.5, reject_rate: 0, errors: [] },
  ]);
  assert.deepEqual(paths(server), [BATCH, BATCH]);
});

test('A domain without figures has no days and no problem', async (t) => {
  const server = await startPostmasterServer(t);
  serve(server, {});
  assert.deepEqual(await open(server).days(DOMAIN, WEEK), { days: [], problem: null });
  assert.deepEqual(paths(server), [BATCH]);
});

const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
const HALF_YEAR = { from: '2026-05-01', to: dayAfter('2026-05-01', 179) };
const halfYear = Object.fromEntries(
  Array.from({ length: 180 }, (_, i) => [
    dayAfter('2026-05-01', i),
    { ...FULL, spamRate: i / 1000 },
  ]),
);

test('Half a year of all figures is read in two calls, without pages', async (t) => {
  const server = await startPostmasterServer(t);
  serve(server, halfYear);
  const { days, problem } = await open(server).days(DOMAIN, HALF_YEAR);
  assert.equal(problem, null);
  assert.equal(days.length, 180);
  assert.deepEqual([days[179]!.day, days[179]!.spam_rate], [HALF_YEAR.to, 0.179]);
  assert.deepEqual(paths(server), [BATCH, BATCH]);
});

test('If the server has smaller pages, all are read, and those of all queries together', async (t) => {
  const server = await startPostmasterServer(t, { maxPageSize: 50 });
  serve(server, halfYear);
  const { days, problem } = await open(server).days(DOMAIN, HALF_YEAR);
  assert.equal(problem, null);
  assert.equal(days.length, 180);
  assert.ok(days.every(({ dkim_rate, errors }) => dkim_rate === 1 && errors?.length === 2));
  // Four pages of 50, for the figures and then for the feedback loops.
  assert.deepEqual(paths(server), Array(8).fill(BATCH));
});

test('Of many feedback loops, the 20 of the last days are read', async (t) => {
  const server = await startPostmasterServer(t);
  const loops = (from: number) =>
    Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`loop-${from + i}`, 0.01]));
  serve(server, {
    '2026-11-15': { feedbackLoops: loops(0) },
    '2026-11-20': { feedbackLoops: { ...loops(15), 'with "quotes"': 0.5 } },
  });
  const { days } = await open(server).days(DOMAIN, WEEK);
  const idsOf = (i: number) =>
    days[i]!.feedback_loops!.flatMap(({ id, aggregation_key_type }) =>
      aggregation_key_type === 'FROM_HEADER' ? [id] : [],
    );
  assert.deepEqual(idsOf(1), Object.keys(loops(15)));
  assert.deepEqual(idsOf(0), Object.keys(loops(0)).slice(0, 5));
});

test('Feedback loops are read for mail from the domain, and for all that is signed as it', async (t) => {
  const server = await startPostmasterServer(t);
  serve(server, {
    '2026-11-20': { feedbackLoops: { own: 0.001 }, signedLoops: { own: 0.002, customer: 0.03 } },
  });
  const read = async () => {
    const { days, problem } = await open(server).days(DOMAIN, WEEK);
    assert.equal(problem, null);
    return days[0]!.feedback_loops!.map((loop) => Object.values(loop));
  };
  assert.deepEqual(await read(), [
    ['own', 'FROM_HEADER', 0.001],
    ['own', 'ALL_DKIM', 0.002],
    ['customer', 'ALL_DKIM', 0.03],
  ]);
  // A server of before 2026 refuses the filter, which loses nothing.
  server.hasAggregation = false;
  assert.deepEqual(await read(), [['own', 'FROM_HEADER', 0.001]]);
});

test('A query that fails leaves its figures unknown, and the others are kept', async (t) => {
  const server = await startPostmasterServer(t);
  serve(server, { '2026-11-20': FULL });
  server.queryErrors.set('AUTH_SUCCESS_RATE', { code: 500, message: 'Internal error.' });
  server.queryErrors.set('DELIVERY_ERROR_COUNT', { code: 429, message: 'Slow down.' });
  server.queryErrors.set('FEEDBACK_LOOP_SPAM_RATE', { code: 500, message: 'Internal error.' });
  const { days, problem } = await open(server).days(DOMAIN, WEEK);
  assert.equal(problem?.problem, 'unreachable');
  assert.match(problem.message, /“Internal error\.”/);
  // Rates without their counts, and loops without their rates, would replace what was read before.
  assert.deepEqual(days, [
    {
      ...NOTHING,
      day: '2026-11-20',
      spam_rate: 0.0012,
      tls_rate: 1,
      tls_messages: 51_234,
      reject_rate: 0.02,
      temp_fail_rate: 0.01,
    },
  ]);
});

test('A batch that Google rejects for one query is sent as single queries', async (t) => {
  const server = await startPostmasterServer(t);
  serve(server, { '2026-11-20': FULL });
  server.queryErrors.set('TLS_ENCRYPTION_RATE', { code: 400, message: 'Unknown metric.' });
  server.fault = ({ path, response }) => {
    if (path !== BATCH) return null;
    response.writeHead(400).end('{}');
    return 'slow';
  };
  const { days, problem } = await open(server).days(DOMAIN, WEEK);
  assert.equal(problem?.problem, 'refused');
  assert.deepEqual(
    [days[0]!.spam_rate, days[0]!.tls_rate, days[0]!.tls_messages, days[0]!.feedback_loops?.length],
    [0.0012, null, null, 3],
  );
});

test('Single queries end with the first server error, and what they read is kept', async (t) => {
  const server = await startPostmasterServer(t);
  serve(server, { '2026-11-20': FULL });
  let singles = 0;
  server.fault = ({ path, response }) => {
    if (path !== BATCH) return ++singles > 2 ? 'throttled' : null;
    response.writeHead(400).end('{}');
    return 'slow';
  };
  const { days, problem } = await open(server).days(DOMAIN, WEEK);
  assert.equal(problem?.retryAfterMs, 120_000);
  assert.equal(singles, 3);
  assert.deepEqual([days[0]!.spam_rate, days[0]!.dkim_rate, days[0]!.tls_rate], [0.0012, 1, null]);
});

for (const fault of ['throttled', 'unavailable', 'broken', 'truncated'] as const)
  test(`If the server is ${fault} after the first page, that page is kept`, async (t) => {
    const server = await startPostmasterServer(t, { maxPageSize: 2 });
    serve(server, { '2026-11-17': FULL, '2026-11-18': FULL, '2026-11-19': FULL });
    server.fault = () => (server.exchanges.length > 1 ? fault : null);
    const { days, problem } = await open(server).days(DOMAIN, WEEK);
    assert.ok(problem instanceof AccountError);
    assert.deepEqual(
      days.map(({ day, spam_rate, errors }) => [day, spam_rate, errors]),
      [
        ['2026-11-17', 0.0012, null],
        ['2026-11-18', 0.0012, null],
      ],
    );
  });

test('A token that expires between two calls is a problem, and what was read is kept', async (t) => {
  const server = await startPostmasterServer(t);
  serve(server, { '2026-11-20': FULL });
  server.fault = () => {
    if (server.exchanges.length > 1) server.accessTokens.clear();
    return null;
  };
  const { days, problem } = await open(server).days(DOMAIN, WEEK);
  assert.equal(problem?.problem, 'sign_in_failed');
  assert.deepEqual([days[0]!.spam_rate, days[0]!.feedback_loops], [0.0012, null]);
});

test('Pages without an end are a problem, and do not go on forever', async (t) => {
  const script = await startHttpScript(t, ({ json, body }) => {
    const { requests } = JSON.parse(body) as { requests: unknown[] };
    json(200, { results: requests.map(() => ({ response: { nextPageToken: 'again' } })) });
  });
  const { days, problem } = await open(script).days(DOMAIN, WEEK);
  assert.deepEqual([days, problem?.problem], [[], 'bad_response']);
  assert.equal(script.exchanges.length, 50);
});

test('A batch with too few results is a problem, not days without data', async (t) => {
  const script = await startHttpScript(t, ({ json }) =>
    json(200, { results: [{ response: {} }, {}] }),
  );
  const { days, problem } = await open(script).days(DOMAIN, WEEK);
  assert.deepEqual([days, problem?.problem], [[], 'bad_response']);
  const silent = await startHttpScript(t, ({ json }) => json(200, {}));
  await failure(open(silent).days(DOMAIN, WEEK), 'bad_response');
});

const anyJson = fc.jsonValue({ maxDepth: 2 });
const often = (valid: fc.Arbitrary<unknown>) => fc.oneof({ weight: 12, arbitrary: valid }, anyJson);
const number = often(
  fc.oneof(fc.double({ min: -1, max: 2 }), fc.constantFrom('7', '-1', 'NaN', 1)),
);
const value = fc.oneof(
  fc.record({ doubleValue: number }),
  fc.record({ floatValue: number }),
  fc.record({ intValue: number }),
  fc.record({ stringList: often(fc.record({ values: often(fc.array(often(fc.string()))) })) }),
  anyJson,
);
const part = (max: number) => often(fc.integer({ min: -1, max }));
const stat = fc.record({
  metric: often(
    fc.constantFrom(
      'spam_rate',
      'tls_messages',
      'reject_other_count',
      'feedback_loop_ids_ALL_DKIM',
    ),
  ),
  date: often(fc.record({ year: often(fc.constant(2026)), month: part(13), day: part(32) })),
  value,
});
const stats = often(fc.array(often(stat), { maxLength: 8 }));

test('Whatever JSON the server sends, the days are valid or there is an AccountError', async (t) => {
  let domainStats: unknown;
  const script = await startHttpScript(t, ({ json, body }) => {
    const { requests } = JSON.parse(body) as { requests: unknown[] };
    json(200, { results: requests.map(() => ({ response: { domainStats } })) });
  });
  let found = 0;
  const property = fc.asyncProperty(stats, async (json) => {
    domainStats = json;
    const range = { from: '2026-01-01', to: '2026-06-30' };
    const { days } = await open(script).days(DOMAIN, range);
    for (const { day, errors, feedback_loops, tls_messages, ...rates } of days) {
      found += 1;
      assert.ok(isDay(day) && day >= range.from && day <= range.to, day);
      assert.ok(tls_messages === null || (Number.isSafeInteger(tls_messages) && tls_messages >= 0));
      for (const rate of Object.values(rates))
        assert.ok(rate === null || (rate >= 0 && rate <= 1), String(rate));
      for (const { count } of errors ?? []) assert.ok(Number.isSafeInteger(count) && count! >= 0);
      for (const { id } of feedback_loops ?? []) assert.doesNotMatch(id, /["\\\p{C}]/u);
    }
  });
  await fc.assert(property, { numRuns: 300 });
  assert.ok(found > 20, `Only ${found} days were valid.`);
});

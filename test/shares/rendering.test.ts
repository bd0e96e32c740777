/** Shared reports are rendered once for all readers, and again after a change. */

// @one-database: about pages; the queries of shared links run on both in another test.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRenderCache, publicJson } from '../../src/shares/rendering.ts';
import { testClock } from '../helpers/clock.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { startSharing } from './sharing.ts';

const JSON_TYPE = 'application/json';

async function startCounting(t: TestContext) {
  const sharing = await startSharing(t);
  const { reportRenderer: reporter } = sharing.service.app;
  const made: string[] = [];
  const { render } = reporter;
  reporter.render = (job) => {
    made.push(job.kind === 'shared' ? job.format : job.kind);
    return render(job);
  };
  return { ...sharing, made };
}

test('Public report renderings are cached for a minute and renewed when tests change', async (t) => {
  const { service, clock, analysed, share, read, made } = await startCounting(t);
  const [first, second] = [await analysed(), await analysed()];
  const { token } = await share({ test_ids: [first.id, second.id] });
  const path = `/reports/public/${token}`;
  const { text } = await read(path);
  for (const _ of [1, 2, 3]) assert.equal((await read(path)).text, text);
  await read(`${path}.pdf`);
  await read(`${path}.pdf`);
  assert.deepEqual(made, ['html', 'pdf']);
  clock.advance(60_000);
  await read(path);
  assert.deepEqual(made, ['html', 'pdf', 'html']);
  await service.call('PATCH', `/v1/tests/${first.id}`, { json: { name: 'Another name' } });
  assert.match((await read(path)).text, /Another name/);
  await service.call('DELETE', `/v1/tests/${second.id}`);
  assert.match((await read(path)).text, /1 test in this report has been deleted/);
  assert.deepEqual(made.slice(3), ['html', 'html']);
});

test('Public report JSON is cached until a test changes through the API', async (t) => {
  const { service, analysed, share, read } = await startSharing(t);
  const { id } = await analysed();
  const { token } = await share({ test_ids: [id] });
  const path = `/reports/public/${token}`;
  const { text } = await read(path, JSON_TYPE);
  // A change that bypasses the API does not invalidate the cache.
  await service.app.db.updateTable('tests').set({ subject: 'Changed' }).execute();
  assert.equal((await read(path, JSON_TYPE)).text, text);
  await service.call('PATCH', `/v1/tests/${id}`, { json: { name: 'Another name' } });
  const { body } = await read<{ tests: { name: string; subject: string }[] }>(path, JSON_TYPE);
  assert.deepEqual([body.tests[0]!.name, body.tests[0]!.subject], ['Another name', 'Changed']);
});

test('HEAD on a public report renders nothing and returns known lengths', async (t) => {
  const { service, analysed, share, made } = await startCounting(t);
  const { token } = await share({ test_ids: [(await analysed()).id] });
  const path = `/reports/public/${token}`;
  const plain = { 'accept-encoding': 'identity' };
  const ask = (method: string, headers = {}) => fetch(service.url + path, { method, headers });
  const head = () => ask('HEAD', plain);
  assert.equal((await head()).headers.get('content-length'), null);
  assert.deepEqual(made, []);
  const { headers } = await ask('GET', plain);
  const known = (await head()).headers;
  for (const name of ['content-length', 'content-type', 'content-security-policy', 'vary'])
    assert.equal(known.get(name), headers.get(name), name);
  assert.deepEqual(made, ['html']);
  // The length of a compressed page isn't known.
  assert.equal(
    (await ask('HEAD', { 'accept-encoding': 'br' })).headers.get('content-length'),
    null,
  );
});

test('Rendering cache is bounded, evicts the oldest and skips oversized entries', () => {
  const clock = testClock();
  const cache = createRenderCache(clock, 100);
  const rendered = (size: number) => ({ bytes: new Uint8Array(size), policy: null });
  const cached = (...keys: string[]) => keys.filter((key) => cache.get(key));
  cache.set('a', rendered(40));
  clock.advance(30_000);
  cache.set('b', rendered(40));
  cache.set('huge', rendered(101));
  assert.deepEqual(cached('a', 'b', 'huge'), ['a', 'b']);
  cache.set('c', rendered(50));
  assert.deepEqual(cached('a', 'b', 'c'), ['b', 'c']);
  cache.set('c', rendered(60));
  assert.deepEqual(cached('b', 'c'), ['b', 'c']);
  clock.advance(60_000);
  assert.deepEqual(cached('b', 'c'), []);
  for (let n = 0; n < 60; n++) cache.set(`${n}`, rendered(1));
  assert.equal(cached(...Array.from({ length: 60 }, (_, n) => `${n}`)).length, 40);
});

test('JSON of a 100-test public report yields to other work', async (t) => {
  const { service, analysed, share } = await startSharing(t);
  const { db } = service.app;
  const { id } = await analysed();
  const row = await db
    .selectFrom('tests')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const ids = Array.from(
    { length: 101 },
    (_, n) => `${id.slice(0, -3)}${String(n).padStart(3, '0')}`,
  )
    // By chance, one can be that of the test itself.
    .filter((each) => each !== id)
    .slice(0, 100);
  for (const [n, each] of ids.entries())
    await db
      .insertInto('tests')
      .values({ ...row, id: each, token: `clone${n}` })
      .execute();
  const made = await share({ test_ids: ids });
  const shared = await db
    .selectFrom('shared_reports')
    .selectAll()
    .where('id', '=', made.id)
    .executeTakeFirstOrThrow();
  let running = true;
  const startedAt = cpuTime();
  let [last, longest, turns] = [cpuTime(), 0, 0];
  const watch = () => {
    const now = cpuTime();
    longest = Math.max(longest, now - last);
    last = now;
    turns += 1;
    if (running) setImmediate(watch);
  };
  setImmediate(watch);
  const bytes = await publicJson(service.app, shared);
  const total = cpuTime() - startedAt;
  running = false;
  await new Promise(setImmediate);
  assert.equal(JSON.parse(Buffer.from(bytes).toString()).tests.length, 100);
  assert.ok(turns >= 100, `${turns} turns`);
  // A report is about a hundredth of the work. The rest of the bound is for garbage collection.
  assert.ok(longest < total / 4, `${longest} of ${total} ms without a turn`);
});

test('A public report revoked during rendering is not served', async (t) => {
  const { service, analysed, share, read } = await startSharing(t);
  const { token, id } = await share({ test_ids: [(await analysed()).id] });
  const { reportRenderer: reporter } = service.app;
  const { render } = reporter;
  reporter.render = async (job) => {
    const rendered = await render(job);
    await service.call('DELETE', `/v1/reports/shared/${id}`);
    return rendered;
  };
  assert.equal((await read(`/reports/public/${token}`)).status, 410);
});

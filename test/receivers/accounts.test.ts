/** Accounts at receivers: when they are fetched, by whom, on request, and what is deleted. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { claimDue, registerReceivers } from '../../src/receivers/accounts.ts';
import { expire } from '../../src/receivers/expire.ts';
import { fetchAccount } from '../../src/receivers/fetch-account.ts';
import type { Receiver } from '../../src/receivers/schema.ts';
import { startTestService } from '../helpers/app.ts';
import { newDatabase, startNode } from '../helpers/nodes.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { servedCompliance, servedDomain } from '../helpers/postmaster-server.ts';
import { servedAddress, startSndsServer } from '../helpers/snds-server.ts';
import { DAY_MS, startReceivers } from './receiver-scene.ts';

const sndsConfig = (url: string): string =>
  JSON.stringify([{ receiver: 'microsoft_snds', key: 'snds-key', base_url: url }]);

test('A running service fetches new accounts, and again on request, at most once a minute', async (t) => {
  let offset = 0;
  const snds = await startSndsServer(t);
  const service = await startTestService(t, {
    clock: { now: () => Date.now() + offset },
    env: { DELIVERABILITY_RECEIVERS: sndsConfig(snds.url) },
  });
  const account = async () => {
    for (;;) {
      const { body } = await service.call<{ data: Receiver[] }>('GET', '/v1/receivers');
      if (!body.data[0]!.fetching) return body.data[0]!;
      await pause(20);
    }
  };
  const first = await account();
  assert.equal(first.state, 'working');
  const request = (key?: string) =>
    service.call('POST', '/v1/receivers/microsoft_snds/fetch', { key });
  const early = await request();
  assert.equal(early.status, 429);
  assert.ok(Number(early.headers.get('retry-after')) <= 60);
  offset += 61_000;
  const { status, body } = await request();
  assert.deepEqual([status, body.id, body.fetching], [202, 'microsoft_snds', true]);
  const second = await account();
  assert.ok(second.last_fetch_at! > first.last_fetch_at!);
  const unknown = await service.call('POST', '/v1/receivers/other/fetch');
  assert.equal(unknown.status, 404);
  const viewer = await service.makeKey('viewer');
  offset += 61_000;
  assert.equal((await request(viewer)).status, 403);
});

test('Without accounts, the list is empty and the reasons say what to set up', async (t) => {
  const service = await startTestService(t);
  const { body } = await service.call('GET', '/v1/receivers');
  assert.deepEqual(body, { object: 'list', data: [] });
  const domain = await service.call('POST', '/v1/domains', { json: { name: 'example.com' } });
  for (const path of [`stats?domain_id=${domain.body.id}`, 'addresses']) {
    const { body } = await service.call<{ no_data: { code: string } }>(
      'GET',
      `/v1/receivers/${path}`,
    );
    assert.equal(body.no_data.code, 'not_set_up', path);
  }
});

test('An account that failed is due when the service starts, unless it was rate-limited', async (t) => {
  const { app } = await startReceivers(t);
  const set = (id: string, problem: string) =>
    app.db
      .updateTable('receivers')
      .set({ problem, failures: 1, next_fetch_at: '2026-11-22T09:00:00.000Z' })
      .where('id', '=', id)
      .execute();
  await set('google_postmaster', 'throttled');
  await set('microsoft_snds', 'refused');
  await registerReceivers(app);
  assert.deepEqual(
    (await claimDue(app, 5)).map(({ id }) => id),
    ['microsoft_snds'],
  );
});

test('After the clock was years ahead, accounts are due at once, once', async (t) => {
  const scene = await startReceivers(t);
  const YEARS_MS = 1500 * DAY_MS;
  scene.advance(YEARS_MS);
  await scene.addDomain('example.com');
  const days = { '2026-11-20': { spamRate: 0.001 } };
  scene.postmaster.domains.set('example.com', servedDomain({ days }));
  scene.snds.days = { '2026-11-20': [servedAddress('192.0.2.1', '2026-11-20')] };
  await scene.fetch();
  await scene.fetch('microsoft_snds');
  scene.advance(-YEARS_MS);
  const { status } = await scene.call('POST', '/v1/receivers/google_postmaster/fetch');
  assert.equal(status, 202);
  assert.equal((await claimDue(scene.app, 5)).length, 2);
  await scene.app.db.updateTable('receivers').set({ lease: null, leased_until: null }).execute();
  assert.deepEqual(
    (await scene.fetch())!.parts.map(({ found }) => found),
    ['1 day'],
  );
  const { parts } = (await scene.fetch('microsoft_snds'))!;
  assert.ok(parts.some(({ name, found }) => name === '2026-11-20' && found === '1 address'));
  scene.advance(600_000);
  assert.deepEqual(await claimDue(scene.app, 5), []);
});

test('A new domain of the team makes the account at Google due', async (t) => {
  const scene = await startReceivers(t);
  await scene.fetch();
  await scene.fetch('microsoft_snds');
  scene.advance(60_000);
  await scene.addDomain('example.com');
  assert.deepEqual(await claimDue(scene.app, 5), [], 'more may follow');
  scene.advance(300_000);
  assert.deepEqual(
    (await claimDue(scene.app, 5)).map(({ id }) => id),
    ['google_postmaster'],
  );
});

test('While one process fetches, another one gets nothing, and stores nothing once it has lost the account', async (t) => {
  const scene = await startReceivers(t);
  await scene.addDomain('example.com');
  scene.postmaster.domains.set(
    'example.com',
    servedDomain({ days: { '2026-11-20': { spamRate: 0.1 } } }),
  );
  const [held] = await claimDue(scene.app, 1);
  assert.equal(await scene.fetch(), null);
  scene.advance(11 * 60_000);
  assert.notEqual(await scene.fetch(), null, 'the lease has ended');
  const account = scene.app.config.RECEIVERS[0]!;
  const signal = new AbortController().signal;
  assert.equal(await fetchAccount(scene.app, account, held!, signal), null);
});

test('After a crash between two parts, what was stored stays, and the next process goes on', async (t) => {
  const scene = await startReceivers(t);
  for (const name of ['a.example', 'b.example']) {
    await scene.addDomain(name);
    scene.postmaster.domains.set(
      name,
      servedDomain({ days: { '2026-11-20': { spamRate: 0.1 } }, compliance: servedCompliance() }),
    );
  }
  const stop = new AbortController();
  scene.postmaster.fault = ({ body }) => {
    if (!body.includes('b.example')) return null;
    stop.abort();
    return 'slow';
  };
  const [held] = await claimDue(scene.app, 1);
  const account = scene.app.config.RECEIVERS[0]!;
  assert.equal(await fetchAccount(scene.app, account, held!, stop.signal), null);
  const names = async () =>
    (await scene.app.db.selectFrom('receiver_days').select('name').orderBy('name').execute()).map(
      ({ name }) => name,
    );
  assert.deepEqual(await names(), ['a.example']);
  const [row] = await scene.app.db
    .selectFrom('receivers')
    .selectAll()
    .where('id', '=', 'google_postmaster')
    .execute();
  assert.deepEqual([row!.lease, row!.problem, row!.failures], [null, null, 0]);
  scene.postmaster.fault = () => null;
  const [again] = await claimDue(scene.app, 1);
  assert.equal(again!.id, 'google_postmaster', 'it is still due');
  await fetchAccount(scene.app, account, again!, new AbortController().signal);
  assert.deepEqual(await names(), ['a.example', 'b.example']);
});

test('Figures are kept for 400 days, and verdicts for 30 days without a confirmation', async (t) => {
  const scene = await startReceivers(t);
  await scene.addDomain('example.com');
  scene.postmaster.domains.set(
    'example.com',
    servedDomain({ days: { '2026-11-20': { spamRate: 0.1 } }, compliance: servedCompliance() }),
  );
  scene.snds.days = { '2026-11-20': [servedAddress('192.0.2.1', '2026-11-20')] };
  scene.snds.ranges = [{ first: '192.0.2.1', last: '192.0.2.1', blocked: 'No', details: '' }];
  await scene.fetch();
  await scene.fetch('microsoft_snds');
  const counts = async () => {
    const tables = [
      'receiver_days',
      'receiver_addresses',
      'receiver_requirements',
      'receiver_blocks',
      'receiver_domains',
    ] as const;
    const rows = tables.map((table) => scene.app.db.selectFrom(table).selectAll().execute());
    return (await Promise.all(rows)).map(({ length }) => length);
  };
  scene.advance(29 * DAY_MS);
  await expire(scene.app);
  assert.deepEqual(await counts(), [1, 1, 11, 1, 1]);
  scene.advance(2 * DAY_MS);
  await expire(scene.app);
  assert.deepEqual(await counts(), [1, 1, 0, 0, 0]);
  scene.advance(366 * DAY_MS);
  await expire(scene.app);
  assert.deepEqual(await counts(), [1, 1, 0, 0, 0]);
  scene.advance(3 * DAY_MS);
  await expire(scene.app);
  assert.deepEqual(await counts(), [0, 0, 0, 0, 0]);
});

test('Of two nodes, one fetches', { skip: skipUnlessOnPostgres() }, async (t) => {
  const snds = await startSndsServer(t);
  const url = await newDatabase(t);
  const env = { DELIVERABILITY_RECEIVERS: sndsConfig(snds.url) };
  const nodes = await Promise.all([
    startNode(t, url, { name: 'one', env }),
    startNode(t, url, { name: 'two', env }),
  ]);
  const fetched = async () =>
    (await nodes[0]!.app.db.selectFrom('receivers').selectAll().executeTakeFirstOrThrow())
      .fetched_at;
  while ((await fetched()) === null) await pause(20);
  // As at the next ticks of both.
  for (const { app } of nodes) assert.deepEqual(await claimDue(app, 1), []);
  assert.equal(snds.exchanges.filter(({ path }) => path.includes('ipStatus')).length, 1);
});

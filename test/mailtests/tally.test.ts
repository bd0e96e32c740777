/** Tallies always equal a recount of the tests. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { PoolOutcome } from '../../src/analysis/pool.ts';
import type { Domain } from '../../src/domains/schema.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { deleteOldTests, expireTallies } from '../../src/mailtests/expire.ts';
import { insertTest, newTestRow } from '../../src/mailtests/queries.ts';
import { recordOutcome } from '../../src/mailtests/record.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { countTest } from '../../src/mailtests/tally.ts';
import type { TestRow } from '../../src/store/tables.generated.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { type TestClock, testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import { randomPlacement, randomResult, randomTest, recount, tallies } from './counted-tests.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Counting {
  service: TestService;
  clock: TestClock;
  domains: string[];
}

/** A service with two domains and a stopped scheduler. */
async function startCounting(t: TestContext): Promise<Counting> {
  const clock = testClock(Date.UTC(2026, 2, 28, 21, 17, 3));
  const service = await startTestService(t, { clock });
  await service.app.scheduler.stop();
  const domains: string[] = [];
  for (const name of ['example.com', 'example.net'])
    domains.push((await service.call<Domain>('POST', '/v1/domains', { json: { name } })).body.id);
  return { service, clock, domains };
}

/** A random outcome of an analysis, sometimes a failure. */
async function randomOutcome(random: Random): Promise<PoolOutcome> {
  if (random.chance(0.1)) return { ok: false, reason: 'fault', detail: 'it broke' };
  if (random.chance(0.05)) return { ok: false, reason: 'unreadable', detail: 'it is too much' };
  const { spf, dkim, dmarc, checks, score, grade } = randomResult(random);
  const domain = ['example.com', 'shop.example.net', 'example.org'][random.below(3)];
  const result = {
    score,
    grade,
    checks,
    uncapped: score,
    cap: null,
    coverage: 1,
    summary: 'So it is.',
    temporary: random.chance(0.1),
    subject: null,
    message_size: 1,
    categories: [],
    from_address: `ann@${domain}`,
    auth_results: { spf, dkim, dmarc },
    providers: '[]',
    judged_kind: { kind: 'marketing', by: 'sender', reasons: [] },
    ruleset: '1',
  };
  const toFix = (JSON.parse(checks) as { id: string; status: string }[])
    .filter(({ status }) => status === 'fail' || status === 'warn')
    .map(({ id }) => id);
  return { ok: true, result, toFix } as unknown as PoolOutcome;
}

/** Records a first or repeated analysis of a test. */
async function analyse({ app }: TestService, row: TestRow, random: Random): Promise<void> {
  const analysis_due_at = isoTime(app.clock.now());
  const lease = 'ours';
  await app.db
    .updateTable('tests')
    .set({ lease, analysis_due_at })
    .where('id', '=', row.id)
    .execute();
  await recordOutcome(app, { ...row, lease, analysis_due_at }, await randomOutcome(random));
}

async function step({ service, clock, domains }: Counting, random: Random): Promise<void> {
  const { app, call } = service;
  clock.advance(random.below(2 * HOUR));
  const all = await app.db.selectFrom('tests').selectAll().orderBy('id').execute();
  const analysed = all.filter(({ status }) => status === 'completed' || status === 'processing');
  const some = analysed[random.below(analysed.length)];
  if (!some || random.chance(0.5)) {
    const livemode = random.chance(0.8);
    const seed = { kind: 'auto', metadata: {}, expires_in: 3600, livemode } as const;
    const domain_id = random.chance(0.3) ? domains[random.below(2)] : null;
    const created = newTestRow(app, { ...seed, domain_id });
    const row: TestRow = { ...created, ...randomPlacement(random), status: 'processing' };
    await insertTest(app.db, row);
    return analyse(service, row, random);
  }
  if (random.chance(0.6)) return analyse(service, some, random);
  const key = some.livemode ? service.key : await service.makeKey('member', false);
  const deleted = await call('DELETE', `/v1/tests/${some.id}`, { key });
  assert.equal(deleted.status, 200);
}

for (const seed of [1, 2, 3])
  test(`Hourly test counts equal a recount after random history (seed ${seed})`, async (t) => {
    const counting = await startCounting(t);
    const random = seededRandom(seed);
    const { db } = counting.service.app;
    let moved = 0;
    for (let i = 0; i < 120; i++) {
      await step(counting, random);
      if (i % 10 === 9) assert.deepEqual(await tallies(db), await recount(db));
      moved = (
        await db.selectFrom('tests').select('id').where('previous', 'is not', null).execute()
      ).length;
    }
    const found = await tallies(db);
    // The history contained all relevant cases.
    assert.ok(moved > 5 && found.length > 40);
    for (const domain of ['', ...counting.domains])
      assert.ok(found.some(({ domain_id, livemode }) => domain_id === domain && livemode === 1));
    assert.ok(found.some(({ livemode }) => livemode === 0));
    assert.ok(found.some(({ tests, scored }) => scored < tests));
    assert.ok(found.some(({ tests, dkim_known }) => dkim_known < tests));
    assert.ok(found.some(({ placement_counts }) => placement_counts.includes('gmail spam')));
  });

test('Test counts include the issues of a result and move with a reanalysis', async (t) => {
  const clock = testClock();
  const zone: Record<string, { TXT: string[] }> = { 'example.com': { TXT: ['x'] } };
  const { app, call, getTest } = await startTestService(t, { zone, clock });
  const { body: made } = await call<Test>(
    'POST',
    '/v1/tests?client_ip=192.0.2.1&mail_from=bounce@example.com',
    {
      body: goodMessage({ Subject: null }),
      headers: { 'content-type': 'message/rfc822' },
    },
  );
  const done = await getTest(made.id, '?wait=50');
  const issuesOf = ({ checks }: Test) =>
    checks
      .filter(({ status }) => status === 'fail' || status === 'warn')
      .map(({ id }) => [id, 1])
      .toSorted();
  const [first, ...others] = await tallies(app.db);
  assert.equal(others.length, 0);
  assert.deepEqual([first!.hour, first!.tests], ['2026-11-21T10:00:00.000Z', 1]);
  assert.deepEqual(Object.entries(JSON.parse(first!.issues)), issuesOf(done));
  assert.ok(issuesOf(done).length > 3);
  clock.advance(5 * HOUR);
  zone['example.com'] = { TXT: ['v=spf1 ip4:192.0.2.1 -all'] };
  const ended = app.signals.wait(made.id, 20_000);
  await call('POST', `/v1/tests/${made.id}/reanalyze`);
  await ended;
  const again = await tallies(app.db);
  assert.deepEqual(
    again.map(({ hour, tests, spf_pass }) => [hour, tests, spf_pass]),
    [['2026-11-21T15:00:00.000Z', 1, 1]],
  );
  assert.deepEqual(again, await recount(app.db));
  assert.ok(!('spf' in JSON.parse(again[0]!.issues)) && 'spf' in JSON.parse(first!.issues));
});

test('Tests deleted by retention stay counted; tests deleted by users do not', async (t) => {
  const clock = testClock();
  const env = { DELIVERABILITY_TEST_RETENTION: '2d' };
  const { app, call } = await startTestService(t, { clock, env });
  await app.scheduler.stop();
  const random = seededRandom(7);
  const rows = Array.from({ length: 12 }, () => ({
    ...randomTest(app, random, { at: clock.now(), domains: [null] }),
    livemode: 1,
  }));
  await app.db.transaction().execute(async (tx) => {
    for (const row of rows) {
      await insertTest(tx, row);
      await countTest(tx, row, 1);
    }
  });
  await call('DELETE', `/v1/tests/${rows[0]!.id}`);
  const counted = await tallies(app.db);
  assert.deepEqual(counted, await recount(app.db));
  assert.equal(counted[0]!.tests, 11);
  clock.advance(3 * DAY);
  await deleteOldTests(app);
  assert.deepEqual(await app.db.selectFrom('tests').select('id').execute(), []);
  assert.deepEqual(await tallies(app.db), counted);
});

test('countTest removes empty hours and ignores removal of uncounted tests', async (t) => {
  const { app } = await startTestService(t);
  const random = seededRandom(3);
  const at = Date.UTC(2026, 9, 25, 0, 59, 59, 999);
  const row = randomTest(app, random, { at, domains: ['dom_a'] });
  const count = (by: 1 | -1) => app.db.transaction().execute((tx) => countTest(tx, row, by));
  await count(-1);
  assert.deepEqual(await tallies(app.db), []);
  await count(1);
  assert.deepEqual(
    (await tallies(app.db)).map(({ domain_id, hour }) => [domain_id, hour]),
    [
      ['', '2026-10-25T00:00:00.000Z'],
      ['dom_a', '2026-10-25T00:00:00.000Z'],
    ],
  );
  await count(-1);
  assert.deepEqual(await tallies(app.db), []);
});

test('expireTallies deletes old hours and those of deleted domains', async (t) => {
  const { service, clock, domains } = await startCounting(t);
  const { app, call } = service;
  const random = seededRandom(5);
  const ages = [0, 60, 99, 101, 400];
  await app.db.transaction().execute(async (tx) => {
    for (const age of ages)
      for (const domain of [domains[0]!, domains[1]!, null])
        await countTest(
          tx,
          {
            ...randomTest(app, random, { at: clock.now() - age * DAY, domains: [domain] }),
            livemode: 1,
          },
          1,
        );
  });
  assert.equal((await call('DELETE', `/v1/domains/${domains[0]}`)).status, 200);
  await expireTallies(app);
  const left = (await tallies(app.db)).map(({ domain_id, hour, tests }) => [
    domain_id,
    hour,
    tests,
  ]);
  const hours = [99, 60, 0].map(
    (age) => `${isoTime(clock.now() - age * DAY).slice(0, 13)}:00:00.000Z`,
  );
  assert.deepEqual(left, [
    ...hours.map((hour) => ['', hour, 3]),
    ...hours.map((hour) => [domains[1], hour, 1]),
  ]);
});

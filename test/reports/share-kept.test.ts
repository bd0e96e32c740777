/** How long a link keeps its tests, and how long a link that has ended is kept itself. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { retireTests } from '../../src/mailtests/expire.ts';
import { expireShares } from '../../src/reports/share-expire.ts';
import { DAY_MS, type Sharing, startSharing, wrongFields } from './sharing.ts';

const RETENTION_DAYS = 90;
const DAY_S = 86_400;

async function startKept(t: TestContext) {
  const sharing = await startSharing(t, {
    env: { DELIVERABILITY_TEST_RETENTION: `${RETENTION_DAYS}d` },
  });
  const { service, clock } = sharing;
  return {
    ...sharing,
    async isThere(id: string): Promise<boolean> {
      await retireTests(service.app);
      return (await service.call('GET', `/v1/tests/${id}`)).status === 200;
    },
    async keptUntil(id: string): Promise<string | null> {
      const row = await service.app.db
        .selectFrom('tests')
        .select('keep_until')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return row.keep_until;
    },
    revoke: (id: string) => service.call('DELETE', `/v1/reports/shared/${id}`),
    inDays: (days: number) => new Date(clock.now() + days * DAY_MS).toISOString(),
  };
}

test('a test outlasts the retention time until the last of its links ends', async (t) => {
  const { clock, analysed, share, isThere, keptUntil, inDays } = await startKept(t);
  const [shared, other] = [await analysed(), await analysed()];
  await share({ test_ids: [shared.id], expires_in: 100 * DAY_S });
  await share({ test_ids: [shared.id], expires_in: 95 * DAY_S });
  assert.equal(await keptUntil(shared.id), inDays(100), 'a shorter one shortens nothing');
  assert.equal(await keptUntil(other.id), null);
  clock.advance(99 * DAY_MS);
  assert.deepEqual([await isThere(shared.id), await isThere(other.id)], [true, false]);
  clock.advance(DAY_MS);
  assert.equal(await isThere(shared.id), true, 'to the last moment of its link');
  clock.advance(1);
  assert.equal(await isThere(shared.id), false);
});

test('a revoked link keeps nothing; what another still shows stays', async (t) => {
  const { clock, analysed, share, revoke, isThere, keptUntil, inDays } = await startKept(t);
  const [both, once] = [await analysed(), await analysed()];
  const long = await share({ test_ids: [both.id, once.id], expires_in: 300 * DAY_S });
  const short = await share({ test_ids: [both.id], expires_in: 100 * DAY_S });
  await revoke(long.id);
  assert.deepEqual([await keptUntil(both.id), await keptUntil(once.id)], [inDays(100), null]);
  clock.advance(91 * DAY_MS);
  assert.deepEqual([await isThere(both.id), await isThere(once.id)], [true, false]);
  await revoke(short.id);
  assert.equal(await isThere(both.id), false);
});

test('a link that has ended counts no more when another is revoked', async (t) => {
  const { clock, analysed, share, revoke, keptUntil } = await startKept(t);
  const { id } = await analysed();
  await share({ test_ids: [id], expires_in: DAY_S });
  const live = await share({ test_ids: [id], expires_in: 10 * DAY_S });
  clock.advance(2 * DAY_MS);
  await revoke(live.id);
  assert.equal(await keptUntil(id), null);
});

test('a test that was retired meanwhile is not shared again', async (t) => {
  const { service, clock, analysed, isThere } = await startKept(t);
  const { id } = await analysed();
  clock.advance(91 * DAY_MS);
  assert.equal(await isThere(id), false);
  const answer = await service.call('POST', '/v1/reports/share', { json: { test_ids: [id] } });
  assert.deepEqual(
    [answer.status, wrongFields(answer)],
    [422, ['test_ids.0 is the id of no test']],
  );
});

test('a deleted test drops out of its link, which says so; the last one leaves the link', async (t) => {
  const { service, analysed, share, read, revoke } = await startKept(t);
  const [first, second] = [await analysed(), await analysed()];
  const { id, token } = await share({ test_ids: [first.id, second.id] });
  const shown = async () => {
    const page = await read(`/reports/public/${token}`);
    const json = await read<{ tests: { id: string }[]; deleted_tests: number }>(
      `/reports/public/${token}`,
      'application/json',
    );
    assert.deepEqual([page.status, json.status], [200, 200]);
    return {
      page: page.text,
      ids: json.body.tests.map((one) => one.id),
      n: json.body.deleted_tests,
    };
  };
  assert.equal((await service.call('DELETE', `/v1/tests/${first.id}`)).status, 200);
  const one = await shown();
  assert.deepEqual([one.ids, one.n], [[second.id], 1]);
  assert.match(one.page, /One test of this report has been deleted since\./);
  await service.call('DELETE', `/v1/tests/${second.id}`);
  const none = await shown();
  assert.deepEqual([none.ids, none.n], [[], 2]);
  assert.match(none.page, /The tests of this report have been deleted since\./);
  assert.equal((await revoke(id)).status, 200);
});

const idsOf = async ({ service }: Pick<Sharing, 'service'>) =>
  (await service.app.db.selectFrom('shared_reports').select('id').orderBy('id').execute()).map(
    ({ id }) => id,
  );

test('links are forgotten a year after they have ended, with what they named', async (t) => {
  const sharing = await startKept(t);
  const { service, clock, analysed, share, revoke, read } = sharing;
  const { id } = await analysed();
  const short = await share({ test_ids: [id], expires_in: DAY_S });
  const revoked = await share({ test_ids: [id], expires_in: 300 * DAY_S });
  const long = await share({ test_ids: [id], expires_in: 300 * DAY_S });
  clock.advance(10 * DAY_MS);
  await revoke(revoked.id);
  const afterDays = async (days: number) => {
    clock.advance(days * DAY_MS);
    await expireShares(service.app);
    return idsOf(sharing);
  };
  assert.deepEqual(await afterDays(356), [short.id, revoked.id, long.id]);
  clock.advance(1);
  assert.deepEqual(await afterDays(0), [revoked.id, long.id]);
  assert.deepEqual(await afterDays(9), [long.id]);
  assert.deepEqual(await afterDays(289), [long.id]);
  assert.equal((await read(`/reports/public/${long.token}`)).status, 410);
  assert.deepEqual(await afterDays(1), []);
  assert.equal((await read(`/reports/public/${long.token}`)).status, 404);
  const named = await service.app.db.selectFrom('shared_report_tests').selectAll().execute();
  assert.deepEqual(named, []);
});

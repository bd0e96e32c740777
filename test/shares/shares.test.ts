/** The API for shared reports: create, list, revoke, retention. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sha256 } from '../../src/lib/crypto.ts';
import { deleteOldTests } from '../../src/mailtests/expire.ts';
import { expireShares } from '../../src/shares/change-share.ts';
import type { Share } from '../../src/shares/schema.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import type { List } from '../team/team-service.ts';
import { DAY_MS, type Made, type Sharing, startSharing, WEEK_MS, wrongFields } from './sharing.ts';

test('POST /v1/reports/share creates a link valid for a week with a random token', async (t) => {
  const { service, clock, analysed } = await startSharing(t, {
    env: { DELIVERABILITY_APP_URL: 'https://app.example' },
  });
  const [one, two] = [await analysed(), await analysed()];
  const { status, headers, body } = await service.call<Made>('POST', '/v1/reports/share', {
    json: { test_ids: [two.id, one.id] },
  });
  assert.equal(status, 201);
  assert.match(body.id, /^rpt_[0-9a-z]{26}$/);
  assert.equal(headers.get('location'), `/v1/reports/shared/${body.id}`);
  // 256 bits in base64url.
  assert.match(body.token, /^[\w-]{43}$/);
  assert.deepEqual(body, {
    id: body.id,
    object: 'shared_report',
    title: null,
    tags: null,
    test_ids: [two.id, one.id],
    preview: 'without_images',
    url: `https://app.example/reports/public/${body.token}`,
    token: body.token,
    created_at: new Date(clock.now()).toISOString(),
    expires_at: new Date(clock.now() + WEEK_MS).toISOString(),
    revoked_at: null,
    view_count: 0,
    last_viewed_at: null,
  });
});

test('Share tokens are stored only hashed and encrypted', async (t) => {
  const { service, analysed, share } = await startSharing(t);
  const { id } = await analysed();
  const { token } = await share({ test_ids: [id], title: 'What is no secret' });
  const row = await service.app.db
    .selectFrom('shared_reports')
    .selectAll()
    .executeTakeFirstOrThrow();
  assert.equal(row.token_hash, sha256(token));
  const bytes = await storedBytes(service.app, service.folder);
  assert.ok(bytes.includes('What is no secret'));
  assert.ok(!bytes.includes(token));
  // The encryption is bound to its row.
  assert.equal(service.app.secrets.open(row.token, 'shared_report:rpt_other'), null);
});

test('POST /v1/reports/share rejects each test without a result by index with 422', async (t) => {
  const { service, analysed } = await startSharing(t);
  const { call, createTest, makeKey, app } = service;
  const sandboxKey = await makeKey('owner', false);
  const [done, waiting, failed, processing] = [
    await analysed(),
    await createTest(),
    await createTest(),
    await createTest(),
  ];
  const sandbox = await analysed(undefined, sandboxKey);
  const become = (id: string, change: object) =>
    app.db.updateTable('tests').set(change).where('id', '=', id).execute();
  await become(failed.id, { status: 'failed', failure_reason: 'not_received' });
  await become(processing.id, { status: 'processing' });
  const ask = (json: unknown) => call('POST', '/v1/reports/share', { json });
  const all = [done, waiting, failed, processing, sandbox].map(({ id }) => id);
  const refused = await ask({ test_ids: [...all, 'test_none'] });
  assert.equal(refused.status, 422);
  assert.deepEqual(wrongFields(refused), [
    'test_ids.1 has no result yet: its message has not arrived',
    'test_ids.2 has no result: the test failed',
    'test_ids.3 has no result yet: its message is being analyzed',
    'test_ids.4 is not the ID of a test',
    'test_ids.5 is not the ID of a test',
  ]);
  for (const [json, wrong] of [
    [{}, ['test_ids is required']],
    [{ test_ids: [] }, ['test_ids must contain at least one test']],
    [{ test_ids: [done.id, done.id] }, ['test_ids.1 is a duplicate']],
    [
      { test_ids: Array.from({ length: 101 }, (_, i) => `test_${i}`) },
      ['test_ids must contain at most 100 tests'],
    ],
    [{ test_ids: [done.id], expires_in: 59 }, ['expires_in must be at least 60']],
    [{ test_ids: [done.id], expires_in: 31_536_001 }, ['expires_in must be at most 31536000']],
    [{ test_ids: [done.id], expires_in: 60.5 }, ['expires_in must be a whole number']],
    [{ test_ids: [done.id], title: ' ' }, ['title must not be blank']],
    [{ test_ids: [done.id], views: 7 }, ['views is not a known parameter']],
  ] as const) {
    const answer = await ask(json);
    assert.deepEqual([answer.status, wrongFields(answer)], [422, wrong], JSON.stringify(json));
  }
  const rows = await app.db.selectFrom('shared_reports').select('id').execute();
  assert.deepEqual(rows, [], 'a rejected request stores nothing');
  for (const expires_in of [60, 31_536_000])
    assert.equal((await ask({ test_ids: [done.id], expires_in, title: null })).status, 201);
});

test('POST /v1/reports/share accepts a failed test with findings', async (t) => {
  const { service, analysed, share } = await startSharing(t);
  const { id } = await analysed();
  const failed = { status: 'failed', failure_reason: 'analysis_error', score: null, grade: null };
  await service.app.db
    .updateTable('tests')
    .set(failed as never)
    .where('id', '=', id)
    .execute();
  assert.deepEqual((await share({ test_ids: [id] })).test_ids, [id]);
});

test('Share URLs are shown again only to admins and the owner', async (t) => {
  const { service, analysed, share, get } = await startSharing(t);
  const { id } = await analysed();
  const [viewer, member, admin] = await Promise.all([
    service.makeMember('viewer'),
    service.makeMember('member'),
    service.makeMember('admin'),
  ]);
  const made = await share({ test_ids: [id] }, member.key);
  assert.ok(made.url.endsWith(made.token), 'the creator sees the link once');
  const cases = [
    [viewer.key, null, null],
    [member.key, null, null],
    [admin.key, made.url, made.token],
    [service.key, made.url, made.token],
    [await service.makeKey('member'), null, null],
  ] as const;
  for (const [key, url, token] of cases) {
    assert.deepEqual(await get(made.id, key), { ...made, url, token });
    const { body } = await service.call<List<Share>>('GET', '/v1/reports/shared', { key });
    assert.deepEqual(body.data, [{ ...made, url, token }]);
  }
});

test('GET /v1/reports/shared lists newest first, per mode, with pagination', async (t) => {
  const { service, analysed, share } = await startSharing(t);
  const { call, makeKey } = service;
  const sandbox = await makeKey('owner', false);
  const { id } = await analysed();
  const made = [];
  for (let n = 0; n < 3; n++) made.push((await share({ test_ids: [id] })).id);
  const other = await share({ test_ids: [(await analysed(undefined, sandbox)).id] }, sandbox);
  const idsOf = async (query: string, key?: string) => {
    const { body } = await call<List<Share>>('GET', `/v1/reports/shared${query}`, { key });
    return [body.data.map((one) => one.id), body.has_more];
  };
  assert.deepEqual(await idsOf(''), [made.toReversed(), false]);
  assert.deepEqual(await idsOf('?limit=2'), [[made[2], made[1]], true]);
  assert.deepEqual(await idsOf(`?limit=2&starting_after=${made[1]}`), [[made[0]], false]);
  assert.deepEqual(await idsOf('', sandbox), [[other.id], false]);
  const path = `/v1/reports/shared/${other.id}`;
  assert.equal((await call('GET', path)).status, 404);
  assert.equal((await call('DELETE', path)).status, 404);
  assert.equal((await call('DELETE', path, { key: sandbox })).status, 200);
});

test('Revoking a share is idempotent, requires a member and keeps it listed', async (t) => {
  const { service, clock, analysed, share, get } = await startSharing(t);
  const { call, makeMember } = service;
  const { id } = await analysed();
  const made = await share({ test_ids: [id], title: 'Spring' });
  const path = `/v1/reports/shared/${made.id}`;
  const viewer = await makeMember('viewer');
  assert.equal((await call('DELETE', path, { key: viewer.key })).status, 403);
  clock.advance(1000);
  const revoked_at = new Date(clock.now()).toISOString();
  const member = await makeMember('member');
  for (let times = 0; times < 2; times++) {
    const { status, body } = await call('DELETE', path, { key: member.key });
    assert.equal(status, 200);
    assert.deepEqual(body, { id: made.id, object: 'shared_report', deleted: true });
    clock.advance(1000);
  }
  assert.deepEqual(await get(made.id), { ...made, revoked_at });
  const { body } = await call<List<{ action: string; object: object; details: object }>>(
    'GET',
    '/v1/audit_log',
  );
  const noted = body.data.filter(({ action }) => action.startsWith('report.'));
  assert.deepEqual(
    noted.map(({ action, details }) => ({ action, details })),
    [
      { action: 'report.revoked', details: { title: 'Spring', views: 0 } },
      {
        action: 'report.shared',
        details: {
          title: 'Spring',
          test_ids: [id],
          expires_at: made.expires_at,
          preview: 'without_images',
        },
      },
    ],
  );
  assert.ok(!JSON.stringify(body).includes(made.token));
});

test('POST /v1/reports/share with an Idempotency-Key creates one link', async (t) => {
  const { service, analysed } = await startSharing(t);
  const { id } = await analysed();
  const ask = () =>
    service.call<Made>('POST', '/v1/reports/share', {
      json: { test_ids: [id] },
      headers: { 'idempotency-key': 'once' },
    });
  const [first, again] = [await ask(), await ask()];
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(again.body, first.body);
  const rows = await service.app.db.selectFrom('shared_reports').select('id').execute();
  assert.equal(rows.length, 1);
});

// Retention of shared tests, and of ended links.

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
      await deleteOldTests(service.app);
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

test('A shared test is kept past the retention time until its last link expires', async (t) => {
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

test('Revoking a link ends retention unless another link shows the test', async (t) => {
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

test('Expired links do not extend retention when another link is revoked', async (t) => {
  const { clock, analysed, share, revoke, keptUntil } = await startKept(t);
  const { id } = await analysed();
  await share({ test_ids: [id], expires_in: DAY_S });
  const live = await share({ test_ids: [id], expires_in: 10 * DAY_S });
  clock.advance(2 * DAY_MS);
  await revoke(live.id);
  assert.equal(await keptUntil(id), null);
});

test('POST /v1/reports/share rejects a test deleted by retention', async (t) => {
  const { service, clock, analysed, isThere } = await startKept(t);
  const { id } = await analysed();
  clock.advance(91 * DAY_MS);
  assert.equal(await isThere(id), false);
  const answer = await service.call('POST', '/v1/reports/share', { json: { test_ids: [id] } });
  assert.deepEqual(
    [answer.status, wrongFields(answer)],
    [422, ['test_ids.0 is not the ID of a test']],
  );
});

test('Deleted tests disappear from public reports, which state the number', async (t) => {
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
  assert.match(one.page, /1 test in this report has been deleted\./);
  await service.call('DELETE', `/v1/tests/${second.id}`);
  const none = await shown();
  assert.deepEqual([none.ids, none.n], [[], 2]);
  assert.match(none.page, /All tests in this report have been deleted\./);
  assert.equal((await revoke(id)).status, 200);
});

const idsOf = async ({ service }: Pick<Sharing, 'service'>) =>
  (await service.app.db.selectFrom('shared_reports').select('id').orderBy('id').execute()).map(
    ({ id }) => id,
  );

test('expireShares deletes links a year after they end', async (t) => {
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

/** Reports are shared, listed and revoked by the team. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sha256 } from '../../src/lib/crypto.ts';
import type { Share } from '../../src/reports/share-schema.ts';
import type { List } from '../team/team-service.ts';
import { type Made, startSharing, WEEK_MS, wrongFields } from './sharing.ts';

test('a report is shared for a week, with a link that nobody guesses', async (t) => {
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
  // 43 characters of 6 bits.
  assert.match(body.token, /^[\w-]{43}$/);
  assert.deepEqual(body, {
    id: body.id,
    object: 'shared_report',
    title: null,
    test_ids: [two.id, one.id],
    url: `https://app.example/reports/public/${body.token}`,
    token: body.token,
    created_at: new Date(clock.now()).toISOString(),
    expires_at: new Date(clock.now() + WEEK_MS).toISOString(),
    revoked_at: null,
    view_count: 0,
    last_viewed_at: null,
  });
});

test('the token is in the database as a hash and encrypted, in clear nowhere', async (t) => {
  const { service, analysed, share } = await startSharing(t);
  const { id } = await analysed();
  const { token } = await share({ test_ids: [id], title: 'What is no secret' });
  const row = await service.app.db
    .selectFrom('shared_reports')
    .selectAll()
    .executeTakeFirstOrThrow();
  assert.equal(row.token_hash, sha256(token));
  const bytes = Buffer.concat(
    readdirSync(service.folder)
      .filter((name) => /\.db(-wal)?$/.test(name))
      .map((name) => readFileSync(join(service.folder, name))),
  );
  assert.ok(bytes.includes('What is no secret'));
  assert.ok(!bytes.includes(token));
  // Sealed for its own row alone.
  assert.equal(service.app.secrets.open(row.token, 'shared_report:rpt_other'), null);
});

test('what cannot be shared is named, each by its place', async (t) => {
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
    'test_ids.1 is a test without a result: its mail has not come yet',
    'test_ids.2 is a test that failed and has no result to share',
    'test_ids.3 is a test without a result: its mail is being analysed',
    'test_ids.4 is the id of no test',
    'test_ids.5 is the id of no test',
  ]);
  for (const [json, wrong] of [
    [{}, ['test_ids is required']],
    [{ test_ids: [] }, ['test_ids must name a test at least']],
    [{ test_ids: [done.id, done.id] }, ['test_ids.1 is a test that is named before']],
    [
      { test_ids: Array.from({ length: 101 }, (_, i) => `test_${i}`) },
      ['test_ids must name at most 100 tests'],
    ],
    [{ test_ids: [done.id], expires_in: 59 }, ['expires_in must be at least 60']],
    [{ test_ids: [done.id], expires_in: 31_536_001 }, ['expires_in must be at most 31536000']],
    [{ test_ids: [done.id], expires_in: 60.5 }, ['expires_in must be a whole number']],
    [{ test_ids: [done.id], title: ' ' }, ['title must not be blank']],
    [{ test_ids: [done.id], views: 7 }, ['views is not a field of this request']],
  ] as const) {
    const answer = await ask(json);
    assert.deepEqual([answer.status, wrongFields(answer)], [422, wrong], JSON.stringify(json));
  }
  const rows = await app.db.selectFrom('shared_reports').select('id').execute();
  assert.deepEqual(rows, [], 'what is refused leaves nothing');
  for (const expires_in of [60, 31_536_000])
    assert.equal((await ask({ test_ids: [done.id], expires_in, title: null })).status, 201);
});

test('a test that failed but has findings can be shared', async (t) => {
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

test('the link is shown again to admins alone', async (t) => {
  const { service, analysed, share, get } = await startSharing(t);
  const { id } = await analysed();
  const [viewer, member, admin] = await Promise.all([
    service.makeMember('viewer'),
    service.makeMember('member'),
    service.makeMember('admin'),
  ]);
  const made = await share({ test_ids: [id] }, member.key);
  assert.ok(made.url.endsWith(made.token), 'whoever made it is shown it once');
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

test('they are listed newest first, page by page, each mode its own', async (t) => {
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

test('a revoked one stays to be seen, and is revoked once', async (t) => {
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
        details: { title: 'Spring', test_ids: [id], expires_at: made.expires_at },
      },
    ],
  );
  assert.ok(!JSON.stringify(body).includes(made.token));
});

test('the same Idempotency-Key makes one link', async (t) => {
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

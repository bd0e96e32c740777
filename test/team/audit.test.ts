/** The audit log: its entries and filters, without secrets. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { accept, invite, type List, membersOf, tokenOf } from './team-service.ts';

interface Entry {
  id: string;
  action: string;
  member_id: string | null;
}

test('GET /v1/audit_log entries name the actor, action, object and time', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { call, makeMember, app } = service;
  const admin = await makeMember('admin');
  clock.advance(60_000);
  const { body: invitation } = await invite(service, { email: 'bob@example.com' }, admin.key);
  const { body } = await call<List<Record<string, unknown>>>('GET', '/v1/audit_log?limit=1');
  const [entry] = body.data;
  const key = await app.db
    .selectFrom('api_keys')
    .select('id')
    .where('member_id', '=', admin.id)
    .executeTakeFirst();
  const { id, ip, ...rest } = entry!;
  assert.match(String(id), /^aud_/);
  assert.ok(ip === null || ip === '127.0.0.1');
  assert.deepEqual(rest, {
    object: 'audit_entry',
    created_at: '2026-11-21T10:01:00.000Z',
    action: 'invitation.created',
    object_type: 'team_invitation',
    object_id: invitation.id,
    member_id: admin.id,
    member_email: admin.email,
    key_id: key!.id,
    session_id: null,
    details: { email: 'bob@example.com', role: 'member' },
  });
  // Entries outlive their members.
  await call('DELETE', `/v1/team/members/${admin.id}`);
  const after = await call<List<Entry>>('GET', `/v1/audit_log?member_id=${admin.id}`);
  assert.deepEqual(
    after.body.data.map(({ id: own }) => own),
    [id],
  );
});

test('GET /v1/audit_log filters by action, object, member and time, with pagination', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { call, makeMember } = service;
  const [owner] = await membersOf(service);
  const admin = await makeMember('admin');
  clock.advance(60_000);
  const first = await invite(service, { email: 'a@example.com' });
  clock.advance(60_000);
  await invite(service, { email: 'b@example.com' }, admin.key);
  await call('DELETE', `/v1/team/invitations/${first.body.id}`, { key: admin.key });
  const found = async (query: string) => {
    const { body } = await call<List<Entry>>('GET', `/v1/audit_log?${query}`);
    return body.data.map(({ action, member_id }) => `${action} ${member_id}`);
  };
  const made = `invitation.created ${owner!.id}`;
  const second = `invitation.created ${admin.id}`;
  const revoked = `invitation.revoked ${admin.id}`;
  assert.deepEqual(await found('action=invitation.created'), [second, made]);
  assert.deepEqual(await found(`object_id=${first.body.id}`), [revoked, made]);
  assert.deepEqual(await found(`member_id=${admin.id}`), [revoked, second]);
  assert.deepEqual(await found(`member_id=${admin.id}&action=invitation.revoked`), [revoked]);
  assert.deepEqual(await found('created_after=2026-11-21T10:02:00Z'), [revoked, second]);
  assert.deepEqual(
    await found('created_after=2026-11-21T10:01:00Z&created_before=2026-11-21T10:02:00Z'),
    [made],
  );
  const page = await call<List<Entry>>('GET', '/v1/audit_log?limit=2');
  assert.equal(page.body.has_more, true);
  const next = await found(`limit=1&starting_after=${page.body.data[1]!.id}`);
  assert.deepEqual(next, [made]);
  for (const wrong of ['created_after=yesterday', 'what=x'])
    assert.equal((await call('GET', `/v1/audit_log?${wrong}`)).status, 422, wrong);
});

test('GET /v1/audit_log requires the admin role; the audit log is read-only', async (t) => {
  const { call, makeMember } = await startTestService(t);
  for (const [role, status] of [
    ['admin', 200],
    ['member', 403],
    ['viewer', 403],
  ] as const) {
    const { key } = await makeMember(role);
    assert.equal((await call('GET', '/v1/audit_log', { key })).status, status, role);
  }
  for (const method of ['POST', 'PATCH', 'DELETE'])
    assert.equal((await call(method, '/v1/audit_log')).status, 405);
});

test('Rejected requests leave no audit log entry', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, app } = service;
  const [owner] = await membersOf(service);
  const { key, id } = await makeMember('viewer');
  const entries = async () => (await app.db.selectFrom('audit_log').select('id').execute()).length;
  const before = await entries();
  await call('DELETE', `/v1/team/members/${owner!.id}`);
  await call('PATCH', `/v1/team/members/${owner!.id}`, { json: { name: 'X' } });
  await invite(service, { email: owner!.email });
  await invite(service, { email: 'x@example.com' }, key);
  await call('POST', '/v1/api_keys', { key, json: { name: 'x' } });
  await call('POST', '/v1/team/transfer-ownership', { key, json: { new_owner_id: id } });
  await accept(service, 'nonsense');
  assert.equal(await entries(), before);
});

test('Audit log and server log contain no invitation links, API keys or passwords', async (t) => {
  const service = await startTestService(t);
  const { call, app, logged } = service;
  const made = await invite(service, { email: 'bob@example.com' });
  const resent = await call<typeof made.body>(
    'POST',
    `/v1/team/invitations/${made.body.id}/resend`,
  );
  const password = 'a password of Bob’s own';
  await accept(service, tokenOf(made), { password });
  await accept(service, tokenOf(resent), { password });
  const { body } = await call<{ key: string }>('POST', '/v1/api_keys', { json: { name: 'x' } });
  const written = JSON.stringify([
    await app.db.selectFrom('audit_log').selectAll().execute(),
    logged,
  ]);
  for (const secret of [tokenOf(made), tokenOf(resent), password, body.key])
    assert.ok(!written.includes(secret));
});

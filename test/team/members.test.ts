/** Operations on members: permissions of each role, and the access that they revoke. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROLES } from '../../src/http/actor.ts';
import { normalizeEmail } from '../../src/team/members.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import {
  auditOf,
  type List,
  type Member,
  membersOf,
  type Problem,
  signIn,
} from './team-service.ts';

const MEMBERS = '/v1/team/members';

/** A member of every role; `owner` uses the owner's key. */
async function wholeTeam(service: TestService) {
  const owner = (await membersOf(service)).find(({ role }) => role === 'owner')!;
  return {
    owner: { id: owner.id, email: owner.email, key: service.key },
    admin: await service.makeMember('admin'),
    otherAdmin: await service.makeMember('admin'),
    member: await service.makeMember('member'),
    viewer: await service.makeMember('viewer'),
  };
}

test('GET /v1/team/members lists all members, the owner first, then by name; viewers get 403', async (t) => {
  const service = await startTestService(t, { clock: testClock() });
  const { call } = service;
  const team = await wholeTeam(service);
  const { body } = await call<List<Member>>('GET', MEMBERS);
  assert.deepEqual(Object.keys(body), ['object', 'data', 'has_more']);
  assert.deepEqual(
    body.data.map(({ id }) => id),
    [team.owner, team.admin, team.otherAdmin, team.member, team.viewer].map(({ id }) => id),
  );
  assert.deepEqual(body.data.at(-1), {
    id: team.viewer.id,
    object: 'team_member',
    email: team.viewer.email,
    name: 'The viewer',
    role: 'viewer',
    joined_at: '2026-11-21T10:00:00.000Z',
    tags: null,
    linked_account: null,
  });
  const page = await call<List<Member>>(
    'GET',
    `${MEMBERS}?limit=1&starting_after=${team.otherAdmin.id}`,
  );
  assert.deepEqual(
    [page.body.data.map(({ id }) => id), page.body.has_more],
    [[team.member.id, team.viewer.id], false],
  );
  const one = `${MEMBERS}/${team.viewer.id}`;
  assert.deepEqual((await call('GET', one)).body, body.data.at(-1));
  for (const path of [MEMBERS, one]) {
    for (const { key } of [team.admin, team.member])
      assert.equal((await call('GET', path, { key })).status, 200);
    assert.equal((await call('GET', path, { key: team.viewer.key })).status, 403);
    assert.equal((await call('GET', path, { key: null })).status, 401);
  }
  assert.equal((await call('GET', `${MEMBERS}/mem_none`)).status, 404);
});

/** Who may PATCH and DELETE whom: rows are callers, columns are targets, 1 is yes. */
const CHANGES: Record<string, [string, number][]> = {
  owner: Object.entries({ owner: 0, admin: 1, otherAdmin: 1, member: 1, viewer: 1 }),
  admin: Object.entries({ owner: 0, admin: 0, otherAdmin: 0, member: 1, viewer: 1 }),
  member: Object.entries({ owner: 0, admin: 0, otherAdmin: 0, member: 0, viewer: 0 }),
  viewer: Object.entries({ owner: 0, admin: 0, otherAdmin: 0, member: 0, viewer: 0 }),
};

test('PATCH /v1/team/members/{id} allows only roles above the target’s', async (t) => {
  const service = await startTestService(t);
  const team = await wholeTeam(service);
  for (const [by, targets] of Object.entries(CHANGES))
    for (const [target, allowed] of targets) {
      const { key } = team[by as keyof typeof team];
      const path = `${MEMBERS}/${team[target as keyof typeof team].id}`;
      const name = `by ${by}`;
      const { status, body } = await service.call<Member>('PATCH', path, { key, json: { name } });
      assert.equal(status, allowed ? 200 : 403, `${by} changes ${target}`);
      if (allowed) assert.equal(body.name, name);
    }
  assert.deepEqual((await membersOf(service)).map(({ name }) => name).toSorted(), [
    'by admin',
    'by admin',
    'by owner',
    'by owner',
    'owner',
  ]);
});

test('DELETE /v1/team/members/{id} allows higher roles, and anyone but the owner to leave', async (t) => {
  const service = await startTestService(t);
  for (const [by, targets] of Object.entries(CHANGES))
    for (const [target, allowed] of targets) {
      const team = await wholeTeam(service);
      const { key } = team[by as keyof typeof team];
      const { id } = team[target as keyof typeof team];
      const may = allowed === 1 || (by === target && by !== 'owner');
      const { status, body } = await service.call('DELETE', `${MEMBERS}/${id}`, { key });
      assert.equal(status, may ? 200 : 403, `${by} removes ${target}`);
      if (may) assert.deepEqual(body, { id, object: 'team_member', deleted: true });
      const left = (await membersOf(service)).some((member) => member.id === id);
      assert.equal(left, !may, `${by} removes ${target}`);
    }
  assert.equal((await service.call('DELETE', `${MEMBERS}/mem_none`)).status, 404);
  // Viewers don't learn which members exist.
  const { key } = await service.makeMember('viewer');
  assert.equal((await service.call('DELETE', `${MEMBERS}/mem_none`, { key })).status, 403);
});

test('A key below its member’s role cannot remove that member from the team', async (t) => {
  const { call, makeKey, makeMember } = await startTestService(t);
  const admin = await makeMember('admin');
  for (const role of ['viewer', 'member'] as const) {
    const key = await makeKey(role, true, admin.id);
    const { status, body } = await call<Problem>('DELETE', `${MEMBERS}/${admin.id}`, { key });
    assert.equal(status, 403);
    assert.match(body.detail, /requires the admin role\. Your role is/);
  }
  assert.equal((await call('DELETE', `${MEMBERS}/${admin.id}`, { key: admin.key })).status, 200);
});

test('PATCH /v1/team/members/{id} cannot raise a role above the caller’s, nor to owner', async (t) => {
  const service = await startTestService(t);
  const { call, makeKey } = service;
  const team = await wholeTeam(service);
  const patch = async (id: string, role: string, key: string) =>
    (await call('PATCH', `${MEMBERS}/${id}`, { key, json: { role } })).status;
  // Up to the own role: an admin can appoint admins, but can't demote them.
  assert.equal(await patch(team.viewer.id, 'member', team.admin.key), 200);
  assert.equal(await patch(team.viewer.id, 'admin', team.admin.key), 200);
  assert.equal(await patch(team.viewer.id, 'viewer', team.admin.key), 403);
  assert.equal(await patch(team.viewer.id, 'viewer', service.key), 200);
  for (const role of ['owner', 'king', '']) {
    const path = `${MEMBERS}/${team.viewer.id}`;
    const { status, body } = await call<Problem>('PATCH', path, { json: { role } });
    assert.deepEqual([status, body.errors?.[0]?.param], [422, 'role']);
  }
  // A key counts with its own role, not its member's.
  const weak = await makeKey('admin');
  assert.equal(await patch(team.member.id, 'viewer', weak), 200);
  assert.equal(await patch(team.admin.id, 'viewer', weak), 403);
  assert.equal(await patch(team.owner.id, 'admin', service.key), 403);
});

test('A test-mode key can read the team but not change it, whatever its role', async (t) => {
  const service = await startTestService(t);
  const { call, makeKey } = service;
  const team = await wholeTeam(service);
  const json = { email: 'friend@example.com' };
  const invited = await call<{ id: string }>('POST', '/v1/team/invitations', { json });
  const invitation = `/v1/team/invitations/${invited.body.id}`;
  const key = await makeKey('owner', false);
  const viewers = await makeKey('viewer', false, team.viewer.id);
  for (const path of [MEMBERS, '/v1/team/invitations', invitation, '/v1/audit_log'])
    assert.equal((await call('GET', path, { key })).status, 200, path);
  const members = await membersOf(service);
  const entries = await auditOf(service, {});
  for (const [method, path, json] of [
    ['PATCH', `${MEMBERS}/${team.viewer.id}`, { role: 'admin' }],
    ['DELETE', `${MEMBERS}/${team.admin.id}`],
    ['POST', '/v1/team/transfer-ownership', { new_owner_id: team.admin.id }],
    ['POST', '/v1/team/invitations', { email: 'other@example.com' }],
    ['POST', `${invitation}/resend`],
    ['DELETE', invitation],
  ] as const) {
    const { status, body } = await call<Problem>(method, path, { key, json });
    assert.deepEqual([status, body.code], [403, 'live_mode_required'], `${method} ${path}`);
    assert.match(body.detail, /^Test-mode keys can't use this endpoint\. Use a live key/);
  }
  // Its member can't leave the team with it either.
  const leave = await call('DELETE', `${MEMBERS}/${team.viewer.id}`, { key: viewers });
  assert.equal(leave.status, 403);
  assert.deepEqual(await membersOf(service), members);
  assert.deepEqual(await auditOf(service, {}), entries);
  assert.equal((await call('GET', invitation)).body.status, 'pending');
});

test('PATCH /v1/team/members/{id} rejects invalid and unknown fields with 422', async (t) => {
  const { call, makeMember } = await startTestService(t);
  const { id } = await makeMember('member');
  for (const json of [
    { name: '' },
    { name: null },
    { name: 'x'.repeat(201) },
    { name: 'a\nb' },
    { role: null },
    { email: 'other@example.com' },
  ]) {
    const { status, body } = await call<Problem>('PATCH', `${MEMBERS}/${id}`, { json });
    assert.equal(status, 422, JSON.stringify(json));
    assert.deepEqual(
      body.errors?.map(({ param }) => param),
      Object.keys(json),
    );
  }
  const unknown = await call('PATCH', `${MEMBERS}/mem_none`, { json: { name: 'X' } });
  assert.equal(unknown.status, 404);
});

test('Changing a member’s role ends their sessions; changing the name does not', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, app } = service;
  const { id } = await makeMember('member');
  const other = await makeMember('member');
  for (const member of [id, id, other.id]) await signIn(service, member);
  const sessions = async () =>
    (await app.db.selectFrom('sessions').select('member_id').execute()).map((s) => s.member_id);
  await call('PATCH', `${MEMBERS}/${id}`, { json: { name: 'New' } });
  await call('PATCH', `${MEMBERS}/${id}`, { json: { role: 'member', name: 'New' } });
  assert.equal((await sessions()).length, 3);
  await call('PATCH', `${MEMBERS}/${id}`, { json: { role: 'viewer', name: 'Newer' } });
  assert.deepEqual(await sessions(), [other.id]);
  // Requests without changes aren't in the log.
  assert.deepEqual(await auditOf(service, { object_id: id }), [
    [
      'member.changed',
      {
        name: { from: 'New', to: 'Newer' },
        role: { from: 'member', to: 'viewer' },
        sessions_ended: 2,
        invitations_revoked: 0,
      },
    ],
    ['member.changed', { name: { from: 'The member', to: 'New' } }],
  ]);
});

test('Removing a member revokes their keys, sessions and invitations and is audited', async (t) => {
  const service = await startTestService(t);
  const { call, makeKey, makeMember, app } = service;
  const gone = await makeMember('admin');
  const second = await makeKey('viewer', false, gone.id);
  const revoked = await call<List<{ id: string }>>('GET', '/v1/api_keys', { key: gone.key });
  await makeKey('viewer', true, gone.id);
  await signIn(service, gone.id);
  await call('DELETE', `/v1/api_keys/${revoked.body.data[0]!.id}`, { key: gone.key });
  const invited = await call<{ id: string }>('POST', '/v1/team/invitations', {
    key: gone.key,
    json: { email: 'friend@example.com', role: 'admin' },
  });
  assert.equal((await call('DELETE', `${MEMBERS}/${gone.id}`)).status, 200);
  for (const key of [gone.key, second])
    assert.equal((await call('GET', '/v1/tests', { key })).status, 401);
  for (const table of ['api_keys', 'sessions'] as const) {
    const left = await app.db
      .selectFrom(table)
      .select('id')
      .where('member_id', '=', gone.id)
      .execute();
    assert.deepEqual(left, [], table);
  }
  // Inviters know the links of their invitations and could rejoin with them.
  const { body } = await call(`GET`, `/v1/team/invitations/${invited.body.id}`);
  assert.equal(body.status, 'revoked');
  const [[action, details]] = (await auditOf(service, { object_id: gone.id })) as [
    [string, object],
  ];
  assert.deepEqual(
    [action, details],
    [
      'member.removed',
      {
        email: gone.email,
        role: 'admin',
        keys_ended: 2,
        sessions_ended: 1,
        invitations_revoked: 1,
      },
    ],
  );
});

test('Lowering an admin’s role revokes the invitations they sent', async (t) => {
  const { call, makeMember } = await startTestService(t);
  const admin = await makeMember('admin');
  const json = { email: 'friend@example.com' };
  const invited = await call<{ id: string }>('POST', '/v1/team/invitations', {
    key: admin.key,
    json,
  });
  await call('PATCH', `${MEMBERS}/${admin.id}`, { json: { role: 'member' } });
  const { body } = await call('GET', `/v1/team/invitations/${invited.body.id}`);
  assert.equal(body.status, 'revoked');
});

test('PATCH and DELETE /v1/team/members/{id} reject a stale If-Match with 412', async (t) => {
  const { call, makeMember } = await startTestService(t);
  const { id } = await makeMember('member');
  const path = `${MEMBERS}/${id}`;
  const etag = (await call('GET', path)).headers.get('etag')!;
  assert.match(etag, /^"[^"]+"$/);
  const match = (value: string) => ({ headers: { 'if-match': value } });
  const first = await call('PATCH', path, { json: { name: 'First' }, ...match(etag) });
  assert.equal(first.status, 200);
  for (const method of ['PATCH', 'DELETE']) {
    const json = method === 'PATCH' ? { name: 'Second' } : undefined;
    const { status, body } = await call<Problem>(method, path, { json, ...match(etag) });
    assert.deepEqual([status, body.code], [412, 'precondition_failed'], method);
  }
  const now = first.headers.get('etag')!;
  assert.equal(now, (await call('GET', path)).headers.get('etag'));
  assert.equal((await call('DELETE', path, match(now))).status, 200);
});

test('GET /v1/team/members accepts keys of every role except viewer', async (t) => {
  const { call, makeKey } = await startTestService(t);
  for (const role of ROLES) {
    const { status } = await call('GET', MEMBERS, { key: await makeKey(role) });
    assert.equal(status, role === 'viewer' ? 403 : 200, role);
  }
});

// Normalization of email addresses.

test('normalizeEmail lowercases the address and converts its domain to A-labels', () => {
  const cases = [
    ['ann@example.com', 'ann@example.com'],
    ['Ann.Lee+Work@Example.COM', 'ann.lee+work@example.com'],
    ["o'neil_x{}@mail.example.org.", "o'neil_x{}@mail.example.org"],
    ['ann@Bücher.example', 'ann@xn--bcher-kva.example'],
    ['ops@localhost', 'ops@localhost'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ];
  for (const [given, kept] of cases) assert.equal(normalizeEmail(given!), kept, given);
});

test('normalizeEmail rejects malformed addresses, lists and control characters', () => {
  const wrong = ['', '@', 'ann', 'ann@', '@example.com', 'ann@@example.com', 'a b@example.com'];
  wrong.push('a,b@example.com', 'a@x.example,b@y.example', '<ann@example.com>', 'ann;b@x.example');
  wrong.push('"ann"@example.com', 'ann(x)@example.com', '.ann@example.com', 'ann.@example.com');
  wrong.push('an..n@example.com', 'änn@example.com', 'ann@exa mple.com', 'ann@-x.example');
  wrong.push('ann\r\nBcc: b@x.example', 'ann@example.com\r\nBcc: bob', 'ann\u0000@example.com');
  wrong.push(`${'a'.repeat(65)}@example.com`, `ann@${'a.'.repeat(130)}example`);
  wrong.push(`${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}.example`);
  for (const text of wrong) assert.equal(normalizeEmail(text), null, text);
});

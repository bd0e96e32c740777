/** Invitations: permissions, and their life cycle. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signInGuardOf } from '../../src/team/sign-in-guard.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { startOutbox } from '../outbox/outbox.ts';
import {
  accept,
  auditOf,
  type Invitation,
  invite,
  type List,
  type Member,
  membersOf,
  type Problem,
  tokenOf,
} from './team-service.ts';

const INVITATIONS = '/v1/team/invitations';
const DAY = 86_400_000;

test('POST /v1/team/invitations returns the invitation and, once, its accept URL', async (t) => {
  const service = await startTestService(t, {
    clock: testClock(),
    env: { DELIVERABILITY_APP_URL: 'https://app.example.com/mail/' },
  });
  const { call } = service;
  const [owner] = await membersOf(service);
  const made = await invite(service, { email: 'Bob@Example.com' });
  assert.equal(made.status, 201);
  const { accept_url, ...invitation } = made.body;
  assert.match(accept_url, /^https:\/\/app\.example\.com\/mail\/invitations\/[\w-]{43}$/);
  assert.equal(made.headers.get('location'), `${INVITATIONS}/${invitation.id}`);
  assert.deepEqual(invitation, {
    id: invitation.id,
    object: 'team_invitation',
    email: 'bob@example.com',
    role: 'member',
    tags: null,
    status: 'pending',
    email_status: 'not_configured',
    invited_by: owner!.id,
    created_at: '2026-11-21T10:00:00.000Z',
    expires_at: '2026-11-28T10:00:00.000Z',
  });
  assert.match(invitation.id, /^inv_/);
  // No other response contains the link.
  assert.deepEqual((await call('GET', `${INVITATIONS}/${invitation.id}`)).body, invitation);
  const second = await invite(service, { email: 'carol@example.com', role: 'viewer' });
  const { body } = await call<List<Invitation>>('GET', `${INVITATIONS}?limit=1`);
  assert.deepEqual([body.data[0]!.id, body.has_more], [second.body.id, true]);
  const next = `${INVITATIONS}?starting_after=${second.body.id}`;
  assert.deepEqual((await call(`GET`, next)).body, {
    object: 'list',
    data: [invitation],
    has_more: false,
  });
});

test('Invitations require the admin role and a valid address and role', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, makeKey } = service;
  const [admin, member, viewer] = await Promise.all(
    (['admin', 'member', 'viewer'] as const).map(makeMember),
  );
  let n = 0;
  for (const { key } of [{ key: service.key }, admin!, { key: await makeKey('admin') }])
    for (const role of ['admin', 'member', 'viewer']) {
      const { status, body } = await invite(service, { email: `n${++n}@example.com`, role }, key);
      assert.deepEqual([status, body.role], [201, role]);
    }
  const { body } = await invite(service, { email: 'last@example.com' });
  for (const { key } of [member!, viewer!]) {
    assert.equal((await invite(service, { email: 'x@example.com' }, key)).status, 403);
    const one = `${INVITATIONS}/${body.id}`;
    for (const [method, path] of [
      ['GET', INVITATIONS],
      ['GET', one],
      ['DELETE', one],
      ['POST', `${one}/resend`],
    ] as const)
      assert.equal((await call(method, path, { key })).status, 403, `${method} ${path}`);
  }
  for (const role of ['owner', 'king']) {
    const wrong = await invite(service, { email: 'y@example.com', role });
    assert.equal(wrong.status, 422);
  }
  for (const email of ['', 'bob', 'a@x.example,b@x.example', 'bob@example.com\r\nBcc: x', 7])
    assert.equal((await invite(service, { email })).status, 422, String(email));
  assert.equal((await invite(service, {})).status, 422);
  for (const [method, path] of [
    ['GET', `${INVITATIONS}/inv_none`],
    ['DELETE', `${INVITATIONS}/inv_none`],
    ['POST', `${INVITATIONS}/inv_none/resend`],
  ] as const)
    assert.equal((await call(method, path)).status, 404, method);
});

test('POST /v1/team/invitations rejects the address of a member or pending invitation with 409, ignoring case', async (t) => {
  const service = await startTestService(t);
  const conflict = async (email: string, words: RegExp) => {
    const { status, body } = await service.call<Problem>('POST', INVITATIONS, { json: { email } });
    assert.deepEqual([status, body.code], [409, 'conflict']);
    assert.match(body.detail, words);
  };
  await conflict('OWNER@example.com', /already on the team/);
  assert.equal((await invite(service, { email: 'bob@example.com' })).status, 201);
  await conflict('Bob@EXAMPLE.com', /already has a pending invitation/);
});

test('Accepting an invitation adds the member; a second attempt gets 410', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { call, app } = service;
  const made = await invite(service, { email: 'bob@example.com', role: 'viewer' });
  clock.advance(DAY);
  const joined = await accept(service, tokenOf(made), { name: 'Bob' });
  assert.equal(joined.status, 201);
  // The new member has no credentials yet to get it.
  assert.equal(joined.headers.get('location'), null);
  assert.deepEqual(joined.body, {
    id: joined.body.id,
    object: 'team_member',
    email: 'bob@example.com',
    name: 'Bob',
    role: 'viewer',
    joined_at: '2026-11-22T10:00:00.000Z',
    tags: null,
    linked_account: null,
  });
  assert.deepEqual((await membersOf(service)).at(-1), joined.body);
  const one = `${INVITATIONS}/${made.body.id}`;
  assert.equal((await call<Invitation>('GET', one)).body.status, 'accepted');
  const again = await accept<Problem>(service, tokenOf(made));
  assert.deepEqual([again.status, again.body.code], [410, 'gone']);
  for (const [method, path] of [
    ['DELETE', one],
    ['POST', `${one}/resend`],
  ] as const)
    assert.equal((await call(method, path)).status, 409, method);
  const row = await app.db
    .selectFrom('members')
    .select('password_hash')
    .where('id', '=', joined.body.id)
    .executeTakeFirst();
  assert.match(row!.password_hash!, /^scrypt\$/);
  const entries = await service.call<List<Record<string, unknown>>>(
    'GET',
    `/v1/audit_log?member_id=${joined.body.id}`,
  );
  assert.equal(entries.body.data[0]!.action, 'invitation.accepted');
  assert.equal(entries.body.data[0]!.object_id, made.body.id);
});

test('Accepting an invitation with invalid input fails and does not use up the link', async (t) => {
  const service = await startTestService(t);
  const made = await invite(service, { email: 'bob@example.com' });
  const token = tokenOf(made);
  for (const [param, more] of [
    ['password', { password: 'short' }],
    ['password', { password: 'password123' }],
    ['password', { password: 'Bob@example.com' }],
    ['password', { password: undefined }],
    ['name', { name: '' }],
    ['token', { token: 7 }],
    ['email', { email: 'other@example.com' }],
    ['role', { role: 'owner' }],
  ] as const) {
    const { status, body } = await accept<Problem>(service, token, more);
    assert.deepEqual([status, body.errors?.map((e) => e.param)], [422, [param]]);
  }
  for (const unknown of ['', 'nonsense', `${token}x`, token.slice(1)])
    assert.equal((await accept(service, unknown)).status, 404, unknown);
  assert.equal((await accept(service, token)).status, 201);
});

test('An invitation expires after seven days; the address can then be invited again', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { call } = service;
  const first = await invite(service, { email: 'bob@example.com' });
  const status = async (id: string) =>
    (await call<Invitation>('GET', `${INVITATIONS}/${id}`)).body.status;
  clock.advance(7 * DAY - 1);
  assert.equal(await status(first.body.id), 'pending');
  clock.advance(1);
  assert.equal(await status(first.body.id), 'expired');
  const { status: gone, body } = await accept<Problem>(service, tokenOf(first));
  assert.deepEqual([gone, body.code], [410, 'gone']);
  assert.match(body.detail, /expired/);
  // A resend renews an expired invitation; a new invitation closes it.
  const resent = await call<Invitation>('POST', `${INVITATIONS}/${first.body.id}/resend`);
  assert.deepEqual([resent.status, resent.body.status], [200, 'pending']);
  assert.equal(resent.body.expires_at, '2026-12-05T10:00:00.000Z');
  clock.advance(7 * DAY);
  const second = await invite(service, { email: 'bob@example.com', role: 'admin' });
  assert.equal(second.status, 201);
  assert.equal(await status(first.body.id), 'expired', 'closed, and not by anybody');
  const dead = await accept<Problem>(service, tokenOf(resent));
  assert.deepEqual(
    [dead.status, dead.body.detail],
    [410, 'This invitation has expired. Ask an admin for a new one.'],
  );
  const again = await call<Problem>('POST', `${INVITATIONS}/${first.body.id}/resend`);
  assert.deepEqual(
    [again.status, again.body.detail],
    [409, 'This invitation is no longer pending. Create a new one instead.'],
  );
  assert.equal((await accept(service, tokenOf(second))).body.role, 'admin');
});

test('An invitation that expires during password hashing is not accepted', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const link = tokenOf(await invite(service, { email: 'bob@example.com' }));
  clock.advance(7 * DAY - 1);
  const { passwords } = signInGuardOf(service.app);
  const { hash } = passwords;
  passwords.hash = async (...given) => {
    clock.advance(1);
    return hash(...given);
  };
  const { status, body } = await accept<Problem>(service, link);
  assert.deepEqual(
    [status, body.detail],
    [410, 'This invitation has expired. Ask an admin for a new one.'],
  );
  assert.equal((await membersOf(service)).length, 1);
});

test('Revoking a pending invitation marks it revoked; an expired one stays expired', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { call } = service;
  const status = async (id: string) =>
    (await call<Invitation>('GET', `${INVITATIONS}/${id}`)).body.status;
  const [first, second] = [
    (await invite(service, { email: 'bob@example.com' })).body,
    (await invite(service, { email: 'carol@example.com' })).body,
  ];
  clock.advance(7 * DAY - 1);
  assert.equal((await call('DELETE', `${INVITATIONS}/${first.id}`)).status, 200);
  clock.advance(1);
  assert.equal((await call('DELETE', `${INVITATIONS}/${second.id}`)).status, 200);
  clock.advance(DAY);
  assert.deepEqual([await status(first.id), await status(second.id)], ['revoked', 'expired']);
  const { body } = await call<List<Invitation>>('GET', INVITATIONS);
  assert.deepEqual(
    body.data.map(({ status }) => status),
    ['expired', 'revoked'],
  );
});

test('Resent invitation: the last 20 replaced links answer 410 and point to the newest', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { app, call } = service;
  const made = await invite(service, { email: 'bob@example.com' });
  const one = `${INVITATIONS}/${made.body.id}`;
  const old: string[] = [];
  let newest = tokenOf(made);
  const resend = async () => {
    old.push(newest);
    newest = tokenOf(await call<Invitation>('POST', `${one}/resend`));
  };
  const problem = async (token: string) => (await accept<Problem>(service, token)).body;
  for (let i = 0; i < 3; i++) await resend();
  for (const token of old) {
    const { code, detail } = await problem(token);
    assert.deepEqual(
      [code, detail],
      ['gone', 'This link was replaced by a newer one. Use the link in the latest email.'],
    );
  }
  for (let i = 0; i < 20; i++) await resend();
  clock.advance(60_000);
  assert.equal((await problem(old.at(-1)!)).code, 'gone');
  const rows = await app.db.selectFrom('replaced_invitation_links').selectAll().execute();
  assert.deepEqual([rows.length, rows[0]!.invitation_id], [20, made.body.id]);
  const hashes = rows.map(({ hash }) => hash);
  assert.ok(!old.some((token) => hashes.includes(token)), 'hashed');
  // Old links also report the status of the invitation.
  clock.advance(7 * DAY);
  assert.match((await problem(old.at(-1)!)).detail, /^This invitation has expired/);
  await resend();
  await call('DELETE', one);
  assert.match((await problem(old.at(-1)!)).detail, /^This invitation has been revoked/);
});

test('Resending an invitation issues a new link; the old link gets 410', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { call, makeMember } = service;
  const first = await invite(service, { email: 'bob@example.com' });
  clock.advance(DAY);
  const admin = await makeMember('admin');
  const second = await call<Invitation>('POST', `${INVITATIONS}/${first.body.id}/resend`, {
    key: admin.key,
  });
  assert.deepEqual(second.body, {
    ...first.body,
    accept_url: second.body.accept_url,
    invited_by: admin.id,
    expires_at: '2026-11-29T10:00:00.000Z',
  });
  assert.notEqual(tokenOf(second), tokenOf(first));
  const old = await accept<Problem>(service, tokenOf(first));
  assert.deepEqual([old.status, old.body.code], [410, 'gone']);
  assert.equal((await accept(service, tokenOf(second))).status, 201);
  const used = await accept<Problem>(service, tokenOf(first));
  assert.deepEqual(
    [used.status, used.body.detail],
    [410, 'This invitation has already been accepted. Sign in instead.'],
  );
  assert.deepEqual(
    (await auditOf(service, { object_id: first.body.id })).map(([action]) => action),
    ['invitation.accepted', 'invitation.resent', 'invitation.created'],
  );
});

test('Revoking an invitation disables its link; the address can be invited again', async (t) => {
  const service = await startTestService(t);
  const { call } = service;
  const first = await invite(service, { email: 'bob@example.com' });
  const one = `${INVITATIONS}/${first.body.id}`;
  const { id } = first.body;
  for (let i = 0; i < 2; i++) {
    const { status, body } = await call('DELETE', one);
    assert.deepEqual([status, body], [200, { id, object: 'team_invitation', deleted: true }]);
  }
  assert.equal((await call('GET', one)).body.status, 'revoked');
  const gone = await accept<Problem>(service, tokenOf(first));
  assert.deepEqual([gone.status, gone.body.code], [410, 'gone']);
  assert.equal((await call('POST', `${one}/resend`)).status, 409);
  assert.equal((await invite(service, { email: 'bob@example.com' })).status, 201);
  const revoked = await auditOf(service, { action: 'invitation.revoked' });
  assert.deepEqual(revoked, [['invitation.revoked', { email: 'bob@example.com', role: 'member' }]]);
});

test('An invitation for an address that has since joined cannot be accepted or resent', async (t) => {
  const service = await startTestService(t);
  const { call, app } = service;
  const made = await invite(service, { email: 'bob@example.com' });
  const seed = { email: 'bob@example.com', name: 'B', role: 'viewer' as const };
  await app.db
    .insertInto('members')
    .values({ id: app.newId('mem'), joined_at: '2026-11-21T10:00:00.000Z', ...seed })
    .execute();
  assert.equal((await accept(service, tokenOf(made))).status, 409);
  // The failed request leaves no changes.
  const one = await call<Invitation>('GET', `${INVITATIONS}/${made.body.id}`);
  assert.equal(one.body.status, 'pending');
  assert.equal((await call('POST', `${INVITATIONS}/${made.body.id}/resend`)).status, 409);
});

test('Concurrent invitations for one address: one is created, the rest get 409', async (t) => {
  const service = await startTestService(t);
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => invite(service, { email: 'bob@example.com' })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409]);
});

test('Concurrent acceptance of one invitation adds one member; the rest get 410', async (t) => {
  const service = await startTestService(t);
  const token = tokenOf(await invite(service, { email: 'bob@example.com' }));
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, i) => accept<Member>(service, token, { name: `N${i}` })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 410, 410, 410]);
  const winner = answers.find(({ status }) => status === 201)!;
  const bobs = (await membersOf(service)).filter(({ email }) => email === 'bob@example.com');
  assert.deepEqual(bobs, [winner.body]);
});

test('Concurrent acceptance and revocation of an invitation: exactly one succeeds', async (t) => {
  const service = await startTestService(t);
  const made = await invite(service, { email: 'bob@example.com' });
  const [joined, revoked] = await Promise.all([
    accept(service, tokenOf(made)),
    service.call('DELETE', `${INVITATIONS}/${made.body.id}`),
  ]);
  assert.ok([201, 410].includes(joined.status));
  assert.equal(revoked.status, joined.status === 201 ? 409 : 200);
  assert.equal((await membersOf(service)).length, joined.status === 201 ? 2 : 1);
});

test('POST /v1/team/invitations with an Idempotency-Key replays the response with the same link', async (t) => {
  const service = await startTestService(t);
  const { call } = service;
  const post = (path: string, key: string, json?: object) =>
    call<Invitation>('POST', path, { json, headers: { 'idempotency-key': key } });
  const json = { email: 'bob@example.com' };
  const made = await post(INVITATIONS, 'one', json);
  const again = await post(INVITATIONS, 'one', json);
  assert.deepEqual([again.status, again.body], [201, made.body]);
  assert.equal(again.headers.get('location'), made.headers.get('location'));
  const resent = await post(`${INVITATIONS}/${made.body.id}/resend`, 'two');
  const resentAgain = await post(`${INVITATIONS}/${made.body.id}/resend`, 'two');
  assert.deepEqual(resentAgain.body, resent.body);
  assert.equal((await accept(service, tokenOf(resentAgain))).status, 201);
  // A rejected request can be retried with the same key.
  assert.equal((await post(INVITATIONS, 'three', json)).status, 409);
  const other = await post(INVITATIONS, 'three', { email: 'carol@example.com' });
  assert.equal(other.status, 201);
});

test('A committed invitation’s response is replayed even if a later step failed with 500', async (t) => {
  const service = await startTestService(t);
  const { call, app } = service;
  const { wake } = app.scheduler;
  const twice = async (path: string, json?: object) => {
    const options = { json, headers: { 'idempotency-key': path } };
    app.scheduler.wake = () => {
      throw new Error('broken');
    };
    assert.equal((await call('POST', path, options)).status, 500, path);
    app.scheduler.wake = wake;
    return call<Invitation>('POST', path, options);
  };
  const made = await twice(INVITATIONS, { email: 'bob@example.com' });
  assert.equal(made.status, 201);
  const resent = await twice(`${INVITATIONS}/${made.body.id}/resend`);
  assert.equal((await accept(service, tokenOf(resent))).status, 201);
});

// The limit of invitation emails per address.

const MINUTE = 60_000;

test('Invitation mail is limited per address to one a minute and five a day', async (t) => {
  const { service, app, clock } = await startOutbox(t);
  const { call } = service;
  let { body: invitation } = await invite(service, { email: 'bob@example.com' });
  const path = () => `${INVITATIONS}/${invitation.id}`;
  const resend = () => call<Invitation & Problem>('POST', `${path()}/resend`);
  const make = () =>
    call<Invitation & Problem>('POST', INVITATIONS, { json: { email: 'BOB@example.com' } });
  const refused = async (asked: ReturnType<typeof resend>, seconds: number) => {
    const { status, body, headers } = await asked;
    assert.deepEqual([status, body.code], [429, 'rate_limited']);
    assert.equal(headers.get('retry-after'), String(seconds));
  };
  const mails = async () =>
    (await app.db.selectFrom('outbox').select('id').where('status', '=', 'queued').execute())
      .length;

  await refused(resend(), 60);
  clock.advance(MINUTE - 1);
  const before = await app.db.selectFrom('invitations').selectAll().execute();
  await refused(resend(), 1);
  assert.deepEqual(await app.db.selectFrom('invitations').selectAll().execute(), before);
  assert.equal(await mails(), 1, 'the first is still to be sent');
  // Other addresses aren't limited.
  assert.equal((await invite(service, { email: 'carol@example.com' })).status, 201);
  clock.advance(1);
  assert.equal((await resend()).status, 200);
  await call('DELETE', path());
  await refused(make(), 60);
  for (let sent = 3; sent <= 5; sent++) {
    clock.advance(MINUTE);
    const made = await make();
    assert.equal(made.status, 201);
    invitation = made.body;
    if (sent < 5) await call('DELETE', path());
  }
  clock.advance(MINUTE);
  await refused(resend(), DAY / 1000 - 5 * 60);
  assert.equal((await make()).status, 409, 'what never can be says so');
  clock.advance(DAY - 5 * MINUTE - 1);
  await refused(resend(), 1);
  clock.advance(1);
  assert.equal((await resend()).status, 200);
});

test('Resending invitations is not rate limited when outgoing mail is not configured', async (t) => {
  const service = await startTestService(t, { clock: testClock() });
  const { body } = await invite(service, { email: 'bob@example.com' });
  for (let i = 0; i < 7; i++)
    assert.equal((await service.call('POST', `${INVITATIONS}/${body.id}/resend`)).status, 200);
});

test('GET /v1/team/invitations filters by the status at this moment', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { call } = service;
  const emails = async (status: string) => {
    const { body } = await call<List<Invitation>>('GET', `${INVITATIONS}?status=${status}`);
    assert.ok(body.data.every((invitation) => invitation.status === status));
    return body.data.map(({ email }) => email.split('@')[0]);
  };
  await invite(service, { email: 'late@example.com' });
  const lateAndRevoked = await invite(service, { email: 'both@example.com' });
  clock.advance(7 * DAY);
  await call('DELETE', `${INVITATIONS}/${lateAndRevoked.body.id}`);
  const revoked = await invite(service, { email: 'revoked@example.com' });
  await call('DELETE', `${INVITATIONS}/${revoked.body.id}`);
  const accepted = await invite(service, { email: 'accepted@example.com' });
  await accept(service, tokenOf(accepted));
  await invite(service, { email: 'pending@example.com' });
  assert.deepEqual(await emails('pending'), ['pending']);
  assert.deepEqual(await emails('accepted'), ['accepted']);
  assert.deepEqual(await emails('revoked'), ['revoked']);
  assert.deepEqual(await emails('expired'), ['both', 'late']);
  assert.equal((await call('GET', `${INVITATIONS}?status=lost`)).status, 422);
});

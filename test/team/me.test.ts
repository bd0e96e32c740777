/** The caller's own account, by API key and session. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hashPassword } from '../../src/lib/crypto.ts';
import { signInGuardOf } from '../../src/team/sign-in-guard.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { givePassword, ownerBrowser, PASSWORD, signIn, trySignIn } from './browser.ts';
import { countScrypt } from './scrypt-count.ts';
import { auditOf, type Member, type Problem } from './team-service.ts';

const OWNER = 'owner@example.com';
const NEW = 'a new password';

interface Me {
  object: 'me';
  member: Member;
  role: string;
  livemode: boolean;
  time_zone: string | null;
  date_locale: string | null;
  api_key: { id: string; object: string; name: string; prefix: string } | null;
  session: { id: string; object: string; created_at: string; expires_at: string } | null;
}

async function start(t: TestContext) {
  const clock = testClock();
  return { ...(await startTestService(t, { clock })), clock };
}

test('GET /v1/me with an API key returns the member, key and effective role', async (t) => {
  const { call, makeKey } = await start(t);
  const key = await makeKey('viewer', false);
  const { status, body } = await call<Me>('GET', '/v1/me', { key });
  assert.equal(status, 200);
  const { id, joined_at, ...member } = body.member;
  assert.deepEqual(member, {
    object: 'team_member',
    email: OWNER,
    name: 'owner',
    role: 'owner',
    tags: null,
    linked_account: null,
  });
  assert.deepEqual([body.object, body.role, body.livemode], ['me', 'viewer', false]);
  assert.deepEqual(body.session, null);
  const { id: keyId, ...rest } = body.api_key!;
  assert.match(keyId, /^key_/);
  assert.deepEqual(rest, { object: 'api_key', name: 'viewer', prefix: key.slice(0, 14) });
  assert.equal((await call('GET', '/v1/me', { key: null })).status, 401);
});

test('GET /v1/me with a session returns the member, session and live mode', async (t) => {
  const service = await start(t);
  const browser = await ownerBrowser(service);
  const { body } = await browser.call<Me>('GET', '/v1/me');
  assert.deepEqual([body.role, body.livemode, body.api_key], ['owner', true, null]);
  const { id, object, created_at, expires_at } = browser.session;
  assert.deepEqual(body.session, { id, object, created_at, expires_at });
});

test('GET /v1/me keeps its ETag until the member changes; a stale If-Match gets 412', async (t) => {
  const service = await start(t);
  const browser = await ownerBrowser(service);
  const tag = async () => (await browser.call('GET', '/v1/me')).headers.get('etag')!;
  const first = await tag();
  service.clock.advance(3_600_000);
  assert.equal(await tag(), first);
  const rename = (name: string) =>
    browser.call('PATCH', '/v1/me', { json: { name }, headers: { 'if-match': first } });
  assert.equal((await rename('Ann')).status, 200);
  assert.notEqual(await tag(), first);
  const { status, body } = await rename('Bob');
  assert.deepEqual([status, (body as unknown as Problem).code], [412, 'precondition_failed']);
  assert.equal((await browser.call<Me>('GET', '/v1/me')).body.member.name, 'Ann');
});

test('PATCH /v1/me lets every role change its own name', async (t) => {
  const service = await start(t);
  const { id, key } = await service.makeMember('viewer');
  const { status, body } = await service.call<Me>('PATCH', '/v1/me', {
    key,
    json: { name: 'Ann' },
  });
  assert.deepEqual([status, body.member.name], [200, 'Ann']);
  assert.deepEqual(await auditOf(service, { object_id: id }), [
    ['member.changed', { name: { from: 'The viewer', to: 'Ann' } }],
  ]);
  const same = await service.call('PATCH', '/v1/me', { key, json: { name: 'Ann' } });
  assert.equal(same.status, 200);
  assert.equal((await auditOf(service, { object_id: id })).length, 1, 'nothing has changed');
  for (const json of [{ name: '' }, { email: 'new@example.com' }, { role: 'owner' }])
    assert.equal((await service.call('PATCH', '/v1/me', { key, json })).status, 422);
});

test('PATCH /v1/me rejects a key below its member’s role without checking passwords', async (t) => {
  const service = await start(t);
  await givePassword(service, OWNER);
  const scrypts = countScrypt(t);
  for (const role of ['viewer', 'member', 'admin'] as const) {
    const key = await service.makeKey(role);
    for (const json of [
      { name: 'Mallory' },
      { password: NEW, current_password: PASSWORD },
      { password: NEW, current_password: 'wrong guess' },
      {},
    ]) {
      const { status, body } = await service.call<Problem>('PATCH', '/v1/me', { key, json });
      const { code, detail } = body;
      const said = `This operation requires the owner role. Your role is ${role}.`;
      assert.deepEqual([status, code, detail], [403, 'forbidden', said]);
    }
    assert.equal((await service.call('GET', '/v1/me', { key })).status, 200);
  }
  assert.equal(scrypts.begun, 0);
  assert.equal((await service.call<Me>('GET', '/v1/me')).body.member.name, 'owner');
  // After a member is demoted, their key with the higher role has their own role.
  const viewer = await service.makeMember('viewer');
  const key = await service.makeKey('admin', true, viewer.id);
  assert.equal((await service.call('PATCH', '/v1/me', { key, json: { name: 'Ann' } })).status, 200);
});

test('PATCH /v1/me rejects a test-mode key with 403', async (t) => {
  const service = await start(t);
  const key = await service.makeKey('owner', false);
  const { status, body } = await service.call<Problem>('PATCH', '/v1/me', {
    key,
    json: { name: 'Mallory' },
  });
  assert.deepEqual([status, body.code], [403, 'live_mode_required']);
  assert.match(body.detail, /^Test-mode keys can't use this endpoint/);
  assert.equal((await service.call<Me>('GET', '/v1/me')).body.member.name, 'owner');
});

test('PATCH /v1/me with the current password changes it and ends all other sessions', async (t) => {
  const service = await start(t);
  const [here, there] = [await ownerBrowser(service), await signIn(service, OWNER)];
  const { id } = (await here.call<Me>('GET', '/v1/me')).body.member;
  const json = { password: NEW, current_password: PASSWORD };
  assert.equal((await here.call('PATCH', '/v1/me', { json })).status, 200);
  assert.equal((await here.call('GET', '/v1/me')).status, 200);
  assert.equal((await there.call('GET', '/v1/me')).status, 401);
  assert.equal((await trySignIn(service, { email: OWNER, password: PASSWORD })).status, 401);
  assert.equal((await trySignIn(service, { email: OWNER, password: NEW })).status, 201);
  const [changed] = await auditOf(service, { object_id: id, action: 'password.changed' });
  assert.deepEqual(changed, ['password.changed', { sessions_ended: 1 }]);
});

test('PATCH /v1/me password change with a key ends all sessions and open reset links', async (t) => {
  const service = await start(t);
  const browser = await ownerBrowser(service);
  await service.app.db
    .insertInto('password_links')
    .values({
      hash: 'h',
      member_id: browser.session.member_id,
      created_at: browser.session.created_at,
      expires_at: browser.session.expires_at,
    })
    .execute();
  const json = { password: NEW, current_password: PASSWORD };
  assert.equal((await service.call('PATCH', '/v1/me', { json })).status, 200);
  assert.equal((await browser.call('GET', '/v1/me')).status, 401);
  const link = await service.app.db
    .selectFrom('password_links')
    .selectAll()
    .executeTakeFirstOrThrow();
  assert.equal(link.used_at, '2026-11-21T10:00:00.000Z');
});

test('PATCH /v1/me rejects a wrong current password and delays further attempts', async (t) => {
  const service = await start(t);
  const browser = await ownerBrowser(service);
  const change = (current_password: string) =>
    browser.call<Problem>('PATCH', '/v1/me', {
      json: { name: 'Ann', password: NEW, current_password },
    });
  for (let i = 0; i < 3; i++) {
    const { status, body } = await change('wrong guess');
    assert.equal(status, 422);
    assert.deepEqual(body.errors, [
      { param: 'current_password', code: 'wrong', message: 'does not match your current password' },
    ]);
  }
  const fourth = await change(PASSWORD);
  assert.deepEqual([fourth.status, fourth.headers.get('retry-after')], [429, '1']);
  assert.equal((await browser.call<Me>('GET', '/v1/me')).body.member.name, 'owner');
  service.clock.advance(1000);
  assert.equal((await change(PASSWORD)).status, 200);
});

test('PATCH /v1/me counts password attempts per member across keys and sessions', async (t) => {
  const service = await start(t);
  const browser = await ownerBrowser(service);
  const guess = async (key: string) => {
    const json = { password: NEW, current_password: 'wrong guess' };
    return (await service.call<Problem>('PATCH', '/v1/me', { key, json })).status;
  };
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push(await guess(await service.makeKey('owner')));
  assert.deepEqual(statuses, [422, 422, 422, 429]);
  const json = { password: NEW, current_password: PASSWORD };
  assert.equal((await browser.call('PATCH', '/v1/me', { json })).status, 429);
  service.clock.advance(1000);
  // Guesses by strangers cause no delay here, and guesses here cause no delay at sign-in.
  for (let i = 0; i < 6; i++) await trySignIn(service, { email: OWNER, password: 'wrong guess' });
  for (const account of [`own account ${browser.session.member_id}`, browser.session.member_id])
    await trySignIn(service, { email: account, password: 'wrong guess' });
  assert.equal((await browser.call('PATCH', '/v1/me', { json })).status, 200);
});

test('PATCH /v1/me requires both passwords and validates the new one', async (t) => {
  const service = await start(t);
  const browser = await ownerBrowser(service);
  const scrypts = countScrypt(t);
  for (const [json, param, code] of [
    [{ password: NEW }, 'current_password', 'required'],
    [{ current_password: PASSWORD }, 'password', 'required'],
    [{ password: 'short', current_password: PASSWORD }, 'password', 'invalid'],
    [{ password: OWNER, current_password: PASSWORD }, 'password', 'invalid'],
    [{ password: 'password123', current_password: PASSWORD }, 'password', 'invalid'],
  ] as const) {
    const { status, body } = await browser.call<Problem>('PATCH', '/v1/me', { json });
    assert.equal(status, 422);
    assert.deepEqual(
      body.errors?.map((error) => [error.param, error.code]),
      [[param, code]],
    );
  }
  assert.equal(scrypts.begun, 0);
});

test('PATCH /v1/me cannot set a first password; that requires a link', async (t) => {
  const service = await start(t);
  const { key } = await service.makeMember('member');
  const json = { password: NEW, current_password: 'anything' };
  const { status, body } = await service.call<Problem>('PATCH', '/v1/me', { key, json });
  assert.deepEqual([status, body.errors?.[0]?.param], [422, 'current_password']);
});

test('PATCH /v1/me fails with 409 if the password is reset meanwhile', async (t) => {
  const service = await start(t);
  await givePassword(service, OWNER);
  const { passwords } = signInGuardOf(service.app);
  const { hash } = passwords;
  const other = await hashPassword('set by a link meanwhile');
  passwords.hash = async (...given) => {
    const made = await hash(...given);
    await service.app.db.updateTable('members').set({ password_hash: other }).execute();
    return made;
  };
  const json = { name: 'Ann', password: NEW, current_password: PASSWORD };
  const { status, body } = await service.call<Problem>('PATCH', '/v1/me', { json });
  assert.deepEqual([status, body.code], [409, 'conflict']);
  const email = OWNER;
  assert.equal((await trySignIn(service, { email, password: NEW })).status, 401);
  const password = 'set by a link meanwhile';
  assert.equal((await trySignIn(service, { email, password })).status, 201);
  assert.equal(
    (await service.call<Me>('GET', '/v1/me')).body.member.name,
    'owner',
    'nor half of it',
  );
});

test('PATCH /v1/me sets the time zone and date format, normalized, and null resets them', async (t) => {
  const service = await start(t);
  const { id, key } = await service.makeMember('viewer');
  const preferences = async () => {
    const { body } = await service.call<Me>('GET', '/v1/me', { key });
    return [body.time_zone, body.date_locale];
  };
  assert.deepEqual(await preferences(), [null, null]);
  const json = { time_zone: 'europe/berlin', date_locale: 'de-de' };
  const { status, body } = await service.call<Me>('PATCH', '/v1/me', { key, json });
  assert.deepEqual([status, body.time_zone, body.date_locale], [200, 'Europe/Berlin', 'de-DE']);
  assert.deepEqual(await preferences(), ['Europe/Berlin', 'de-DE']);
  await service.call('PATCH', '/v1/me', { key, json: { time_zone: null } });
  assert.deepEqual(await preferences(), [null, 'de-DE']);
  assert.deepEqual(await auditOf(service, { object_id: id }), [
    ['member.changed', { time_zone: { from: 'Europe/Berlin', to: null } }],
    [
      'member.changed',
      {
        time_zone: { from: null, to: 'Europe/Berlin' },
        date_locale: { from: null, to: 'de-DE' },
      },
    ],
  ]);
});

test('PATCH /v1/me rejects unknown time zones, offsets, and language tags', async (t) => {
  const { call } = await start(t);
  for (const [field, value] of [
    ['time_zone', 'Europe/Atlantis'],
    ['time_zone', '+01:00'],
    ['time_zone', ''],
    ['date_locale', 'klingon'],
    ['date_locale', 'en-GB-u-ca-buddhist'],
    ['date_locale', ''],
  ] as const) {
    const { status, body } = await call<Problem>('PATCH', '/v1/me', { json: { [field]: value } });
    assert.equal(status, 422, value);
    assert.equal(body.errors![0]!.param, field);
  }
});

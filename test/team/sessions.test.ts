/** Sign-in, and the permissions, lifetime, and end of sessions. */

import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { hashPassword, PASSWORD_COST } from '../../src/lib/crypto.ts';
import { findOwner } from '../../src/team/members.ts';
import { expireSessions } from '../../src/team/sessions.ts';
import { findKnownDevice } from '../../src/team/sign-in.ts';
import { signInGuardOf } from '../../src/team/sign-in-guard.ts';
import { type ServiceOptions, startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import {
  type Browser,
  browserOf,
  givePassword,
  ownerBrowser,
  PASSWORD,
  type Session,
  signIn,
  trySignIn,
} from './browser.ts';
import { countScrypt } from './scrypt-count.ts';
import { auditOf, type List, type Problem } from './team-service.ts';

const OWNER = 'owner@example.com';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function start(t: TestContext, options: ServiceOptions = {}) {
  const clock = testClock();
  const service = await startTestService(t, { clock, ...options });
  await givePassword(service, OWNER);
  return { ...service, clock };
}

const statusOf = async (browser: Browser) => (await browser.call('GET', '/v1/me')).status;

test('POST /v1/sessions returns the session and sets a cookie that authenticates', async (t) => {
  const service = await start(t);
  const headers = { 'user-agent': 'Browser/1.0' };
  const answer = await trySignIn(service, { email: OWNER, password: PASSWORD }, headers);
  assert.equal(answer.status, 201);
  const { id, member_id, ...rest } = answer.body;
  assert.match(id, /^ses_/);
  assert.match(member_id, /^mem_/);
  assert.deepEqual(rest, {
    object: 'session',
    created_at: '2026-11-21T10:00:00.000Z',
    last_seen_at: '2026-11-21T10:00:00.000Z',
    expires_at: '2026-12-21T10:00:00.000Z',
    ip: '127.0.0.1',
    user_agent: 'Browser/1.0',
    current: true,
  });
  assert.equal(answer.headers.get('location'), null);
  const [value, ...attributes] = answer.headers.getSetCookie()[0]!.split('; ');
  assert.match(value!, /^deliverability=[\w-]{43}$/);
  const expected = ['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Lax'];
  assert.deepEqual(attributes.sort(), expected);
  const me = await browserOf(service, answer).call<{ session: Session }>('GET', '/v1/me');
  assert.deepEqual([me.status, me.body.session.id], [200, id]);
});

test('With an https app URL the session cookie is Secure and has the __Host- prefix', async (t) => {
  const service = await start(t, { env: { DELIVERABILITY_APP_URL: 'https://mail.example.com' } });
  const answer = await trySignIn(service, { email: OWNER, password: PASSWORD });
  const cookie = answer.headers.getSetCookie()[0]!;
  assert.match(cookie, /^__Host-deliverability=[\w-]{43}; Path=\/; /);
  assert.match(cookie, /; Secure; HttpOnly; SameSite=Lax$/);
  assert.equal(await statusOf(browserOf(service, answer)), 200);
});

test('Every sign-in creates its own session; the address is case-insensitive', async (t) => {
  const service = await start(t);
  const one = await signIn(service, OWNER);
  const two = await signIn(service, 'Owner@EXAMPLE.com');
  assert.notEqual(one.token, two.token);
  assert.notEqual(one.session.id, two.session.id);
});

test('Sign-in responds identically to a wrong password, unknown address and account without password', async (t) => {
  const service = await start(t, { passwordCost: PASSWORD_COST });
  const { email } = await service.makeMember('member');
  const scrypts = countScrypt(t);
  const answers: object[] = [];
  for (const json of [
    { email: OWNER, password: 'not the password' },
    { email: 'nobody@example.com', password: PASSWORD },
    { email: 'no address at all', password: PASSWORD },
    { email, password: PASSWORD },
  ]) {
    await signInGuardOf(service.app).attempts.clear(json.email);
    const { result, count } = await scrypts.during(() => trySignIn<Problem>(service, json));
    const { request_id: _, ...body } = result.body as Problem & { request_id: string };
    assert.equal(count, 1, json.email);
    answers.push({ status: result.status, body, cookie: result.headers.get('set-cookie') });
    service.clock.advance(MINUTE);
  }
  assert.deepEqual(answers, Array(4).fill(answers[0]));
  assert.deepEqual(answers[0], {
    status: 401,
    body: {
      object: 'error',
      type: '/errors/unauthenticated',
      title: 'Authentication required',
      status: 401,
      detail: 'Incorrect email address or password.',
      code: 'unauthenticated',
    },
    cookie: null,
  });
});

test('Sign-in delays repeated guesses without hashing, for known and unknown addresses', async (t) => {
  for (const email of [OWNER, 'nobody@example.com']) {
    const service = await start(t);
    const scrypts = countScrypt(t);
    const guess = (password: string) => trySignIn<Problem>(service, { email, password });
    for (let i = 0; i < 3; i++) assert.equal((await guess('wrong guess')).status, 401);
    for (const seconds of [1, 2, 4]) {
      const { result, count } = await scrypts.during(() => guess(PASSWORD));
      assert.deepEqual([result.status, result.body.code, count], [429, 'rate_limited', 0]);
      assert.equal(result.headers.get('retry-after'), String(seconds));
      service.clock.advance(seconds * 1000);
      assert.equal((await guess('wrong guess')).status, 401);
    }
    service.clock.advance(8000);
    assert.equal((await guess(PASSWORD)).status, email === OWNER ? 201 : 401);
  }
});

test('Sign-in delays an IP address that tries many accounts, but no other address', async (t) => {
  const service = await start(t, { env: { DELIVERABILITY_TRUSTED_PROXIES: '127.0.0.1' } });
  const from = (ip: string) => ({ 'x-forwarded-for': ip });
  for (const name of ['a', 'b', 'c']) {
    const json = { email: `${name}@example.com`, password: 'wrong guess' };
    assert.equal((await trySignIn(service, json, from('192.0.2.1'))).status, 401);
  }
  const json = { email: OWNER, password: PASSWORD };
  assert.equal((await trySignIn(service, json, from('192.0.2.1'))).status, 429);
  const elsewhere = await trySignIn(service, json, from('192.0.2.2'));
  assert.deepEqual([elsewhere.status, elsewhere.body.ip], [201, '192.0.2.2']);
});

test('Parallel sign-in guesses: three are checked, two at a time; the rest get 429', async (t) => {
  const service = await start(t, { passwordCost: PASSWORD_COST });
  const scrypts = countScrypt(t);
  const guesses = Array.from({ length: 12 }, (_, i) =>
    trySignIn(service, { email: OWNER, password: `wrong guess ${i}` }),
  );
  const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(3).fill(401), ...Array(9).fill(429)]);
  assert.deepEqual([scrypts.begun, scrypts.most], [3, 2]);
});

test('A session expires after 12 hours without use or 30 days after sign-in', async (t) => {
  const { clock, ...service } = await start(t);
  const idle = await signIn(service, OWNER);
  clock.advance(12 * HOUR - 1);
  assert.equal(await statusOf(idle), 200);
  clock.advance(12 * HOUR);
  assert.equal(await statusOf(idle), 401);

  const used = await signIn(service, OWNER);
  for (let hours = 0; hours < 30 * 24; hours += 11) {
    clock.set(Date.parse(used.session.created_at) + hours * HOUR);
    assert.equal(await statusOf(used), 200, `after ${hours} hours`);
  }
  clock.set(Date.parse(used.session.expires_at) - 1);
  assert.equal(await statusOf(used), 200);
  clock.advance(1);
  assert.equal(await statusOf(used), 401);

  const { total } = await countSessions(service.app);
  assert.equal(total, 2, 'until they are tidied away');
  await expireSessions(service.app);
  assert.equal((await countSessions(service.app)).total, 0);
});

function countSessions({ db }: { db: Awaited<ReturnType<typeof start>>['app']['db'] }) {
  return db
    .selectFrom('sessions')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
}

test('expireSessions keeps sessions that have not expired', async (t) => {
  const { clock, ...service } = await start(t);
  const browser = await signIn(service, OWNER);
  clock.advance(12 * HOUR - 1);
  await expireSessions(service.app);
  assert.equal(await statusOf(browser), 200);
});

test('A session’s last_seen_at is updated at most once a minute', async (t) => {
  const { clock, ...service } = await start(t);
  const browser = await signIn(service, OWNER);
  const lastSeen = async () => {
    const { body } = await browser.call<List<Session>>('GET', '/v1/sessions');
    return body.data[0]!.last_seen_at;
  };
  clock.advance(MINUTE - 1);
  assert.equal(await lastSeen(), '2026-11-21T10:00:00.000Z');
  clock.advance(1);
  assert.equal(await lastSeen(), '2026-11-21T10:01:00.000Z');
  clock.advance(MINUTE - 1);
  assert.equal(await lastSeen(), '2026-11-21T10:01:00.000Z');
});

test('GET /v1/sessions lists the member’s own unexpired sessions page by page', async (t) => {
  const { clock, ...service } = await start(t);
  const { email } = await service.makeMember('viewer');
  await givePassword(service, email);
  const over = await signIn(service, OWNER);
  clock.advance(12 * HOUR);
  const [first, other, second] = [
    await signIn(service, OWNER),
    await signIn(service, email),
    await signIn(service, OWNER),
  ];
  const list = async (browser: Browser, query = '') => {
    const { body } = await browser.call<List<Session>>('GET', `/v1/sessions${query}`);
    return body.data.map(({ id, current }) => [id, current]);
  };
  assert.equal(await statusOf(over), 401);
  assert.deepEqual(await list(first), [
    [second.session.id, false],
    [first.session.id, true],
  ]);
  assert.deepEqual(await list(first, `?starting_after=${second.session.id}`), [
    [first.session.id, true],
  ]);
  assert.deepEqual(await list(other), [[other.session.id, true]]);
  const byKey = await service.call<List<Session>>('GET', '/v1/sessions');
  assert.deepEqual(
    byKey.body.data.map(({ current }) => current),
    [false, false],
  );
});

test('DELETE /v1/sessions/current ends the session and clears the cookie', async (t) => {
  const service = await start(t);
  const browser = await signIn(service, OWNER);
  const other = await signIn(service, OWNER);
  const { id } = browser.session;
  const out = await browser.call('DELETE', '/v1/sessions/current');
  assert.deepEqual([out.status, out.body], [200, { id, object: 'session', deleted: true }]);
  assert.match(out.headers.get('set-cookie')!, /^deliverability=; Path=\/; Max-Age=0; /);
  assert.deepEqual([await statusOf(browser), await statusOf(other)], [401, 200]);
  const byKey = await service.call<Problem>('DELETE', '/v1/sessions/current');
  assert.deepEqual([byKey.status, byKey.body.code], [404, 'not_found']);
});

test('DELETE /v1/sessions/{id} ends the member’s own sessions only', async (t) => {
  const service = await start(t);
  const { email } = await service.makeMember('admin');
  await givePassword(service, email);
  const [here, there] = [await signIn(service, OWNER), await signIn(service, OWNER)];
  const admin = await signIn(service, email);
  const path = `/v1/sessions/${there.session.id}`;
  assert.equal((await admin.call('DELETE', path)).status, 404);
  assert.equal(await statusOf(there), 200);
  const ended = await here.call('DELETE', path);
  assert.deepEqual([ended.status, ended.headers.get('set-cookie')], [200, null]);
  assert.deepEqual([await statusOf(here), await statusOf(there)], [200, 401]);
  assert.equal((await here.call('DELETE', path)).status, 404);
  const own = await here.call('DELETE', `/v1/sessions/${here.session.id}`);
  assert.match(own.headers.get('set-cookie')!, /Max-Age=0/);
});

test('Session endpoints reject keys below the member’s role; test-mode keys are read-only', async (t) => {
  const service = await start(t);
  const { session } = await signIn(service, OWNER);
  const path = `/v1/sessions/${session.id}`;
  const ask = async (method: string, where: string, key: string) => {
    const { status, body } = await service.call<Problem>(method, where, { key });
    return [status, body.detail];
  };
  for (const role of ['viewer', 'member', 'admin'] as const) {
    const key = await service.makeKey(role);
    const refusal = [403, `This operation requires the owner role. Your role is ${role}.`];
    assert.deepEqual(await ask('GET', '/v1/sessions', key), refusal);
    assert.deepEqual(await ask('DELETE', path, key), refusal);
  }
  const sandbox = await service.makeKey('owner', false);
  const [status, detail] = await ask('DELETE', path, sandbox);
  assert.equal(status, 403);
  assert.match(String(detail), /^Test-mode keys can't use this endpoint/);
  assert.equal((await ask('GET', '/v1/sessions', sandbox))[0], 200);
  assert.equal((await service.call('DELETE', path)).status, 200);
});

test('A session has its member’s current role; role changes and removal end the session', async (t) => {
  const service = await start(t);
  const { id, email } = await service.makeMember('viewer');
  await givePassword(service, email);
  const browser = await signIn(service, email);
  assert.equal((await browser.call('POST', '/v1/tests', { json: {} })).status, 403);
  // Directly in the database, because every operation ends the session.
  await service.app.db
    .updateTable('members')
    .set({ role: 'member' })
    .where('id', '=', id)
    .execute();
  assert.equal((await browser.call('POST', '/v1/tests', { json: {} })).status, 201);

  const change = await service.call('PATCH', `/v1/team/members/${id}`, {
    json: { role: 'viewer' },
  });
  assert.equal(change.status, 200);
  assert.equal(await statusOf(browser), 401);
  const again = await signIn(service, email);
  assert.equal((await service.call('DELETE', `/v1/team/members/${id}`)).status, 200);
  assert.equal(await statusOf(again), 401);
  assert.equal((await trySignIn(service, { email, password: PASSWORD })).status, 401);
});

test('Sign-in fails if the member is removed or the password changes during the check', async (t) => {
  const service = await start(t, { passwordCost: PASSWORD_COST });
  const { id, email } = await service.makeMember('member');
  await givePassword(service, email);
  const { passwords } = signInGuardOf(service.app);
  const { verify } = passwords;
  const other = await hashPassword('another password');
  let meanwhile = async () => {};
  passwords.verify = async (...given) => {
    const right = await verify(...given);
    await meanwhile();
    return right;
  };
  meanwhile = async () => {
    const change = { password_hash: other };
    await service.app.db.updateTable('members').set(change).where('id', '=', id).execute();
  };
  assert.equal((await trySignIn(service, { email, password: PASSWORD })).status, 401);
  await givePassword(service, email);
  meanwhile = async () => {
    await service.app.db.deleteFrom('members').where('id', '=', id).execute();
  };
  assert.equal((await trySignIn(service, { email, password: PASSWORD })).status, 401);
});

/** A hash with the cost of the first version. */
function olderHash(password: string): string {
  const salt = Buffer.alloc(16, 7);
  const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
  const key = scryptSync(password, salt, 32, cost);
  return `scrypt$32768$8$1$${salt.toString('base64')}$${key.toString('base64')}`;
}

test('Sign-in rehashes a password stored with outdated scrypt cost', async (t) => {
  const service = await start(t, { passwordCost: PASSWORD_COST });
  const { db } = service.app;
  const hashNow = async () => (await findOwner(db))!.password_hash!;
  const old = olderHash(PASSWORD);
  await db.updateTable('members').set({ password_hash: old }).execute();
  const wrong = await trySignIn(service, { email: OWNER, password: 'a wrong guess' });
  assert.deepEqual([wrong.status, await hashNow()], [401, old]);
  // Both concurrent sign-ins succeed.
  const answers = await Promise.all(
    [1, 2].map(() => trySignIn(service, { email: OWNER, password: PASSWORD })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201],
  );
  const renewed = await hashNow();
  assert.match(renewed, /^scrypt\$32768\$8\$3\$/);
  for (const answer of answers) {
    assert.equal(await statusOf(browserOf(service, answer)), 200);
    const cookie = answer.headers.getSetCookie()[1]!.split(';')[0]!;
    assert.notEqual(
      await findKnownDevice(service.app, cookie, OWNER),
      null,
      'of the hash that is kept',
    );
  }
  assert.equal(await statusOf(await signIn(service, OWNER)), 200);
  assert.equal(await hashNow(), renewed);
});

test('Cookie-authenticated writes and sign-ins from other origins get 403', async (t) => {
  const service = await start(t);
  const browser = await signIn(service, OWNER);
  const rename = (headers: Record<string, string>) =>
    service.call('PATCH', '/v1/me', {
      key: null,
      json: { name: 'Mallory' },
      headers: { cookie: browser.cookie, ...headers },
    });
  assert.equal((await rename({})).status, 403);
  assert.equal((await rename({ 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await rename({ origin: 'https://evil.example' })).status, 403);
  assert.equal((await rename({ 'sec-fetch-site': 'same-origin' })).status, 200);
  const foreign = { 'sec-fetch-site': 'cross-site' };
  const json = { email: OWNER, password: PASSWORD };
  assert.equal((await trySignIn(service, json, foreign)).status, 403, 'nor sign somebody in');
});

test('Invalid and unknown session cookies get 401', async (t) => {
  const { app, url } = await start(t);
  for (const token of ['x', 'A'.repeat(43), '', 'a;b', '%00']) {
    const headers = { cookie: `deliverability=${token}` };
    const { status } = await fetch(`${url}/v1/me`, { headers });
    assert.equal(status, 401, token);
  }
  assert.equal((await countSessions(app)).total, 0);
});

test('POST /v1/sessions reports every invalid field at once with 422', async (t) => {
  const { call } = await start(t);
  const json = { email: '', password: 7, remember: true };
  const { status, body } = await call<Problem>('POST', '/v1/sessions', { key: null, json });
  assert.equal(status, 422);
  assert.deepEqual(
    body.errors?.map(({ param, code }) => [param, code]),
    [
      ['email', 'invalid'],
      ['password', 'invalid'],
      ['remember', 'unknown_field'],
    ],
  );
  const long = { email: OWNER, password: 'a'.repeat(801) };
  assert.equal((await call('POST', '/v1/sessions', { key: null, json: long })).status, 422);
});

test('The audit log records each session start and end with member and IP address', async (t) => {
  const service = await start(t);
  const browser = await ownerBrowser(service);
  const { id } = browser.session;
  await browser.call('DELETE', '/v1/sessions/current');
  assert.deepEqual(await auditOf(service, { object_id: id }), [
    ['session.ended', {}],
    ['session.created', {}],
  ]);
  const rows = await service.app.db
    .selectFrom('audit_log')
    .select(['member_email', 'session_id', 'key_id', 'ip', 'object_type'])
    .where('object_id', '=', id)
    .execute();
  const expected = {
    member_email: OWNER,
    session_id: id,
    key_id: null,
    ip: '127.0.0.1',
    object_type: 'session',
  };
  assert.deepEqual(rows, [expected, expected]);
});

test('Server log and database contain no passwords or session cookies', async (t) => {
  const service = await start(t);
  const browser = await signIn(service, OWNER);
  await trySignIn(service, { email: OWNER, password: 'a wrong password' });
  await trySignIn(service, { email: 'typed.into.the.wrong.field', password: 'x' });
  assert.equal(await statusOf(browser), 200);
  const log = JSON.stringify(service.logged);
  assert.match(log, /sign-in failed/);
  const bytes = await storedBytes(service.app, service.folder);
  assert.ok(bytes.includes(browser.session.id), 'what is no secret is found');
  for (const secret of [
    PASSWORD,
    'a wrong password',
    browser.token,
    'typed.into.the.wrong.field',
  ]) {
    assert.ok(!log.includes(secret), secret);
    assert.ok(!bytes.includes(secret), secret);
  }
});

test('DELETE /v1/sessions ends the other sessions of the member only; with a key, all of them', async (t) => {
  const service = await start(t);
  const { email, key } = await service.makeMember('viewer');
  await givePassword(service, email);
  const [owner, here, there] = [
    await signIn(service, OWNER),
    await signIn(service, email),
    await signIn(service, email),
  ];
  const ended = await here.call('DELETE', '/v1/sessions');
  assert.deepEqual(ended.body, { object: 'ended_sessions', count: 1 });
  assert.deepEqual(await Promise.all([owner, here, there].map(statusOf)), [200, 200, 401]);
  const again = await here.call('DELETE', '/v1/sessions');
  assert.deepEqual(again.body, { object: 'ended_sessions', count: 0 });
  const byKey = await service.call('DELETE', '/v1/sessions', { key });
  assert.deepEqual(byKey.body, { object: 'ended_sessions', count: 1 });
  assert.deepEqual(await Promise.all([owner, here].map(statusOf)), [200, 401]);
  assert.deepEqual(await auditOf(service, { action: 'sessions.ended' }), [
    ['sessions.ended', { sessions_ended: 1 }],
    ['sessions.ended', { sessions_ended: 1 }],
  ]);
});

/** A new sign-in in the same browser ends the previous session. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sessionCookieName } from '../../src/http/cookies.ts';
import { findOwner } from '../../src/team/members.ts';
import { insertSession } from '../../src/team/sessions.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { givePassword, PASSWORD, trySignIn } from '../team/browser.ts';
import { invite } from '../team/team-service.ts';
import { startProvider } from './openid-provider.ts';
import { getPage, postForm } from './pages.ts';

const OWNER = 'owner@example.com';
const HOUR = 3_600_000;

interface Former {
  id: string;
  memberId: string;
  cookie: string;
}

async function start(t: TestContext, env: Record<string, string> = {}, now?: number) {
  const clock = testClock(now);
  const service = await startTestService(t, { clock, env });
  await givePassword(service, OWNER);
  const { app } = service;
  const owner = (await findOwner(app.db))!;
  const name = sessionCookieName(app.config.APP_URL.startsWith('https:'));
  /** The existing session of the browser. */
  const begin = async (memberId = owner.id): Promise<Former> => {
    const { token, row } = await app.db
      .transaction()
      .execute((tx) => insertSession(tx, app, memberId, { ip: null, userAgent: null }));
    return { id: row.id, memberId, cookie: `${name}=${token}` };
  };
  return { ...service, clock, begin };
}

const sessionsOf = async ({ app }: TestService): Promise<string[]> =>
  (await app.db.selectFrom('sessions').select('id').orderBy('id').execute()).map(({ id }) => id);

/** The previous session has ended, with its own member as the author, and a new one has started. */
async function assertReplaced(service: TestService, former: Former, others: string[] = []) {
  const left = await sessionsOf(service);
  assert.ok(!left.includes(former.id));
  assert.equal(left.length, others.length + 1);
  for (const id of others) assert.ok(left.includes(id), 'another browser stays signed in');
  const rows = await service.app.db
    .selectFrom('audit_log')
    .select(['action', 'member_id', 'session_id', 'ip'])
    .where('object_id', '=', former.id)
    .execute();
  const { id, memberId } = former;
  assert.deepEqual(rows, [
    { action: 'session.ended', member_id: memberId, session_id: id, ip: '127.0.0.1' },
  ]);
}

test('Signing in again through the API ends the browser’s previous session', async (t) => {
  const service = await start(t);
  const [former, elsewhere] = [await service.begin(), await service.begin()];
  const json = { email: OWNER, password: PASSWORD };
  const answer = await trySignIn(service, json, { cookie: former.cookie });
  assert.equal(answer.status, 201);
  await assertReplaced(service, former, [elsewhere.id]);
  const headers = { cookie: answer.headers.get('set-cookie')!.split(';')[0]! };
  assert.equal((await service.call('GET', '/v1/me', { key: null, headers })).status, 200);
});

test('Signing in again through the page ends the browser’s previous session', async (t) => {
  const service = await start(t);
  const former = await service.begin();
  const form = { email: OWNER, password: PASSWORD };
  const { status } = await postForm(service, '/sign-in', form, { cookie: former.cookie });
  assert.equal(status, 303);
  await assertReplaced(service, former);
});

test('Signing in again through OpenID Connect ends the browser’s previous session', async (t) => {
  const provider = await startProvider(t);
  // The library and the provider use the system time.
  const service = await start(t, provider.env, Date.now());
  const { location, cookie } = await getPage(service, '/sign-in/oidc');
  const { pathname, search } = await provider.pass(location!);
  const former = await service.begin();
  const answer = await getPage(service, pathname + search, {
    cookie: `${cookie}; ${former.cookie}`,
  });
  assert.deepEqual([answer.status, answer.location], [303, '/']);
  await assertReplaced(service, former);
});

test('Signing in or joining as someone else ends the browser’s previous session', async (t) => {
  const service = await start(t);
  const member = await service.makeMember('member');
  const first = await service.begin(member.id);
  const json = { email: OWNER, password: PASSWORD };
  await trySignIn(service, json, { cookie: first.cookie });
  await assertReplaced(service, first);

  const [left] = await sessionsOf(service);
  const second = await service.begin();
  const { body } = await invite(service, { email: 'bob@example.com' });
  const form = { name: 'Bob', password: PASSWORD, repeated: PASSWORD };
  const { pathname } = new URL(body.accept_url);
  const { status } = await postForm(service, pathname, form, { cookie: second.cookie });
  assert.equal(status, 303);
  await assertReplaced(service, second, [left!]);
});

test('A failed sign-in keeps the previous session; an expired one is not reported ended', async (t) => {
  const service = await start(t);
  const former = await service.begin();
  const { cookie } = former;
  const wrong = await trySignIn(service, { email: OWNER, password: 'a wrong guess' }, { cookie });
  assert.equal(wrong.status, 401);
  assert.deepEqual(await sessionsOf(service), [former.id]);

  service.clock.advance(12 * HOUR);
  for (const value of [cookie, 'deliverability=none', 'other=cookie']) {
    const json = { email: OWNER, password: PASSWORD };
    assert.equal((await trySignIn(service, json, { cookie: value })).status, 201);
  }
  const ended = await service.app.db
    .selectFrom('audit_log')
    .select('object_id')
    .where('action', '=', 'session.ended')
    .execute();
  assert.deepEqual(ended, []);
});

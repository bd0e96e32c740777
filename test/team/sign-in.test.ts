/** A browser that has signed in to an account can sign in again during password guessing by others. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findOwner } from '../../src/team/members.ts';
import { deviceCookie, findKnownDevice } from '../../src/team/sign-in.ts';
import { startProvider } from '../dashboard/openid-provider.ts';
import { getPage, postForm } from '../dashboard/pages.ts';
import { type ServiceOptions, startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { givePassword, PASSWORD, trySignIn } from './browser.ts';
import { countScrypt } from './scrypt-count.ts';
import { invite } from './team-service.ts';

const OWNER = 'owner@example.com';
const WRONG = 'a wrong guess';
const DAY = 86_400_000;

async function start(t: TestContext, options: ServiceOptions = {}) {
  const clock = testClock();
  const service = await startTestService(t, { clock, ...options });
  await givePassword(service, OWNER);
  const { app } = service;
  /** The cookies of a browser that signed in on the page. */
  const signInByPage = async (email: string, cookie = '') => {
    const answer = await postForm(service, '/sign-in', { email, password: PASSWORD }, { cookie });
    assert.equal(answer.status, 303);
    const [, device] = answer.headers.getSetCookie();
    return device!.split(';')[0]!;
  };
  const statusOf = async (email: string, password: string, cookie = '') =>
    (await trySignIn(service, { email, password }, { cookie })).status;
  const guess = async (email: string, times = 3) => {
    for (let i = 0; i < times; i++) await statusOf(email, WRONG);
  };
  const known = (cookie: string, account = OWNER) => findKnownDevice(app, cookie, account);
  return { ...service, clock, signInByPage, statusOf, guess, known };
}

test('A known browser can sign in while strangers’ guesses are throttled', async (t) => {
  const service = await start(t);
  const { clock, guess, signInByPage, statusOf } = service;
  const device = await signInByPage(OWNER);
  await guess(OWNER);
  assert.equal(await statusOf(OWNER, PASSWORD), 429, 'elsewhere');
  assert.equal(await statusOf(OWNER, PASSWORD, device), 201, 'by the API');
  await signInByPage(OWNER, device);
  // Neither clears the delays of strangers.
  assert.equal(await statusOf(OWNER, PASSWORD), 429);
  clock.advance(1000);
  assert.equal(await statusOf(OWNER, WRONG), 401);
  assert.equal(await statusOf(OWNER, WRONG), 429);
});

test('Sign-in through the API makes the browser known', async (t) => {
  const service = await start(t);
  const answer = await trySignIn(service, { email: OWNER, password: PASSWORD });
  const [session, device] = answer.headers.getSetCookie();
  assert.match(session!, /^deliverability=/);
  await service.guess(OWNER);
  assert.equal(await service.statusOf(OWNER, PASSWORD), 429);
  assert.equal(await service.statusOf(OWNER, PASSWORD, device!.split(';')[0]), 201);
});

test('A known browser has its own sign-in delays, shared with no other', async (t) => {
  const { clock, signInByPage, statusOf } = await start(t);
  const [one, two] = [await signInByPage(OWNER), await signInByPage(OWNER)];
  for (let i = 0; i < 3; i++) assert.equal(await statusOf(OWNER, WRONG, one), 401);
  assert.equal(await statusOf(OWNER, PASSWORD, one), 429);
  assert.equal(await statusOf(OWNER, PASSWORD, two), 201);
  assert.equal(await statusOf(OWNER, PASSWORD), 201);
  clock.advance(1000);
  assert.equal(await statusOf(OWNER, PASSWORD, one), 201);
});

test('Joining by invitation or OpenID Connect marks the browser as known', async (t) => {
  const provider = await startProvider(t);
  // The library and the provider use the system time.
  const service = await start(t, { clock: testClock(Date.now()), env: provider.env });
  const { body } = await invite(service, { email: 'bob@example.com' });
  const form = { name: 'Bob', password: PASSWORD, repeated: PASSWORD };
  const joined = await postForm(service, new URL(body.accept_url).pathname, form);
  const [, device] = joined.headers.getSetCookie();
  assert.notEqual(await service.known(device!, 'bob@example.com'), null);

  const { location, cookie } = await getPage(service, '/sign-in/oidc');
  const { pathname, search } = await provider.pass(location!);
  const answer = await getPage(service, pathname + search, { cookie: cookie! });
  const names = answer.headers.getSetCookie().map((field) => field.split('=')[0]);
  assert.deepEqual(
    names,
    ['-oidc', '', '-device'].map((end) => `__Host-deliverability${end}`),
  );
  assert.notEqual(await service.known(answer.headers.getSetCookie()[2]!), null);
});

test('A browser known for one account is a stranger to other accounts', async (t) => {
  const service = await start(t);
  const { email } = await service.makeMember('member');
  await givePassword(service, email);
  const device = await service.signInByPage(email);
  for (const account of [OWNER, 'nobody@example.com']) {
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push(await service.statusOf(account, WRONG, device));
    assert.deepEqual(statuses, [401, 401, 401, 429], account);
    service.clock.advance(15 * 60_000);
  }
});

test('A known browser’s cookie does not reveal whether other addresses exist', async (t) => {
  const service = await start(t);
  const { email } = await service.makeMember('member');
  await givePassword(service, email);
  const cookie = await service.signInByPage(email);
  const scrypts = countScrypt(t);
  const seen: unknown[] = [];
  for (const account of [OWNER, 'nobody@example.com']) {
    const json = { email: account, password: WRONG };
    for (let i = 0; i < 4; i++) {
      const { result, count } = await scrypts.during(() => trySignIn(service, json, { cookie }));
      const { status, headers } = result;
      seen.push([status, headers.get('retry-after'), headers.get('set-cookie'), count]);
    }
    service.clock.advance(15 * 60_000);
  }
  assert.deepEqual(seen.slice(0, 4), seen.slice(4));
});

test('A known browser’s cookie ends with the password, the member or after a year', async (t) => {
  const service = await start(t);
  const { app, clock, known, signInByPage } = service;
  const device = await signInByPage(OWNER);
  assert.match((await known(device))!, /^[a-z2-9]{20}$/);
  assert.equal(await known(device, 'other@example.com'), null);
  clock.advance(365 * DAY - 1);
  assert.notEqual(await known(device), null);
  clock.advance(1);
  assert.equal(await known(device), null);

  const fresh = await signInByPage(OWNER);
  const owner = (await findOwner(app.db))!;
  const setHash = (password_hash: string | null) =>
    app.db.updateTable('members').set({ password_hash }).where('id', '=', owner.id).execute();
  await setHash(null);
  assert.equal(await known(fresh), null);
  await setHash('scrypt$another');
  assert.equal(await known(fresh), null);
  await setHash(owner.password_hash);
  assert.notEqual(await known(fresh), null);

  const { id, email } = await service.makeMember('member');
  await givePassword(service, email);
  const left = await signInByPage(email);
  assert.notEqual(await known(left, email), null);
  await service.call('DELETE', `/v1/team/members/${id}`);
  assert.equal(await known(left, email), null);
});

test('Forged device cookies are rejected; a valid one is found among others', async (t) => {
  const { app, known, signInByPage } = await start(t);
  const device = await signInByPage(OWNER);
  const [name, value] = device.split(/=(.*)/s) as [string, string];
  const other = app.secrets.seal('{}', 'browser that has signed in');
  const foreign = app.secrets.seal('{"id":"x"}', 'something else');
  for (const made of ['', 'x', 'AAAA', `${value.slice(0, -4)}AAAA`, other, foreign])
    assert.equal(await known(`${name}=${made}`), null, made);
  assert.equal(await known(`${name}=${'A'.repeat(100_000)}`), null);
  assert.equal(await known(`deliverability=${value}`), null);
  assert.notEqual(await known(`a=b; ${name}=planted; ${device}; c`), null);
});

test('Device cookie attributes over http and https; none without a password', async (t) => {
  const service = await start(t, { env: { DELIVERABILITY_APP_URL: 'https://mail.example.com' } });
  const { app } = service;
  const owner = (await findOwner(app.db))!;
  assert.match(
    deviceCookie(app, owner)!,
    /^__Host-deliverability-device=[\w+/=]+; Path=\/; Max-Age=31536000; Secure; HttpOnly; SameSite=Lax$/,
  );
  assert.equal(deviceCookie(app, { ...owner, password_hash: null }), null);
  const http = await start(t);
  assert.match(
    deviceCookie(http.app, (await findOwner(http.app.db))!)!,
    /^deliverability-device=[\w+/=]+; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
  );
});

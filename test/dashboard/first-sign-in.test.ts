/** The link of the first owner: the page asks for a password, and then the browser is signed in. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOwner } from '../../src/team/members.ts';
import { createOwnerLink } from '../../src/team/passwords.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { givePassword, signIn } from '../team/browser.ts';
import { accountOf, getPage, mainOf, postForm } from './pages.ts';

const PASSWORD = 'a long enough password';
const FORM = { password: PASSWORD, repeated: PASSWORD };

/** The path of a new link, as `owner EMAIL` prints it. */
async function linkOf({ app }: TestService): Promise<string> {
  const { id } = (await findOwner(app.db))!;
  return new URL(await createOwnerLink(app, app.config, id)).pathname;
}

const cookiesOf = ({ headers }: { headers: Headers }): string[] =>
  headers.getSetCookie().map((field) => field.split(';')[0]!);

test('The first owner chooses a password and is signed in on the start page', async (t) => {
  const service = await startTestService(t);
  const path = await linkOf(service);
  const page = await getPage(service, path);
  assert.equal(page.status, 200);
  assert.match(page.html, /<h1>Choose a password<\/h1>/);
  assert.match(mainOf(page.html), /You sign in as owner@example\.com\./);
  assert.doesNotMatch(mainOf(page.html), /sign(s|ed) you out|Set a new/);

  const short = await postForm(service, path, { password: 'short', repeated: 'short' });
  assert.equal(short.status, 422);
  assert.match(short.html, /<h1>Choose a password<\/h1>/);
  assert.deepEqual(short.headers.getSetCookie(), []);

  const answer = await postForm(service, path, FORM);
  assert.deepEqual([answer.status, answer.location], [303, '/']);
  const names = cookiesOf(answer).map((cookie) => cookie.split('=')[0]);
  assert.deepEqual(names, ['deliverability', 'deliverability-device']);
  assert.match(answer.headers.getSetCookie()[0]!, /HttpOnly/i);
  const home = await getPage(service, '/', { cookie: cookiesOf(answer).join('; ') });
  assert.match(accountOf(home.html) ?? '', /owner@example\.com/);

  // The password, the session and their entries were written together.
  const entries = await service.app.db
    .selectFrom('audit_log')
    .select(['action'])
    .where('action', 'in', ['password.reset', 'session.created'])
    .orderBy('id')
    .execute();
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['password.reset', 'session.created'],
  );
  const again = await getPage(service, path);
  assert.equal(again.status, 410);
  assert.equal((await postForm(service, path, FORM)).status, 410);
});

test('A first link expires after a day, and another site cannot send its form', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const path = await linkOf(service);
  const foreign = await postForm(service, path, FORM, { 'sec-fetch-site': 'cross-site' });
  assert.equal(foreign.status, 403);
  assert.deepEqual(foreign.headers.getSetCookie(), []);
  clock.advance(24 * 3_600_000);
  const late = await postForm(service, path, FORM);
  assert.equal(late.status, 410);
  assert.deepEqual(late.headers.getSetCookie(), []);
});

test('Of two browsers with the first link, exactly one is signed in', async (t) => {
  const service = await startTestService(t);
  const path = await linkOf(service);
  const answers = await Promise.all([
    postForm(service, path, FORM),
    postForm(service, path, { password: `${PASSWORD} 2`, repeated: `${PASSWORD} 2` }),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 410]);
  const sessions = await service.app.db.selectFrom('sessions').selectAll().execute();
  assert.equal(sessions.length, 1);
});

test('The first sign-in ends the session that the browser had', async (t) => {
  const service = await startTestService(t);
  const { email } = await service.makeMember('viewer');
  await givePassword(service, email);
  const { cookie } = await signIn(service, email);
  const answer = await postForm(service, await linkOf(service), FORM, { cookie });
  assert.equal(answer.location, '/');
  assert.equal((await getPage(service, '/account', { cookie })).status, 401);
});

test('Later links reset the password, end the sessions and do not sign in', async (t) => {
  const service = await startTestService(t);
  await givePassword(service, 'owner@example.com');
  const path = await linkOf(service);
  const page = await getPage(service, path);
  assert.match(page.html, /<h1>Set a new password<\/h1>/);
  assert.match(mainOf(page.html), /signs you out of all browsers/);
  const answer = await postForm(service, path, FORM);
  assert.equal(answer.location, '/sign-in?done=password');
  assert.deepEqual(
    cookiesOf(answer).map((cookie) => cookie.split('=')[0]),
    ['deliverability-device'],
  );
});

test('The link of an owner who signs in with OpenID Connect starts no session', async (t) => {
  const service = await startTestService(t);
  const { app } = service;
  await app.db
    .updateTable('members')
    .set({ oidc_issuer: 'https://id.example', oidc_subject: 'subject' })
    .where('role', '=', 'owner')
    .execute();
  const path = await linkOf(service);
  assert.match((await getPage(service, path)).html, /<h1>Set a new password<\/h1>/);
  assert.equal((await postForm(service, path, FORM)).location, '/sign-in?done=password');
});

test('The API sets the first password without a session', async (t) => {
  const service = await startTestService(t);
  const token = (await linkOf(service)).split('/').at(-1)!;
  const answer = await service.call('POST', '/v1/password_resets/confirm', {
    key: null,
    json: { token, password: PASSWORD },
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(await service.app.db.selectFrom('sessions').selectAll().execute(), []);
});

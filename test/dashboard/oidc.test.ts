/** Sign-in with OpenID Connect at a real provider, and its error messages. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isoTime } from '../../src/lib/clock.ts';
import { oidcStateCookie, readOidcState } from '../../src/team/oidc.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { givePassword, PASSWORD } from '../team/browser.ts';
import { auditOf, invite, membersOf } from '../team/team-service.ts';
import { APP_URL, type ProviderOptions, startProvider } from './openid-provider.ts';
import { accountOf, getPage, mainOf, type PageAnswer, postForm } from './pages.ts';

const OWNER = 'owner@example.com';
const BEGIN = '/sign-in/oidc';
const CALLBACK = `${BEGIN}/callback`;
const EXPIRED = /This sign-in has expired or was started in another browser/;

async function start(t: TestContext, options: ProviderOptions = {}, env = {}) {
  const provider = await startProvider(t, options);
  // The library and the provider use the system time.
  const clock = testClock(Date.now());
  const service = await startTestService(t, { clock, env: { ...provider.env, ...env } });
  return { service, provider, clock };
}
type Started = Awaited<ReturnType<typeof start>>;

/** Goes to the provider and returns the callback path and cookie. */
async function travel({ service, provider }: Started) {
  const { status, location, cookie } = await getPage(service, BEGIN);
  assert.equal(status, 303);
  const { pathname, search, searchParams } = await provider.pass(location!);
  assert.equal(pathname, CALLBACK);
  return { path: pathname + search, cookie: cookie!, code: searchParams.get('code') };
}

async function signIn(started: Started): Promise<PageAnswer> {
  const { path, cookie } = await travel(started);
  return getPage(started.service, path, { cookie });
}

/** The session cookie of a response that started a session. */
function sessionOf({ status, location, headers }: PageAnswer): string {
  assert.deepEqual([status, location], [303, '/']);
  const [cleared, session] = headers.getSetCookie();
  assert.match(cleared!, /^__Host-deliverability-oidc=; Path=\/; Max-Age=0; /);
  assert.match(session!, /^__Host-deliverability=[\w-]{43}; Path=\/; Max-Age=\d+; Secure; /);
  return session!.split(';')[0]!;
}

/** An error page without a session, which ends the OpenID Connect sign-in. */
function assertRefused({ status, html, headers }: PageAnswer, expected: number, said: RegExp) {
  assert.equal(status, expected);
  assert.match(html, /<title>Error: Sign-in failed · /);
  assert.match(mainOf(html), said);
  const names = headers.getSetCookie().map((field) => field.split('=')[0]);
  assert.deepEqual(names, ['__Host-deliverability-oidc']);
}

async function sessionsOf({ app }: TestService): Promise<number> {
  return (await app.db.selectFrom('sessions').select('id').execute()).length;
}

/** Delays the email of an invitation to tomorrow. */
async function queueFor({ app: { db, clock } }: TestService, invitation: string): Promise<void> {
  const [created_at, due_at] = [0, 86_400_000].map((ms) => isoTime(clock.now() + ms));
  const mail = { id: 'mail_1', recipient: 'bob@example.com', content: 'sealed', due_at };
  await db
    .insertInto('outbox')
    .values({ ...mail, created_at: created_at!, status: 'queued', attempts: 0, bulk: 0 })
    .execute();
  await db
    .updateTable('invitations')
    .set({ mail_id: mail.id })
    .where('id', '=', invitation)
    .execute();
}

test('OpenID Connect signs in a member and the audit log records the method', async (t) => {
  const started = await start(t);
  const { service, provider } = started;
  const page = await getPage(service, '/sign-in');
  const host = new URL(provider.issuer).host;
  assert.ok(page.html.includes(`href="${BEGIN}">Sign in with ${host}</a>`));
  provider.person = { email: 'Owner@Example.com', email_verified: true, name: 'Another' };
  const cookie = sessionOf(await signIn(started));
  const home = await getPage(service, '/', { cookie });
  assert.equal(accountOf(home.html), 'owner (owner@example.com)');
  assert.deepEqual(await auditOf(service, { action: 'session.created' }), [
    ['session.created', { by: 'oidc' }],
  ]);
  const again = await getPage(service, BEGIN, { cookie });
  assert.deepEqual([again.status, again.location], [303, '/']);
});

test('OpenID Connect request uses PKCE, state and nonce; the cookie reveals none of them', async (t) => {
  const { service, provider } = await start(t);
  const { location, headers } = await getPage(service, BEGIN);
  const { origin, searchParams } = new URL(location!);
  assert.equal(origin, provider.issuer);
  const asked = Object.fromEntries(searchParams);
  assert.equal(asked.redirect_uri, APP_URL + CALLBACK);
  assert.deepEqual([asked.response_type, asked.code_challenge_method], ['code', 'S256']);
  const [field] = headers.getSetCookie();
  assert.match(
    field!,
    /^__Host-deliverability-oidc=[\w+/=]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
  );
  const oidcState = readOidcState(service.app, field!.split(';')[0]!)!;
  assert.deepEqual([oidcState.state, oidcState.nonce], [asked.state, asked.nonce]);
  for (const secret of [oidcState.state, oidcState.nonce, oidcState.verifier])
    assert.ok(secret.length >= 43 && !field!.includes(secret));
});

test('OpenID Connect adds an invited person with the invited role and provider name', async (t) => {
  const started = await start(t);
  const { service, provider } = started;
  const email = 'bob@example.com';
  const { body } = await invite(service, { email, role: 'viewer' });
  await queueFor(service, body.id);
  provider.person = { email, email_verified: true, name: ' Bob Lee ' };
  const home = await getPage(service, '/', { cookie: sessionOf(await signIn(started)) });
  assert.equal(accountOf(home.html), 'Bob Lee (bob@example.com)');
  const mails = await service.app.db.selectFrom('outbox').select(['status', 'content']).execute();
  assert.deepEqual(mails, [{ status: 'failed', content: null }], 'its link is no longer valid');
  sessionOf(await signIn(started));
  const members = (await membersOf(service)).filter((one) => one.email === email);
  assert.equal(members.length, 1);
  const actions = await auditOf(service, { member_id: members[0]!.id });
  assert.deepEqual(
    actions.map(([action]) => action),
    ['session.created', 'session.created', 'member.linked', 'invitation.accepted'],
  );
  const form = { email, password: PASSWORD };
  assert.equal((await postForm(service, '/sign-in', form)).status, 401, 'has no password');
});

test('OpenID Connect uses the address as name when the provider’s name is invalid', async (t) => {
  const started = await start(t);
  await invite(started.service, { email: 'bob@example.com' });
  started.provider.person = { email: 'bob@example.com', email_verified: true, name: 'B\u0007' };
  const home = await getPage(started.service, '/', { cookie: sessionOf(await signIn(started)) });
  assert.match(accountOf(home.html)!, /^bob \(/);
});

test('OpenID Connect rejects people without a valid invitation', async (t) => {
  const started = await start(t);
  const { service, provider, clock } = started;
  provider.person = { email: 'eve@example.com', email_verified: true, name: 'Eve' };
  const said = /eve@example\.com is not on the team\. Ask an admin to invite this address/;
  assertRefused(await signIn(started), 403, said);
  const { body } = await invite(service, { email: 'eve@example.com' });
  await service.call('DELETE', `/v1/team/invitations/${body.id}`);
  assertRefused(await signIn(started), 403, said);
  await invite(service, { email: 'eve@example.com' });
  clock.advance(7 * 86_400_000);
  assertRefused(await signIn(started), 403, said);
  assert.equal((await membersOf(service)).length, 1);
});

test('OpenID Connect rejects missing, unverified and invalid email addresses', async (t) => {
  const started = await start(t);
  const { service, provider } = started;
  for (const [person, said] of [
    [{ email: OWNER, email_verified: false }, /hasn't verified owner@example\.com/],
    [{ email: OWNER }, /doesn't say whether it has verified owner@example\.com/],
    [{ email: OWNER, email_verified: 'yes' as never }, /hasn't verified owner@example\.com/],
    [{ email_verified: true }, /the claim email is missing/],
    [{ email: '"a b"@example.com', email_verified: true }, /isn't a supported email address/],
  ] as const) {
    provider.person = person;
    assertRefused(await signIn(started), 403, said);
  }
  assert.equal(await sessionsOf(service), 0);
});

test('OpenID Connect callback rejects mismatched, missing, expired or reused state', async (t) => {
  const started = await start(t);
  const { service, clock } = started;
  const [one, other] = [await travel(started), await travel(started)];
  assertRefused(await getPage(service, one.path, { cookie: other.cookie }), 400, EXPIRED);
  assertRefused(await getPage(service, one.path), 400, EXPIRED);
  const changed = one.cookie.replace(/.(?=.{40}$)/, (char) => (char === 'A' ? 'B' : 'A'));
  assertRefused(await getPage(service, one.path, { cookie: changed }), 400, EXPIRED);
  assertRefused(await getPage(service, CALLBACK, { cookie: one.cookie }), 400, EXPIRED);
  sessionOf(await getPage(service, one.path, { cookie: one.cookie }));
  // The provider accepts each code once, even with the cookie.
  assertRefused(await getPage(service, one.path, { cookie: one.cookie }), 400, EXPIRED);
  clock.advance(10 * 60_000);
  assertRefused(await getPage(service, other.path, { cookie: other.cookie }), 400, EXPIRED);
  assert.equal(await sessionsOf(service), 1);
  assert.ok(!JSON.stringify(service.logged).includes(one.code!), 'no code is logged');
});

test('OpenID Connect rejects an ID token with the wrong nonce', async (t) => {
  const started = await start(t);
  const { service } = started;
  const { path, cookie, code } = await travel(started);
  const oidcState = readOidcState(service.app, cookie)!;
  const forged = oidcStateCookie(service.app, { ...oidcState, nonce: 'another' }).split(';')[0]!;
  assertRefused(
    await getPage(service, path, { cookie: forged }),
    503,
    /identity provider is unavailable/,
  );
  const logged = service.logged.find(({ message }) => message.includes('provider failed'))!;
  assert.equal(logged.fields.code, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED');
  assert.ok(!JSON.stringify(service.logged).includes(code!));
});

test('OpenID Connect shows a message when the provider denies access', async (t) => {
  const started = await start(t);
  started.provider.person = null;
  assertRefused(
    await signIn(started),
    400,
    /was canceled, or your identity provider denied access/,
  );
});

test('Password sign-in works while the OpenID provider is down; OIDC recovers afterwards', async (t) => {
  const started = await start(t);
  const { service, provider } = started;
  const { path, cookie } = await travel(started);
  await givePassword(service, OWNER);
  await provider.stop();
  assertRefused(await getPage(service, path, { cookie }), 503, /or sign in with your password/);
  started.clock.advance(3_600_000);
  const { status, html } = await getPage(service, BEGIN);
  assert.equal(status, 503);
  assert.match(mainOf(html), /identity provider is unavailable/);
  const form = { email: OWNER, password: PASSWORD };
  assert.equal((await postForm(service, '/sign-in', form)).status, 303);
  await provider.restart();
  sessionOf(await signIn(started));
});

test('OpenID provider metadata is cached for one hour', async (t) => {
  const { service, provider, clock } = await start(t);
  assert.equal(provider.discoveries, 0, 'nobody has come yet');
  await Promise.all([getPage(service, BEGIN), getPage(service, BEGIN)]);
  clock.advance(3_599_999);
  await getPage(service, BEGIN);
  assert.equal(provider.discoveries, 1);
  clock.advance(1);
  await getPage(service, BEGIN);
  assert.equal(provider.discoveries, 2);
});

test('OpenID Connect supports issuers with a trailing slash and minimal ID tokens', async (t) => {
  const options = { path: '/o/', method: 'client_secret_post', emailInToken: false } as const;
  sessionOf(await signIn(await start(t, options)));
});

test('Without https the OpenID Connect cookie has neither __Host- prefix nor Secure', async (t) => {
  const env = { DELIVERABILITY_BASE_URL: 'http://app.example' };
  const { service } = await start(t, {}, env);
  const [field] = (await getPage(service, BEGIN)).headers.getSetCookie();
  assert.match(
    field!,
    /^deliverability-oidc=[\w+/=]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
  );
});

test('OpenID Connect routes are 404 and hidden when not configured', async (t) => {
  const service = await startTestService(t);
  assert.ok(!(await getPage(service, '/sign-in')).html.includes(BEGIN));
  for (const path of [BEGIN, `${CALLBACK}?code=x&state=x`]) {
    const { status, html } = await getPage(service, path);
    assert.equal(status, 404);
    assert.match(mainOf(html), /isn't configured on this server/);
  }
});

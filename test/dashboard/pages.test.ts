/** The sign-in, password, and invitation pages: their forms and their error messages. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DASHBOARD_ROUTES } from '../../src/dashboard/pages.generated.ts';
import { insertPasswordLink, MAILED_LINK_LIFETIME_MS } from '../../src/team/passwords.ts';
import { type ServiceOptions, startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { givePassword, ownerBrowser, PASSWORD } from '../team/browser.ts';
import { auditOf, invite, membersOf, tokenOf } from '../team/team-service.ts';
import { accountOf, fieldOf, getPage, mainOf, type PageAnswer, postForm, textOf } from './pages.ts';

const OWNER = 'owner@example.com';
const NEW = 'a new password';
const MAIL = {
  DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1:9',
  DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
};

async function start(t: TestContext, options: ServiceOptions = {}) {
  const clock = testClock();
  return { ...(await startTestService(t, { clock, ...options })), clock };
}

async function passwordLink(service: Awaited<ReturnType<typeof start>>): Promise<string> {
  const { app } = service;
  const { id } = await app.db.selectFrom('members').select('id').executeTakeFirstOrThrow();
  const { token } = await app.db
    .transaction()
    .execute((tx) => insertPasswordLink(tx, app, id, MAILED_LINK_LIFETIME_MS));
  return `/password/${token}`;
}

/** The error messages of a field, found by its ARIA attributes. */
function wrongOf(html: string, name: string): (string | undefined)[] {
  const field = fieldOf(html, name);
  assert.equal(field['aria-invalid'], 'true', `${name} is marked`);
  return field['aria-describedby']!.split(' ').map((id) => textOf(html, id));
}

/** The targets of links and forms. */
const waysOf = (html: string): string[] =>
  [...html.matchAll(/<(?:a|form) [^>]*(?:href|action)="(\/[^"]*)"/g)].map(([, path]) => path!);

test('Home page links to sign-in and docs; signed in, it names the member', async (t) => {
  const service = await start(t, { env: { DELIVERABILITY_BASE_URL: 'https://api.example.com/' } });
  const before = await getPage(service, '/');
  assert.equal(before.status, 200);
  for (const path of ['/sign-in', '/docs', '/openapi.json'])
    assert.ok(waysOf(before.html).includes(path), path);
  const { cookie } = await ownerBrowser(service);
  const home = await getPage(service, '/', { cookie });
  assert.equal(home.status, 200);
  assert.equal(accountOf(home.html), 'owner (owner@example.com)');
  const again = await getPage(service, '/sign-in', { cookie });
  assert.deepEqual([again.status, again.location], [303, '/']);
});

test('Home page offers sign-out, and becomes the start page when the session ends', async (t) => {
  const service = await start(t);
  const { cookie } = await ownerBrowser(service);
  const { html } = await getPage(service, '/', { cookie });
  for (const path of ['/sign-out', '/docs', '/account'])
    assert.ok(waysOf(html).includes(path), path);
  service.clock.advance(12 * 3_600_000);
  const over = await getPage(service, '/', { cookie });
  assert.match(mainOf(over.html), /Sign in/);
});

test('POST /sign-in with the right password redirects home and sets the cookie', async (t) => {
  const service = await start(t);
  await givePassword(service, OWNER);
  const page = await getPage(service, '/sign-in');
  assert.equal(page.status, 200);
  assert.match(page.html, /<title>Sign in · Deliverability<\/title>/);
  assert.equal(fieldOf(page.html, 'email').autocomplete, 'username');
  assert.equal(fieldOf(page.html, 'password').autocomplete, 'current-password');
  const form = { email: ' Owner@example.com ', password: PASSWORD };
  const { status, location, cookie } = await postForm(service, '/sign-in', form);
  assert.deepEqual([status, location], [303, '/']);
  assert.match(cookie!, /^deliverability=[\w-]{43}$/);
  assert.equal((await getPage(service, '/', { cookie: cookie! })).status, 200);
});

test('POST /sign-in with a wrong password marks both fields and keeps only the address', async (t) => {
  const service = await start(t);
  await givePassword(service, OWNER);
  const form = { email: OWNER, password: 'a wrong password' };
  const { status, html, cookie } = await postForm(service, '/sign-in', form);
  assert.deepEqual([status, cookie], [401, null]);
  assert.match(html, /<title>Error: Sign in · /);
  for (const name of ['email', 'password'])
    assert.deepEqual(wrongOf(html, name), ['Incorrect email address or password.']);
  assert.equal(fieldOf(html, 'email').value, OWNER);
  assert.ok('autofocus' in fieldOf(html, 'password'));
  assert.ok(!html.includes('a wrong password'));
});

test('POST /sign-in reports empty fields with 422', async (t) => {
  const service = await start(t);
  const { status, html } = await postForm(service, '/sign-in', { email: ' ', password: '' });
  assert.equal(status, 422);
  assert.deepEqual(wrongOf(html, 'email'), ['Error: Enter your email address.']);
  assert.deepEqual(wrongOf(html, 'password'), ['Error: Enter your password.']);
  const other = await postForm(service, '/sign-in', {});
  assert.equal(other.status, 422);
});

test('POST /sign-in tells throttled users how long to wait', async (t) => {
  const service = await start(t);
  const form = { email: OWNER, password: 'a wrong password' };
  for (let i = 0; i < 4; i++) {
    const { status } = await postForm(service, '/sign-in', form);
    assert.equal(status, i < 3 ? 401 : 429);
    if (i === 3) service.clock.advance(1000);
  }
  await postForm(service, '/sign-in', form);
  const { status, headers, html } = await postForm(service, '/sign-in', form);
  assert.deepEqual([status, headers.get('retry-after')], [429, '2']);
  assert.deepEqual(wrongOf(html, 'password'), [
    'Too many sign-in attempts. Try again in 2 seconds.',
  ]);
});

test('POST /sign-out ends the session and also succeeds without one', async (t) => {
  const service = await start(t);
  const browser = await ownerBrowser(service);
  for (const cookie of [browser.cookie, browser.cookie, 'deliverability=unknown']) {
    const out = await postForm(service, '/sign-out', {}, { cookie });
    assert.deepEqual([out.status, out.location], [303, '/sign-in?done=signed-out']);
    assert.equal(out.cookie, 'deliverability=');
  }
  assert.equal((await browser.call('GET', '/v1/me')).status, 401);
  assert.match((await getPage(service, '/sign-in?done=signed-out')).html, /You're signed out\./);
});

test('Sign-in and sign-out forms reject cross-site requests with 403', async (t) => {
  const service = await start(t);
  await givePassword(service, OWNER);
  const form = { email: OWNER, password: PASSWORD };
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ] as const) {
    const { status, cookie } = await postForm(service, '/sign-in', form, headers);
    assert.deepEqual([status, cookie], [403, null]);
  }
  const { cookie } = await ownerBrowser(service);
  const out = await postForm(service, '/sign-out', {}, { cookie, 'sec-fetch-site': 'cross-site' });
  assert.equal(out.status, 403);
  assert.equal((await getPage(service, '/', { cookie })).status, 200);
});

test('POST /forgot-password responds identically for every address', async (t) => {
  const service = await start(t, { env: MAIL });
  assert.match((await getPage(service, '/forgot-password')).html, /<form method="post"/);
  const answers: PageAnswer[] = [];
  for (const email of [OWNER, 'nobody@example.com', ' no address '])
    answers.push(await postForm(service, '/forgot-password', { email }));
  assert.deepEqual(
    answers.map(({ status, location }) => [status, location]),
    Array(3).fill([303, '/forgot-password?done=sent']),
  );
  const { html } = await getPage(service, '/forgot-password?done=sent');
  assert.match(
    html,
    /If that address belongs to a team member, a link to set a new password is on its way/,
  );
  const mails = await service.app.db.selectFrom('outbox').select('recipient').execute();
  assert.deepEqual(mails, [{ recipient: OWNER }]);
});

test('POST /forgot-password reports an invalid address and the rate limit in the form', async (t) => {
  const service = await start(t, { env: MAIL });
  const empty = await postForm(service, '/forgot-password', { email: ' ' });
  assert.equal(empty.status, 422);
  assert.deepEqual(wrongOf(empty.html, 'email'), ['Error: Enter your email address.']);
  const long = await postForm(service, '/forgot-password', { email: `${'a'.repeat(255)}@x.org` });
  assert.equal(long.status, 422);
  for (let i = 0; i < 20; i++) {
    const { location } = await postForm(service, '/forgot-password', { email: OWNER });
    assert.equal(location, '/forgot-password?done=sent', 'however often');
  }
  const { status, html, headers } = await postForm(service, '/forgot-password', { email: OWNER });
  assert.deepEqual([status, headers.get('retry-after')], [429, '60']);
  assert.deepEqual(wrongOf(html, 'email'), [
    'Too many requests: the limit is 20 in 60 seconds. Try again in 60 seconds.',
  ]);
  assert.equal(fieldOf(html, 'email').value, OWNER);
});

test('GET /forgot-password without outgoing mail refers to the owner command', async (t) => {
  const service = await start(t);
  const { html } = await getPage(service, '/forgot-password');
  assert.match(html, /doesn't send email.*deliverability owner EMAIL/s);
  assert.ok(!html.includes('<form'));
});

test('Password link page sets the password once and redirects to sign-in', async (t) => {
  const service = await start(t);
  await givePassword(service, OWNER);
  const path = await passwordLink(service);
  const page = await getPage(service, path);
  assert.equal(page.status, 200);
  assert.equal(fieldOf(page.html, 'email').value, OWNER);
  assert.ok('readonly' in fieldOf(page.html, 'email'));
  for (const name of ['password', 'repeated'])
    assert.equal(fieldOf(page.html, name).autocomplete, 'new-password');
  const form = { password: NEW, repeated: NEW };
  const { status, location, cookie } = await postForm(service, path, form);
  assert.deepEqual([status, location], [303, '/sign-in?done=password']);
  assert.match(cookie!, /^deliverability-device=/, 'known, and not signed in');
  assert.match((await getPage(service, location!)).html, /Your password is set\./);
  const signedIn = await postForm(service, '/sign-in', { email: OWNER, password: NEW });
  assert.equal(signedIn.location, '/');
  for (const again of [await getPage(service, path), await postForm(service, path, form)]) {
    assert.equal(again.status, 410);
    assert.match(again.html, /This link has been used or is no longer valid\./);
  }
});

test('Password link page shows expired links as 410 and unknown links as 404', async (t) => {
  const service = await start(t);
  const path = await passwordLink(service);
  service.clock.advance(3_600_000);
  const late = await getPage(service, path);
  assert.equal(late.status, 410);
  assert.match(late.html, /This link has expired\..*href="\/forgot-password"/s);
  for (const unknown of ['/password/x', `/password/${'A'.repeat(43)}`, '/invitations/x']) {
    const { status, html } = await getPage(service, unknown);
    assert.equal(status, 404, unknown);
    assert.match(html, /<title>Error: This link doesn't work · /);
  }
});

test('Password link page explains a rejected password and never echoes it', async (t) => {
  const service = await start(t);
  const path = await passwordLink(service);
  for (const [password, repeated, name, message] of [
    ['', '', 'password', 'Enter a password.'],
    ['shortpw', 'shortpw', 'password', 'The password must have 10 to 200 characters.'],
    [OWNER, OWNER, 'password', 'The password must not be the email address.'],
    [NEW, 'another password', 'repeated', "The passwords don't match."],
  ] as const) {
    const { status, html } = await postForm(service, path, { password, repeated });
    assert.equal(status, 422);
    assert.equal(wrongOf(html, name)[0], `Error: ${message}`);
    assert.ok('autofocus' in fieldOf(html, name));
    for (const field of ['password', 'repeated'])
      assert.equal(fieldOf(html, field).value, undefined);
  }
  const done = await postForm(service, path, { password: NEW, repeated: NEW });
  assert.equal(done.status, 303);
});

test('Invitation page adds the invited person and signs them in', async (t) => {
  const service = await start(t);
  const email = 'bob@example.com';
  const path = `/invitations/${tokenOf(await invite(service, { email, role: 'viewer' }))}`;
  const page = await getPage(service, path);
  assert.equal(page.status, 200);
  assert.match(mainOf(page.html), /owner invited bob@example\.com to join as a viewer\./);
  const form = { name: ' Bob "B" Lee ', password: NEW, repeated: NEW };
  const { status, location, cookie } = await postForm(service, path, form);
  assert.deepEqual([status, location], [303, '/']);
  const home = await getPage(service, '/', { cookie: cookie! });
  assert.equal(accountOf(home.html), 'Bob "B" Lee (bob@example.com)');
  const member = (await membersOf(service)).find((one) => one.email === email)!;
  assert.deepEqual([member.name, member.role], ['Bob "B" Lee', 'viewer']);
  const actions = await auditOf(service, { member_id: member.id });
  assert.deepEqual(
    actions.map(([action]) => action),
    ['session.created', 'invitation.accepted'],
  );
  const again = await getPage(service, path);
  assert.equal(again.status, 410);
  assert.match(
    again.html,
    /This invitation has already been accepted\. Sign in instead\..*href="\/sign-in"/s,
  );
});

test('Invitation page handles removed inviters and revoked or expired invitations', async (t) => {
  const service = await start(t);
  const admin = await service.makeMember('admin');
  const sent = await invite(service, { email: 'bob@example.com' }, admin.key);
  const path = `/invitations/${tokenOf(sent)}`;
  await service.app.db.deleteFrom('members').where('id', '=', admin.id).execute();
  const { html } = await getPage(service, path);
  assert.match(mainOf(html), /The team invited bob@example\.com to join as a member\./);
  await service.call('DELETE', `/v1/team/invitations/${sent.body.id}`);
  const revoked = await getPage(service, path);
  assert.equal(revoked.status, 410);
  assert.match(revoked.html, /This invitation has been revoked\./);
  const other = `/invitations/${tokenOf(await invite(service, { email: 'eve@example.com' }))}`;
  service.clock.advance(7 * 86_400_000);
  const expired = await postForm(service, other, { name: 'Eve', password: NEW, repeated: NEW });
  assert.equal(expired.status, 410);
  assert.match(expired.html, /This invitation has expired\. Ask an admin for a new one\./);
});

test('Invitation page shows that a replaced link has a newer one', async (t) => {
  const service = await start(t);
  const first = await invite(service, { email: 'bob@example.com' });
  const path = `/invitations/${tokenOf(first)}`;
  const again = `/v1/team/invitations/${first.body.id}`;
  const { body } = await service.call<{ accept_url: string }>('POST', `${again}/resend`);
  const form = { name: 'Bob', password: NEW, repeated: NEW };
  for (const dead of [await getPage(service, path), await postForm(service, path, form)]) {
    assert.equal(dead.status, 410);
    assert.match(
      dead.html,
      /This link was replaced by a newer one\. Use the link in the latest email\./,
    );
  }
  const joined = await postForm(service, new URL(body.accept_url).pathname, form);
  assert.equal(joined.status, 303);
  assert.match(
    (await getPage(service, path)).html,
    /This invitation has already been accepted\. Sign in instead\./,
  );
});

test('Invitation page reports name and password errors together and keeps the name', async (t) => {
  const service = await start(t);
  const path = `/invitations/${tokenOf(await invite(service, { email: 'bob@example.com' }))}`;
  const empty = await postForm(service, path, { name: ' ', password: 'short', repeated: 'short' });
  assert.equal(empty.status, 422);
  assert.deepEqual(wrongOf(empty.html, 'name'), ['Error: Enter your name.']);
  assert.equal(
    wrongOf(empty.html, 'password')[0],
    'Error: The password must have 10 to 200 characters.',
  );
  const focused = ['name', 'email', 'password', 'repeated'].filter(
    (name) => 'autofocus' in fieldOf(empty.html, name),
  );
  assert.deepEqual(focused, ['name']);
  const form = { name: '<b & "B"\u0007', password: NEW, repeated: 'other' };
  const other = await postForm(service, path, form);
  assert.deepEqual(wrongOf(other.html, 'name'), [
    'Error: The name must not contain control characters.',
  ]);
  assert.equal(fieldOf(other.html, 'name').value, form.name);
  assert.equal((await membersOf(service)).length, 1);
});

test('Invitation page tells people already on the team to sign in', async (t) => {
  const service = await start(t);
  const path = `/invitations/${tokenOf(await invite(service, { email: 'admin1@example.com' }))}`;
  await service.makeMember('admin');
  const form = { name: 'Ann', password: NEW, repeated: NEW };
  const { status, html } = await postForm(service, path, form);
  assert.equal(status, 409);
  assert.match(html, /admin1@example\.com is already on the team\. Sign in instead\./);
});

test('Dashboard pages send CSP, caching and referrer policy headers', async (t) => {
  const service = await start(t);
  const link = await passwordLink(service);
  for (const path of ['/sign-in', '/forgot-password', link, '/password/x', '/invitations/x']) {
    const { headers, html } = await getPage(service, path);
    const policy = headers.get('content-security-policy')!;
    for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.split('; ').includes(part), part);
    // Pages that contain the token of a link are never stored.
    const isLink = path === link || path.endsWith('/x');
    assert.equal(headers.get('cache-control'), isLink ? 'no-store' : 'private, no-cache');
    // The page of an invalid link has no form and needs no origin.
    const referrer = path.endsWith('/x') ? 'no-referrer' : 'strict-origin';
    assert.equal(headers.get('referrer-policy'), referrer);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    assert.ok(html.includes(`<meta name="referrer" content="${referrer}"`));
  }
});

test('Dashboard pages ignore unknown query parameters and done values', async (t) => {
  const service = await start(t);
  for (const done of ['nonsense', 'constructor', 'toString', '__proto__', '']) {
    const { status, html } = await getPage(service, `/sign-in?utm_source=mail&done=${done}`);
    assert.equal(status, 200);
    assert.ok(!html.includes('role="status"'), done);
  }
  const asked = await start(t, { env: MAIL });
  assert.match((await getPage(asked, '/forgot-password?done=nonsense')).html, /<form/);
});

test('Dashboard forms reject oversized bodies with 413 and other types with 415', async (t) => {
  const service = await start(t);
  const much = await postForm(service, '/sign-in', { email: 'a'.repeat(20_000) });
  assert.equal(much.status, 413);
  const { status } = await service.call('POST', '/sign-in', { key: null, json: { email: OWNER } });
  assert.equal(status, 415);
});

test('The log contains no tokens of password or invitation links', async (t) => {
  const service = await start(t);
  const path = await passwordLink(service);
  const invitation = `/invitations/${tokenOf(await invite(service, { email: 'bob@example.com' }))}`;
  for (const link of [path, invitation]) {
    await getPage(service, link);
    await getPage(service, `${link}/`);
    await getPage(service, `${link}/and?more=x`);
    await getPage(service, `/${link}`);
    await postForm(service, link, {});
    await service.call('DELETE', link, { key: null });
  }
  const paths = service.logged.flatMap(({ fields }) => (fields.path ? [fields.path] : []));
  assert.ok(paths.includes('/password/:token') && paths.includes('/invitations/:token'));
  const log = JSON.stringify(service.logged);
  for (const link of [path, invitation]) assert.ok(!log.includes(link.split('/')[2]!), link);
});

test('Dashboard routes produce pages and are not in the OpenAPI document', async (t) => {
  const { call } = await start(t);
  const { body } = await call<{ paths: object }>('GET', '/openapi.json', { key: null });
  for (const { path, produces } of DASHBOARD_ROUTES) {
    assert.equal(produces![0], 'text/html');
    assert.ok(!(path.replace(/:(\w+)/g, '{$1}') in body.paths), path);
  }
});

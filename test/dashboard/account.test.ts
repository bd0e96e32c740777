/** The page of the own account: name, password, dates, and sessions. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserName } from '../../src/dashboard/account/browser-name.ts';
import { PASSWORD, signIn, trySignIn } from '../team/browser.ts';
import { newMember, startWithOwner } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';

test('Every role opens its account; only those with API keys get a link to them', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const viewer = await newMember(service, 'viewer');
  const page = await viewer.get('/account');
  assert.equal(page.status, 200);
  assert.match(mainOf(page.html), /viewer1@example\.com.*Viewer: read tests and reports/s);
  assert.doesNotMatch(page.html, /"\/api-keys"/);
  assert.match((await owner.get('/account')).html, /<a href="\/api-keys">Manage API keys/);
});

test('The name is changed, and a wrong one stays in the form', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const saved = await owner.post('/account/name', { name: 'Sam Rivera' });
  assert.deepEqual([saved.status, saved.location], [303, '/account?done=name']);
  const { html } = await owner.get('/account?done=name');
  assert.match(mainOf(html), /Name saved\./);
  assert.equal(fieldOf(html, 'name').value, 'Sam Rivera');
  const wrong = await owner.post('/account/name', { name: '   ' });
  assert.equal(wrong.status, 422);
  assert.match(mainOf(wrong.html), /The name must not be blank\./);
  assert.equal(fieldOf(wrong.html, 'name').value, '   ');
  assert.equal(
    (await service.call<{ member: { name: string } }>('GET', '/v1/me')).body.member.name,
    'Sam Rivera',
  );
  // A notice that is not on the list, such as an inherited property.
  assert.doesNotMatch((await owner.get('/account?done=constructor')).html, /role="status"/);
});

test('The password is changed with the current one; each mistake is explained at its field', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const other = await signIn(service, owner.email);
  const next = 'four words make one';
  const attempt = (fields: Record<string, string>) => owner.post('/account/password', fields);
  const mistakes: [fields: Record<string, string>, field: string, message: RegExp][] = [
    [
      { current_password: 'wrong guess!', password: next, repeated: next },
      'current_password',
      /The current password does not match your current password\./,
    ],
    [
      { current_password: PASSWORD, password: 'short', repeated: 'short' },
      'password',
      /The new password must have 10 to 200 characters\./,
    ],
    [
      { current_password: PASSWORD, password: next, repeated: 'another one' },
      'repeated',
      /The confirmation must match the new password\./,
    ],
  ];
  for (const [fields, field, message] of mistakes) {
    const { status, html } = await attempt(fields);
    assert.equal(status, 422, field);
    assert.match(mainOf(html), message);
    assert.equal(fieldOf(html, field)['aria-invalid'], 'true');
    assert.ok(!html.includes(next), 'passwords are never sent back');
  }
  const changed = await attempt({ current_password: PASSWORD, password: next, repeated: next });
  assert.equal(changed.location, '/account?done=password');
  assert.equal((await owner.get('/account')).status, 200);
  assert.equal((await other.call('GET', '/v1/me')).status, 401);
  assert.equal((await trySignIn(service, { email: owner.email, password: next })).status, 201);
});

test('A member without a password is told how to get one', async (t) => {
  const { service, owner } = await startWithOwner(t);
  await service.app.db.updateTable('members').set({ password_hash: null }).execute();
  const { html } = await owner.get('/account');
  assert.match(mainOf(html), /You have no password/);
  assert.doesNotMatch(html, /name="current_password"/);
});

test('Time zone and date format apply to all pages, and the browser decides by default', async (t) => {
  const { service, owner } = await startWithOwner(t);
  await service.app.db
    .updateTable('members')
    .set({ joined_at: '2026-01-05T22:30:00.000Z' })
    .execute();
  const { body } = await service.call<{ member: { id: string } }>('GET', '/v1/me');
  const timeOf = async () => {
    const { html } = await owner.get(`/team/members/${body.member.id}`);
    return /<time [^>]*data-format="time"[^>]*>[^<]*/.exec(html)![0];
  };
  assert.match(await timeOf(), /data-local(=""|>| )/);
  const fields = { time_zone: 'Asia/Tokyo', date_locale: 'de' };
  const saved = await owner.post('/account/dates', fields);
  assert.equal(saved.location, '/account?done=dates');
  const chosen = await timeOf();
  assert.match(chosen, />6\. Jan\. 2026, 07:30 MEZ|>6\. Jan\. 2026, 07:30 GMT\+9/);
  assert.doesNotMatch(chosen, /data-local/);
  const account = await owner.get('/account');
  assert.match(account.html, /<option (selected )?value="Asia\/Tokyo"( selected)?/);
  await owner.post('/account/dates', { time_zone: 'Asia/Tokyo', date_locale: '' });
  assert.match(await timeOf(), /data-zone="Asia\/Tokyo"/);
  const wrong = await owner.post('/account/dates', { time_zone: 'Mars/Base', date_locale: 'de' });
  assert.equal(wrong.status, 422);
  assert.match(mainOf(wrong.html), /The time zone must be an IANA time zone name/);
});

test('Sessions end one by one or all others at once; the own one signs out', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const others = [await signIn(service, owner.email), await signIn(service, owner.email)];
  const page = await owner.get('/account');
  assert.equal(mainOf(page.html).match(/This browser/g)!.length, 1);
  const one = await owner.post(`/account/sessions/${others[0]!.session.id}/end`);
  assert.equal(one.location, '/account?done=session');
  assert.equal((await others[0]!.call('GET', '/v1/me')).status, 401);
  assert.equal((await others[1]!.call('GET', '/v1/me')).status, 200);
  assert.equal(
    (await owner.post('/account/sessions/end-others')).location,
    '/account?done=sessions',
  );
  assert.equal((await others[1]!.call('GET', '/v1/me')).status, 401);
  assert.doesNotMatch((await owner.get('/account')).html, /End all other sessions/);
  const [own] = await service.app.db.selectFrom('sessions').select('id').execute();
  const signedOut = await owner.post(`/account/sessions/${own!.id}/end`);
  assert.equal(signedOut.location, '/sign-in?done=signed-out');
  assert.equal((await owner.get('/account')).status, 401);
});

test('Browsers are named as their owners would', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [userAgent, name] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/142.0 Safari/537.36 Edg/142.0`,
      'Edge on Windows',
    ],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Chrome/142.0 Safari/537.36`,
      'Chrome on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1',
      'Safari on iPhone',
    ],
    ['curl/8.5.0', 'curl'],
    ['<script>', 'Unknown browser'],
    [null, 'Unknown browser'],
  ] as const)
    assert.equal(browserName(userAgent), name);
});

/** The pages of the team: members, roles, invitations, leaving, and the transfer of ownership. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { testClock } from '../helpers/clock.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { type Invitation, type List, membersOf } from '../team/team-service.ts';
import { newMember, startWithOwner } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';

async function start(t: TestContext) {
  const { service, owner } = await startWithOwner(t);
  const idOf = async (email: string) =>
    (await membersOf(service)).find((member) => member.email === email)!.id;
  return { service, owner, idOf };
}

test('The team page lists the owner first and offers each role only what it may do', async (t) => {
  const { service, owner } = await start(t);
  const [viewer, member, admin] = [
    await newMember(service, 'viewer'),
    await newMember(service, 'member'),
    await newMember(service, 'admin'),
  ];
  const pages = {
    owner: await owner.get('/team'),
    admin: await admin.get('/team'),
    member: await member.get('/team'),
  };
  assert.match(mainOf(pages.owner.html), /^.*ownerYou.*owner@example\.com.*The admin/s);
  const offers = ({ html }: { html: string }) =>
    ['Invite someone', 'Transfer ownership', 'Leave the team'].filter((text) =>
      html.includes(text),
    );
  assert.deepEqual(offers(pages.owner), ['Invite someone', 'Transfer ownership']);
  assert.deepEqual(offers(pages.admin), ['Invite someone', 'Leave the team']);
  assert.deepEqual(offers(pages.member), ['Leave the team']);
  assert.equal((await viewer.get('/team')).status, 403);
});

test('An admin changes the role and the name of a member, but not of an admin or the owner', async (t) => {
  const { service, owner, idOf } = await start(t);
  const admin = await newMember(service, 'admin');
  const member = await newMember(service, 'member');
  const path = `/team/members/${await idOf(member.email)}`;
  const saved = await admin.post(path, { name: 'Zoë', role: 'viewer' });
  assert.deepEqual([saved.status, saved.location], [303, `${path}?done=role`]);
  assert.match(mainOf((await admin.get(`${path}?done=role`)).html), /must sign in again/);
  assert.equal((await member.get('/account')).status, 401, 'the session has ended');
  const renamed = await admin.post(path, { name: 'Zoë Z.', role: 'viewer' });
  assert.equal(renamed.location, `${path}?done=saved`);
  const wrong = await admin.post(path, { name: 'two\nlines', role: 'king' });
  assert.equal(wrong.status, 422);
  assert.match(mainOf(wrong.html), /The name must not contain control characters\./);
  assert.match(mainOf(wrong.html), /The role must be one of admin, member, viewer\./);
  assert.equal(fieldOf(wrong.html, 'name').value, 'two lines'.replace(' ', '\n'));
  const secondAdmin = await newMember(service, 'admin');
  for (const email of [secondAdmin.email, owner.email]) {
    const other = `/team/members/${await idOf(email)}`;
    assert.doesNotMatch((await admin.get(other)).html, /Name and role|Remove member/);
    assert.equal((await admin.post(other, { name: 'x', role: 'viewer' })).status, 403);
    assert.equal((await admin.post(`${other}/remove`)).status, 403);
  }
  assert.match((await owner.get(`/team/members/${await idOf(admin.email)}`)).html, /Remove member/);
});

test('Removing a member ends their session, after a page that says so', async (t) => {
  const { service, owner, idOf } = await start(t);
  const member = await newMember(service, 'member');
  const path = `/team/members/${await idOf(member.email)}`;
  const { html } = await owner.get(path);
  assert.match(
    mainOf(html),
    /sessions, API keys and connected assistants of The member end immediately/,
  );
  const removed = await owner.post(`${path}/remove`);
  assert.deepEqual([removed.status, removed.location], [303, '/team?done=removed']);
  assert.equal((await member.get('/account')).status, 401);
  const gone = await owner.get(path, { accept: 'text/html' });
  assert.equal(gone.status, 404);
  assert.match(gone.html, /<a class="button primary" href="\/team">Back to the list/);
});

test('Without outgoing email, an invitation shows its link once, which works', async (t) => {
  const { service, owner } = await start(t);
  const created = await owner.post('/team/invitations', {
    email: 'Bob@Example.com',
    role: 'viewer',
  });
  assert.equal(created.status, 200);
  assert.match(mainOf(created.html), /Send this link to bob@example\.com/);
  const link = /<code>(http[^<]*\/invitations\/[\w-]{43})<\/code>/.exec(created.html)![1]!;
  const list = await owner.get('/team');
  assert.doesNotMatch(list.html, /\/invitations\/[\w-]{43}/);
  assert.match(mainOf(list.html), /bob@example\.comViewer.*No email sent/);
  const { pathname } = new URL(link);
  const opened = await fetch(service.url + pathname);
  assert.equal(opened.status, 200);
  assert.match(await opened.text(), /join as a viewer/);
  const again = await owner.post('/team/invitations', { email: 'bob@example.com', role: 'admin' });
  assert.equal(again.status, 409);
  assert.match(mainOf(again.html), /already has a pending invitation/);
  assert.equal(fieldOf(again.html, 'email').value, 'bob@example.com');
  const invalid = await owner.post('/team/invitations', { email: 'bob', role: 'member' });
  assert.equal(invalid.status, 422);
  assert.match(mainOf(invalid.html), /The email address must be an email address\./);
});

test('An open invitation gets a new link or is revoked; an expired one is created again', async (t) => {
  const clock = testClock();
  const { service, owner } = await startWithOwner(t, { clock });
  await owner.post('/team/invitations', { email: 'bob@example.com', role: 'member' });
  const { body } = await service.call<List<Invitation>>('GET', '/v1/team/invitations');
  const path = `/team/invitations/${body.data[0]!.id}`;
  const resent = await owner.post(`${path}/resend`);
  assert.equal(resent.status, 200);
  assert.match(resent.html, /<code>http[^<]*\/invitations\/[\w-]{43}<\/code>/);
  const revoked = await owner.post(`${path}/revoke`);
  assert.equal(revoked.location, '/team?done=revoked');
  assert.doesNotMatch((await owner.get('/team')).html, /Open invitations/);
  const late = await owner.post(`${path}/resend`);
  assert.equal(late.status, 409);
  assert.match(mainOf(late.html), /no longer pending/);

  // The session would expire before the invitation does.
  await service.call('POST', '/v1/team/invitations', { json: { email: 'late@example.com' } });
  await service.app.db
    .updateTable('invitations')
    .set({ expires_at: '2026-01-01T00:00:00.000Z' })
    .where('email', '=', 'late@example.com')
    .execute();
  const list = await owner.get('/team');
  assert.match(mainOf(list.html), /late@example\.com.*Expired.*Invite again/s);
  const fields = { email: 'late@example.com', role: 'member' };
  assert.equal((await owner.post('/team/invitations', fields)).status, 200);
  assert.doesNotMatch(mainOf((await owner.get('/team')).html), /Expired/);
});

test('With outgoing email, the invitation is mailed and its status is shown', async (t) => {
  const sink = await startMailSink(t);
  const { owner } = await startWithOwner(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  const created = await owner.post('/team/invitations', {
    email: 'bob@example.com',
    role: 'member',
  });
  assert.match(mainOf(created.html), /Invitation to bob@example\.com is on its way/);
  await sink.waitFor(/\/invitations\/([\w-]+)/);
  const again = await owner.post('/team/invitations', { email: 'bob@example.com', role: 'member' });
  assert.match(mainOf(again.html), /Waiting to be sent|Sent/);
});

test('Ownership transferred only after the address of the new owner was typed', async (t) => {
  const { service, owner, idOf } = await start(t);
  const admin = await newMember(service, 'admin');
  const member = await idOf(admin.email);
  const wrong = await owner.post('/team/transfer', { member, confirmation: 'owner@example.com' });
  assert.equal(wrong.status, 422);
  assert.match(mainOf(wrong.html), /must match the address of the new owner: admin1@example\.com/);
  assert.match(
    wrong.html,
    /<div class="opened screen-only"><form method="post" action="\/team\/transfer"/,
  );
  assert.equal(fieldOf(wrong.html, 'confirmation').value, 'owner@example.com');
  assert.equal((await owner.post('/team/transfer', { confirmation: '' })).status, 422);
  assert.equal(
    (await admin.post('/team/transfer', { member, confirmation: admin.email })).status,
    403,
  );
  const done = await owner.post('/team/transfer', { member, confirmation: ' Admin1@example.com' });
  assert.deepEqual([done.status, done.location], [303, '/sign-in?done=transferred']);
  const roles = (await membersOf(service)).map(({ email, role }) => [email, role]);
  assert.deepEqual(roles, [
    [admin.email, 'owner'],
    [owner.email, 'admin'],
  ]);
  assert.equal((await owner.get('/team')).status, 401, 'both sign in again');
});

test('Everyone except the owner leaves the team from their account', async (t) => {
  const { service, owner } = await start(t);
  const viewer = await newMember(service, 'viewer');
  assert.match((await viewer.get('/account')).html, /action="\/account\/leave"/);
  assert.doesNotMatch((await owner.get('/account')).html, /action="\/account\/leave"/);
  assert.equal((await viewer.post('/account/leave')).status, 422, 'only with the button');
  assert.equal((await owner.post('/account/leave', { confirmed: 'yes' })).status, 403);
  const left = await viewer.post('/account/leave', { confirmed: 'yes' });
  assert.deepEqual([left.status, left.location], [303, '/sign-in?done=left']);
  assert.match(left.headers.get('set-cookie')!, /Max-Age=0/);
  assert.equal((await membersOf(service)).length, 1);
});

test('Names cannot inject markup or change the direction of the text around them', async (t) => {
  const { service, owner, idOf } = await start(t);
  const member = await newMember(service, 'member');
  const hostile = '"><script>alert(1)</script>\u202e';
  await service.app.db
    .updateTable('members')
    .set({ name: hostile })
    .where('email', '=', member.email)
    .execute();
  const id = await idOf(member.email);
  for (const path of ['/team', `/team/members/${id}`, '/audit-log', `/audit-log?member=${id}`]) {
    const { html, status } = await owner.get(path);
    assert.equal(status, 200, path);
    assert.doesNotMatch(html, /<script>alert/, path);
  }
  assert.match(
    (await owner.get('/team')).html,
    /<bdi>&quot;>&lt;script|<bdi>"&gt;&lt;script|<bdi>&quot;&gt;&lt;script/,
  );
});

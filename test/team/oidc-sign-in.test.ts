/** Members linked to accounts at the OpenID Connect provider, and roles from claims. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { transact } from '../../src/store/open.ts';
import { findOwner } from '../../src/team/members.ts';
import { signInWithClaims } from '../../src/team/oidc-sign-in.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { getPage, mainOf, postForm } from '../dashboard/pages.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { ownerBrowser } from './browser.ts';
import { startSigningProvider } from './signing-provider.ts';
import { auditOf, invite, type Member, membersOf } from './team-service.ts';

const OWNER = 'owner@example.com';
type Claims = Record<string, unknown>;

async function start(t: TestContext, env: Record<string, string> = {}) {
  const provider = await startSigningProvider(t);
  const service = await startTestService(t, {
    clock: testClock(Date.now()),
    env: { ...provider.env, ...env },
  });
  /** The status and text of the callback. */
  const signIn = async (sub: string, idToken: Claims) => {
    provider.person = { sub, idToken: { email_verified: true, ...idToken } };
    const { location, cookie } = await getPage(service, '/sign-in/oidc');
    const { pathname, search } = await provider.pass(location!);
    const page = await getPage(service, pathname + search, { cookie: cookie! });
    const session = page.headers.getSetCookie()[1]?.split(';')[0] ?? '';
    return { status: page.status, text: page.html && mainOf(page.html), session };
  };
  const memberOf = async (email: string) =>
    (await membersOf(service)).find((member) => member.email === email);
  const addMember = async (role: string) => {
    const { email, id } = await service.makeMember(role as 'admin');
    return { email, id };
  };
  return { provider, service, signIn, memberOf, addMember };
}

test('The first sign-in links the account; after that, its address does not matter', async (t) => {
  const { provider, service, signIn, memberOf, addMember } = await start(t);
  const { email, id } = await addMember('member');
  assert.equal((await memberOf(email))!.linked_account, null);
  assert.equal((await signIn('one', { email })).status, 303);
  const linked = (await memberOf(email))!.linked_account!;
  assert.equal(linked.issuer, provider.issuer);
  assert.deepEqual(await auditOf(service, { action: 'member.linked' }), [
    ['member.linked', { issuer: provider.issuer }],
  ]);
  // A new name, no address, an unverified one, and that of the owner.
  for (const claims of [
    { email: 'renamed@example.com' },
    { email: undefined },
    { email, email_verified: false },
    { email: OWNER },
  ]) {
    const { status, session } = await signIn('one', claims);
    assert.equal(status, 303, JSON.stringify(claims));
    const me = await fetch(`${service.url}/v1/me`, { headers: { cookie: session } });
    assert.equal(((await me.json()) as { member: Member }).member.id, id);
  }
  assert.equal((await memberOf(OWNER))!.linked_account, null);
  assert.equal((await auditOf(service, { action: 'member.linked' })).length, 1);
});

test('A member linked to another account cannot sign in until an admin unlinks it', async (t) => {
  const { service, signIn, memberOf, addMember } = await start(t);
  const { email, id } = await addMember('member');
  assert.equal((await signIn('one', { email })).status, 303);
  const { status, text } = await signIn('two', { email });
  assert.equal(status, 403);
  assert.match(
    text,
    /is linked to another account at 127\.0\.0\.1:\d+\. .*ask an admin to unlink it/,
  );
  const path = `/v1/team/members/${id}/linked_account`;
  const [other, self] = [
    await service.makeMember('member'),
    await service.makeKey('member', true, id),
  ];
  assert.equal((await service.call('DELETE', path, { key: other.key })).status, 403);
  const admin = await service.makeMember('admin');
  const unlinked = await service.call<Member>('DELETE', path, { key: admin.key });
  assert.deepEqual([unlinked.status, unlinked.body.linked_account], [200, null]);
  assert.equal((await signIn('two', { email })).status, 303);
  assert.equal((await signIn('one', { email })).status, 403);
  // Members can unlink their own account, and unlinking twice changes nothing.
  for (let i = 0; i < 2; i++)
    assert.equal((await service.call('DELETE', path, { key: self })).status, 200);
  assert.equal((await auditOf(service, { action: 'member.unlinked' })).length, 2);
  assert.equal((await memberOf(email))!.linked_account, null);
  // Admins can't unlink other admins or the owner.
  const owner = (await findOwner(service.app.db))!;
  for (const target of [owner.id, (await service.makeMember('admin')).id]) {
    const route = `/v1/team/members/${target}/linked_account`;
    assert.equal((await service.call('DELETE', route, { key: admin.key })).status, 403);
  }
});

test('The page of a member shows the linked account, and unlinks it', async (t) => {
  const { service, signIn, addMember, provider } = await start(t);
  const { email, id } = await addMember('member');
  const { cookie } = await ownerBrowser(service);
  const path = `/team/members/${id}`;
  assert.doesNotMatch((await getPage(service, path, { cookie })).html, /Linked account/);
  await signIn('one', { email });
  const { html } = await getPage(service, path, { cookie });
  assert.match(mainOf(html), /Linked accountSince /);
  assert.ok(
    mainOf(html).includes(
      `The member signs in with an account at ${new URL(provider.issuer).host}.`,
    ),
  );
  assert.ok(html.includes(`action="${path}/unlink"`));
  const answer = await postForm(service, `${path}/unlink`, {}, { cookie });
  assert.deepEqual([answer.status, answer.location], [303, `${path}?done=unlinked`]);
  assert.match(mainOf((await getPage(service, answer.location!, { cookie })).html), /unlinked\./);
});

test('Removing a member removes the link, and the account can join again', async (t) => {
  const { service, signIn, addMember, memberOf } = await start(t);
  const { email, id } = await addMember('member');
  await signIn('one', { email });
  await service.call('DELETE', `/v1/team/members/${id}`);
  assert.equal((await signIn('one', { email })).status, 403);
  await invite(service, { email, role: 'viewer' });
  assert.equal((await signIn('one', { email })).status, 303);
  assert.equal((await memberOf(email))!.role, 'viewer');
});

test('The owner command unlinks the account of an owner whose address changes', async (t) => {
  const { service, signIn } = await start(t);
  assert.equal((await signIn('one', { email: OWNER })).status, 303);
  await makeOwner(service.app, 'next@example.com');
  assert.equal((await signIn('one', { email: OWNER })).status, 403);
  assert.equal((await signIn('two', { email: 'next@example.com' })).status, 303);
});

test('An account that is unlinked during its sign-in gets no session', async (t) => {
  const { app } = await startTestService(t);
  const signIn = (afterwards: () => Promise<unknown>) =>
    signInWithClaims(
      {
        app,
        caller: { ip: null, userAgent: null },
        headers: new Headers(),
        requestId: app.newId('req'),
        signal: new AbortController().signal,
        async transact(work) {
          const result = await transact(app.db, work as never);
          await afterwards();
          return result as never;
        },
      },
      {
        idToken: { iss: 'https://id.example', sub: 'one', email: OWNER, email_verified: true },
        userinfo: {},
      },
    );
  await signIn(async () => {});
  await assert.rejects(
    signIn(() => makeOwner(app, 'next@example.com')),
    /Sign in again/,
  );
  const sessions = await app.db.selectFrom('sessions').select('id').execute();
  assert.deepEqual(sessions, []);
});

test('Another provider links accounts again by their verified address', async (t) => {
  const { service, signIn, memberOf, addMember } = await start(t);
  const { email, id } = await addMember('member');
  await service.app.db
    .updateTable('members')
    .set({ oidc_issuer: 'https://former.example', oidc_subject: 'x', oidc_linked_at: '2026-01-01' })
    .where('id', '=', id)
    .execute();
  assert.equal((await signIn('one', { email, email_verified: false })).status, 403);
  assert.equal((await signIn('one', { email })).status, 303);
  assert.notEqual((await memberOf(email))!.linked_account!.issuer, 'https://former.example');
});

// Roles.

const ROLES = 'groups=mail admins:admin,groups=staff:viewer';

test('Roles follow the claim at each sign-in, and end sessions when they change', async (t) => {
  const { service, signIn, memberOf } = await start(t, { DELIVERABILITY_OIDC_ROLES: ROLES });
  const email = 'mira@example.com';
  const roleAfter = async (groups: unknown, more: Claims = {}) => {
    const { status, text, session } = await signIn('one', { email, groups, ...more });
    assert.equal(status, 303, text);
    return { role: (await memberOf(email))!.role, session };
  };
  const first = await roleAfter(['staff', 'mail admins']);
  assert.equal(first.role, 'admin', 'the highest');
  assert.equal((await roleAfter('staff')).role, 'viewer', 'a text is one value');
  const me = await fetch(`${service.url}/v1/me`, { headers: { cookie: first.session } });
  assert.equal(me.status, 401);
  assert.equal((await roleAfter({ 'mail admins': {} })).role, 'admin', 'the names in an object');
  const overage = { _claim_names: { groups: 'src1' } };
  assert.equal((await roleAfter(undefined, overage)).role, 'admin', 'unknown groups take nothing');
  assert.ok(
    service.logged.some(
      ({ message, fields }) => /too many groups/.test(message) && fields.claims === 'groups',
    ),
  );
  assert.equal((await roleAfter(['Mail admins'])).role, 'member', 'no entry gives this role');
  assert.equal((await roleAfter([])).role, 'member');
  const changes = await auditOf(service, { action: 'member.changed' });
  assert.deepEqual(
    changes.map(([, details]) => (details as { role: unknown }).role),
    [
      { from: 'admin', to: 'member' },
      { from: 'viewer', to: 'admin' },
      { from: 'admin', to: 'viewer' },
    ],
  );
});

test('A claim neither gives nor takes ownership, nor a role that admins assigned', async (t) => {
  const { service, signIn, memberOf, addMember } = await start(t, {
    DELIVERABILITY_OIDC_ROLES: 'groups=staff:member',
  });
  assert.equal((await signIn('owner', { email: OWNER, groups: ['staff'] })).status, 303);
  assert.equal((await memberOf(OWNER))!.role, 'owner');
  for (const [before, groups, after] of [
    ['admin', ['staff'], 'admin'],
    ['admin', [], 'admin'],
    ['viewer', ['staff'], 'member'],
    ['viewer', [], 'viewer'],
    ['member', [], 'viewer'],
  ] as const) {
    const { email } = await addMember(before);
    assert.equal((await signIn(email, { email, groups })).status, 303);
    assert.equal((await memberOf(email))!.role, after, `${before} in ${groups.join()}`);
  }
  assert.equal((await auditOf(service, { action: 'ownership.transferred' })).length, 0);
});

test('A role from a claim lets people join without an invitation, only with a verified address', async (t) => {
  const { service, signIn, memberOf } = await start(t, { DELIVERABILITY_OIDC_ROLES: ROLES });
  const email = 'mira@example.com';
  assert.equal((await signIn('one', { email, groups: ['others'] })).status, 403);
  assert.equal(
    (await signIn('one', { email, groups: ['staff'], email_verified: false })).status,
    403,
  );
  assert.deepEqual(
    (await membersOf(service)).map((member) => member.email),
    [OWNER],
  );
  await invite(service, { email: 'bob@example.com', role: 'member' });
  await signIn('two', { email: 'bob@example.com', groups: ['mail admins'] });
  assert.equal((await memberOf('bob@example.com'))!.role, 'admin');
  assert.equal((await signIn('one', { email, groups: ['staff'], name: 'Mira' })).status, 303);
  assert.deepEqual(
    await auditOf(service, { action: 'member.created', object_id: (await memberOf(email))!.id }),
    [['member.created', { email, role: 'viewer', by: 'oidc' }]],
  );
});

/** Changes of the team from two nodes at once: one takes effect, and the other sees it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { App } from '../../../src/app.ts';
import { openSecrets } from '../../../src/keys/secret-key.ts';
import { createSecretBox } from '../../../src/lib/crypto.ts';
import { transact } from '../../../src/store/open.ts';
import { findOwner } from '../../../src/team/members.ts';
import { signInWithClaims } from '../../../src/team/oidc-sign-in.ts';
import { makeOwner } from '../../../src/team/owner.ts';
import { insertPasswordLink } from '../../../src/team/passwords.ts';
import { startMailSink } from '../../outbox/mail-sink.ts';
import { ROUNDS, SETUPS, statusesOf } from './nodes.ts';

const PASSWORD = 'four words make one';

/** A sign-in with a verified address, after the provider has confirmed it. */
const signInByClaims = (
  { app }: { app: App },
  claims: { sub: string; email: string; groups?: string[] },
) =>
  signInWithClaims(
    {
      app,
      caller: { ip: null, userAgent: null },
      headers: new Headers(),
      requestId: app.newId('req'),
      signal: new AbortController().signal,
      transact: (work) => transact(app.db, work),
    },
    {
      idToken: { iss: 'https://id.example', email_verified: true, ...claims },
      userinfo: { name: 'New' },
    },
  );

for (const { on, skip, start } of SETUPS) {
  test(`Of two concurrent ownership transfers one succeeds (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    let key = a.key;
    for (let round = 0; round < ROUNDS / 2; round++) {
      const members = [await a.makeMember('viewer'), await a.makeMember('viewer')];
      const transfer = (node: typeof a, id: string) =>
        node.call('POST', '/v1/team/transfer-ownership', { key, json: { new_owner_id: id } });
      const responses = await Promise.all([
        transfer(a, members[0]!.id),
        transfer(b, members[1]!.id),
      ]);
      assert.deepEqual(statusesOf(responses), [200, 403]);
      const owners = await a.app.db
        .selectFrom('members')
        .select('id')
        .where('role', '=', 'owner')
        .execute();
      const winner = members[responses.findIndex(({ status }) => status === 200)]!;
      assert.deepEqual(owners, [{ id: winner.id }]);
      key = await a.makeKey('owner', true, winner.id);
    }
  });

  test(`A transfer and the owner command leave the owner of the command (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    const { db } = a.app;
    for (let round = 0; round < ROUNDS; round++) {
      const owner = (await findOwner(db))!;
      const key = await a.makeKey('owner', true, owner.id);
      const next = await a.makeMember('viewer');
      // A member, or a new address for the account of the owner at that time.
      const email =
        round % 2 === 0 ? (await a.makeMember('viewer')).email : `owner${round}@example.net`;
      const [transferred] = await Promise.all([
        a.call('POST', '/v1/team/transfer-ownership', { key, json: { new_owner_id: next.id } }),
        makeOwner(b.app, email),
      ]);
      // The command came before the request, or between its two authorizations.
      assert.ok([200, 401, 403].includes(transferred.status), transferred.text);
      const owners = await db
        .selectFrom('members')
        .select('email')
        .where('role', '=', 'owner')
        .execute();
      assert.deepEqual(owners, [{ email }]);
    }
  });

  test(`Of two admins who remove each other one stays (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    const owner = a.key;
    for (let round = 0; round < ROUNDS / 2; round++) {
      // Only the owner may change admins, so one of the two is the owner.
      const admin = await a.makeMember('admin');
      const next = await a.makeMember('viewer');
      const responses = await Promise.all([
        a.call('DELETE', `/v1/team/members/${admin.id}`, { key: owner }),
        b.call('DELETE', `/v1/team/members/${next.id}`, { key: admin.key }),
      ]);
      const left = await a.app.db
        .selectFrom('members')
        .select('id')
        .where('id', 'in', [admin.id, next.id])
        .execute();
      assert.equal(responses[0]!.status, 200);
      // Removed before the transaction began: 401. Otherwise, the admin acted first.
      assert.equal(left.length, responses[1]!.status === 200 ? 0 : 1, responses[1]!.text);
      assert.ok([200, 401].includes(responses[1]!.status), responses[1]!.text);
    }
  });

  test(`A demoted admin leaves no pending invitation (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const admin = await a.makeMember('admin');
      const email = `invited${round}@example.com`;
      const [invited, demoted] = await Promise.all([
        a.call('POST', '/v1/team/invitations', { key: admin.key, json: { email } }),
        b.call('PATCH', `/v1/team/members/${admin.id}`, { key: a.key, json: { role: 'viewer' } }),
      ]);
      assert.equal(demoted.status, 200, demoted.text);
      assert.ok([201, 403].includes(invited.status), invited.text);
      const pending = await a.app.db
        .selectFrom('invitations')
        .select('email')
        .where('invited_by', '=', admin.id)
        .where('revoked_at', 'is', null)
        .execute();
      assert.deepEqual(pending, []);
    }
  });

  test(`A removed member leaves no API key (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const member = await a.makeMember('member');
      const [created, removed] = await Promise.all([
        a.call('POST', '/v1/api_keys', { key: member.key, json: { name: 'Late' } }),
        b.call('DELETE', `/v1/team/members/${member.id}`, { key: a.key }),
      ]);
      assert.equal(removed.status, 200, removed.text);
      assert.ok([201, 401].includes(created.status), created.text);
      const keys = await a.app.db
        .selectFrom('api_keys')
        .select('id')
        .where('member_id', '=', member.id)
        .execute();
      assert.deepEqual(keys, []);
    }
  });

  test(`An invitation is accepted once, and none is left for a member (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS / 2; round++) {
      const email = `new${round}@example.com`;
      const invite = (node: typeof a) =>
        node.call<{ accept_url: string }>('POST', '/v1/team/invitations', {
          key: a.key,
          json: { email },
        });
      const { body } = await invite(a);
      const token = body.accept_url.split('/').at(-1)!;
      const accept = (node: typeof a, name: string) =>
        node.call('POST', '/v1/team/invitations/accept', {
          key: null,
          json: { token, name, password: PASSWORD },
        });
      const [first, second, again] = await Promise.all([accept(a, 'A'), accept(b, 'B'), invite(b)]);
      assert.deepEqual(statusesOf([first!, second!]), [201, 410]);
      assert.equal(again!.status, 409, again!.text);
      const members = await a.app.db
        .selectFrom('members')
        .select('id')
        .where('email', '=', email)
        .execute();
      assert.equal(members.length, 1);
      const open = await a.app.db
        .selectFrom('invitations')
        .select('id')
        .where('email', '=', email)
        .where('accepted_at', 'is', null)
        .execute();
      assert.deepEqual(open, []);
    }
  });

  test(`Two concurrent OpenID Connect sign-ins accept an invitation once (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const email = `new${round}@example.com`;
      await a.call('POST', '/v1/team/invitations', { json: { email } });
      const [first, second] = await Promise.all([
        signInByClaims(a, { sub: email, email }),
        signInByClaims(b, { sub: email, email }),
      ]);
      assert.equal(first!.member.id, second!.member.id);
      const entries = await a.app.db
        .selectFrom('audit_log')
        .select('id')
        .where('action', '=', 'invitation.accepted')
        .where(
          'object_id',
          'in',
          a.app.db.selectFrom('invitations').select('id').where('email', '=', email),
        )
        .execute();
      assert.equal(entries.length, 1);
    }
  });

  test(`Of two accounts with one address one is linked, and once (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS / 2; round++) {
      const { email } = await a.makeMember('viewer');
      const subjects = [`${email} 1`, `${email} ${round % 2 === 0 ? 1 : 2}`];
      const outcomes = await Promise.allSettled([
        signInByClaims(a, { sub: subjects[0]!, email }),
        signInByClaims(b, { sub: subjects[1]!, email }),
      ]);
      const signedIn = outcomes.filter(({ status }) => status === 'fulfilled');
      assert.equal(signedIn.length, subjects[0] === subjects[1] ? 2 : 1);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected')
          assert.match(String(outcome.reason), /linked to another/);
      const entries = await a.app.db
        .selectFrom('audit_log')
        .select('id')
        .where('action', '=', 'member.linked')
        .where('member_email', '=', email)
        .execute();
      assert.equal(entries.length, 1);
    }
  });

  test(`Two concurrent sign-ins with a role add one member (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t, {
      env: { DELIVERABILITY_OIDC_ROLES: 'groups=mail admins:admin' },
    });
    for (let round = 0; round < ROUNDS / 2; round++) {
      const email = `joining${round}@example.com`;
      const claims = { sub: email, email, groups: ['mail admins'] };
      const [first, second] = await Promise.all([
        signInByClaims(a, claims),
        signInByClaims(b, claims),
      ]);
      assert.equal(first!.member.id, second!.member.id);
      assert.deepEqual([first!.member.role, second!.member.role], ['admin', 'admin']);
    }
  });

  test(`A password link works once (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    // The route allows 20 requests a minute.
    for (let round = 0; round < 9; round++) {
      const { id } = await a.makeMember('viewer');
      const { token } = await transact(a.app.db, (tx) => insertPasswordLink(tx, a.app, id, 60_000));
      const confirm = (node: typeof a) =>
        node.call('POST', '/v1/password_resets/confirm', {
          key: null,
          json: { token, password: PASSWORD },
        });
      assert.deepEqual(statusesOf(await Promise.all([confirm(a), confirm(b)])), [200, 410]);
    }
  });

  test(`Concurrent requests create at most five password links (${on})`, { skip }, async (t) => {
    const sink = await startMailSink(t);
    const env = {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'notices@example.com',
    };
    const [a, b] = await start(t, { env });
    for (let round = 0; round < ROUNDS / 2; round++) {
      const { id, email } = await a.makeMember('viewer');
      for (let i = 0; i < 4; i++)
        await transact(a.app.db, (tx) => insertPasswordLink(tx, a.app, id, 3_600_000));
      const ask = (node: typeof a) =>
        node.call('POST', '/v1/password_resets', { key: null, json: { email } });
      await Promise.all([ask(a), ask(b)]);
      const links = await a.app.db
        .selectFrom('password_links')
        .select('hash')
        .where('member_id', '=', id)
        .execute();
      assert.equal(links.length, 5);
    }
  });

  test(`Of two PATCH requests with the same If-Match one succeeds (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    const test = await a.createTest();
    const domain = (
      await a.call<{ id: string }>('POST', '/v1/domains', { json: { name: 'example.com' } })
    ).body;
    const objects = [
      ['/v1/me', { name: 'Ann' }, { name: 'Bob' }],
      [`/v1/tests/${test.id}`, { name: 'Ann' }, { name: 'Bob' }],
      [`/v1/domains/${domain.id}`, { dkim_selectors: ['a'] }, { dkim_selectors: ['b'] }],
    ] as const;
    for (const [path, one, other] of objects)
      for (let round = 0; round < 4; round++) {
        // A value that differs from both, so that both requests change something.
        const reset =
          'name' in one ? { name: `Round ${round}` } : { dkim_selectors: [`r${round}`] };
        const { headers } = await a.call('PATCH', path, { key: a.key, json: reset });
        const etag = headers.get('etag') ?? (await a.call('GET', path)).headers.get('etag')!;
        const patch = (node: typeof a, json: object) =>
          node.call('PATCH', path, { key: a.key, json, headers: { 'if-match': etag } });
        const responses = await Promise.all([patch(a, one), patch(b, other)]);
        assert.deepEqual(statusesOf(responses), [200, 412], path);
      }
  });

  test(`Of two nodes with different keys on an empty database one starts (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      await a.app.db.deleteFrom('service_facts').execute();
      const open = (node: typeof a, key: string) =>
        openSecrets({ ...node.app.config, SECRET_KEY: key }, key, {
          db: node.app.db,
          log: node.app.log,
        });
      const keys = ['the first secret key', 'the second secret key'];
      const results = await Promise.allSettled([open(a, keys[0]!), open(b, keys[1]!)]);
      assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
      const winner = keys[results.findIndex(({ status }) => status === 'fulfilled')]!;
      const { value } = await a.app.db
        .selectFrom('service_facts')
        .select('value')
        .where('name', '=', 'secret_key_proof')
        .executeTakeFirstOrThrow();
      assert.equal(createSecretBox(winner).open(value, 'secret_key_proof'), 'deliverability');
    }
  });
}

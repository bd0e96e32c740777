/** Idempotency-Key on public operations: only the holder of the link token gets a stored response. */

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DOCUMENTED_ROUTES } from '../../src/features.ts';
import { randomSecret, sha256 } from '../../src/lib/crypto.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { rejectUpdates } from '../helpers/stored-bytes.ts';
import { givePassword, PASSWORD, signIn, trySignIn } from '../team/browser.ts';
import { auditOf, invite, membersOf, tokenOf } from '../team/team-service.ts';

const OWNER = 'owner@example.com';
const HOUR = 3_600_000;
const ACCEPT = '/v1/team/invitations/accept';
const CONFIRM = '/v1/password_resets/confirm';

type Body = Record<string, string> & { errors: { param: string }[] };

async function start(t: TestContext) {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const post = (path: string, json: object, idempotencyKey?: string) =>
    service.call<Body>('POST', path, {
      key: null,
      json,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    });
  const rows = () => service.app.db.selectFrom('idempotency_keys').selectAll().execute();
  return { ...service, service, clock, post, rows };
}

type Started = Awaited<ReturnType<typeof start>>;

async function invited({ service }: Started, email = 'bob@example.com') {
  return { token: tokenOf(await invite(service, { email })), name: 'Bob', password: PASSWORD };
}

async function resettable({ app, clock }: Started) {
  const owner = await app.db.selectFrom('members').select('id').executeTakeFirstOrThrow();
  const token = randomSecret();
  const link = {
    hash: sha256(token),
    member_id: owner.id,
    created_at: new Date(clock.now()).toISOString(),
    expires_at: new Date(clock.now() + HOUR).toISOString(),
    used_at: null,
  };
  await app.db.insertInto('password_links').values(link).execute();
  return { token, password: 'a password after the reset' };
}

describe('Idempotency-Key on accepting an invitation', () => {
  it('replays the response for 24 hours', async (t) => {
    const started = await start(t);
    const { post, clock, service } = started;
    const json = await invited(started);
    const lost = await post(ACCEPT, json, 'k1');
    assert.equal(lost.status, 201, lost.text);
    assert.equal(lost.headers.get('idempotent-replayed'), null);
    clock.advance(24 * HOUR - 1);
    const again = await post(ACCEPT, json, 'k1');
    assert.deepEqual([again.status, again.text], [201, lost.text]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.headers.get('location'), lost.headers.get('location'));
    assert.equal((await membersOf(service)).length, 2);
    assert.equal((await auditOf(service, { action: 'invitation.accepted' })).length, 1);
    for (const key of ['k2', undefined]) assert.equal((await post(ACCEPT, json, key)).status, 410);
    clock.advance(1);
    assert.equal((await post(ACCEPT, json, 'k1')).status, 410);
  });

  it('does not replay to a caller with a different token', async (t) => {
    const started = await start(t);
    const { post } = started;
    const bob = await invited(started);
    assert.equal((await post(ACCEPT, bob, 'k1')).status, 201);
    const stranger = await post(ACCEPT, { ...bob, token: randomSecret() }, 'k1');
    assert.deepEqual([stranger.status, stranger.body.code], [404, 'not_found']);
    const carol = await post(ACCEPT, await invited(started, 'carol@example.com'), 'k1');
    assert.deepEqual([carol.status, carol.body.email], [201, 'carol@example.com']);
  });

  it('rejects the same key with a different name or password with 422', async (t) => {
    const started = await start(t);
    const { post } = started;
    const json = await invited(started);
    assert.equal((await post(ACCEPT, json, 'k1')).status, 201);
    for (const other of [{ name: 'Rob' }, { password: 'another long password' }]) {
      const { status, body } = await post(ACCEPT, { ...json, ...other }, 'k1');
      assert.deepEqual([status, body.code], [422, 'idempotency_mismatch']);
    }
  });

  it('stores nothing for a rejected request, which can be retried', async (t) => {
    const started = await start(t);
    const { post, rows } = started;
    const json = await invited(started);
    const common = { ...json, password: 'password123' };
    for (const [refused, status] of [
      [{ ...json, token: 'x' }, 404],
      [common, 422],
    ] as const)
      assert.equal((await post(ACCEPT, refused, 'k1')).status, status);
    assert.deepEqual(await rows(), []);
    assert.equal((await post(ACCEPT, json, 'k1')).status, 201);
  });

  it('concurrent requests add the member once', async (t) => {
    const started = await start(t);
    const { post, service } = started;
    const json = await invited(started);
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(ACCEPT, json, 'k1')));
    for (const { status, body } of answers)
      assert.ok(status === 201 || body.code === 'idempotency_in_progress', `${status}`);
    assert.ok(answers.some(({ status }) => status === 201));
    assert.equal((await membersOf(service)).length, 2);
  });
});

describe('Idempotency-Key on confirming a password reset', () => {
  it('replays the response without setting the password or a session again', async (t) => {
    const started = await start(t);
    const { post, service } = started;
    await givePassword(service, OWNER);
    const json = await resettable(started);
    const lost = await post(CONFIRM, json, 'k1');
    assert.equal(lost.status, 200, lost.text);
    // The password is set again in between, and the replay must not change it.
    await givePassword(service, OWNER);
    const browser = await signIn(service, OWNER);
    const again = await post(CONFIRM, json, 'k1');
    assert.deepEqual([again.status, again.text], [200, lost.text]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.headers.get('set-cookie'), null);
    assert.equal((await browser.call('GET', '/v1/me')).status, 200);
    assert.equal((await auditOf(service, { action: 'password.reset' })).length, 1);
    assert.equal((await post(CONFIRM, json)).status, 410);
    const other = await post(CONFIRM, { ...json, password: 'yet another password' }, 'k1');
    assert.deepEqual([other.status, other.body.code], [422, 'idempotency_mismatch']);
  });
});

it('Idempotent responses of link operations are stored in the write’s transaction', async (t) => {
  const started = await start(t);
  const { app, post, rows, service } = started;
  const asked = [
    [ACCEPT, await invited(started), 201],
    [CONFIRM, await resettable(started), 200],
  ] as const;
  const accept = await rejectUpdates(app.db, 'idempotency_keys');
  for (const [path, json] of asked) assert.equal((await post(path, json, 'k1')).status, 500, path);
  await accept();
  assert.equal((await membersOf(service)).length, 1);
  assert.deepEqual(await rows(), []);
  for (const [path, json, status] of asked)
    assert.equal((await post(path, json, 'k1')).status, status, path);
});

it('Idempotency rows contain no token or password hash in clear', async (t) => {
  const started = await start(t);
  const { post, rows } = started;
  const json = await invited(started);
  assert.equal((await post(ACCEPT, json, 'k1')).status, 201);
  const [row] = await rows();
  assert.equal(row!.caller, `link:${sha256(json.token)}`);
  const parts = ['acceptInvitation', ACCEPT, '', null, json];
  const kept = JSON.stringify(row);
  for (const secret of [json.token, json.password, sha256(JSON.stringify(parts))])
    assert.ok(!kept.includes(secret), secret);
});

it('Link operations reject an Idempotency-Key of invalid length with 422', async (t) => {
  const started = await start(t);
  const { post, rows } = started;
  for (const [path, json] of [
    [ACCEPT, await invited(started)],
    [CONFIRM, await resettable(started)],
  ] as const)
    for (const key of ['', 'x'.repeat(256)]) {
      const { status, body } = await post(path, json, key);
      assert.deepEqual([status, body.errors[0]!.param], [422, 'Idempotency-Key'], path);
    }
  assert.deepEqual(await rows(), []);
});

describe('Idempotency-Key without a known caller', () => {
  it('is ignored on sign-in: every request checks the password and creates a session', async (t) => {
    const { service, rows } = await start(t);
    await givePassword(service, OWNER);
    const attempt = (password: string, key = 'k1') =>
      trySignIn(service, { email: OWNER, password }, { 'idempotency-key': key });
    const [one, two] = [await attempt(PASSWORD), await attempt(PASSWORD)];
    assert.deepEqual([one.status, two.status], [201, 201]);
    assert.notEqual(one.body.id, two.body.id);
    assert.notEqual(one.headers.get('set-cookie'), two.headers.get('set-cookie'));
    assert.equal((await attempt('not the password')).status, 401);
    assert.equal((await attempt(PASSWORD, 'x'.repeat(256))).status, 201);
    assert.deepEqual(await rows(), []);
  });

  it('is documented for every POST operation as supported or ignored', async (t) => {
    const { call } = await start(t);
    const { body } = await call<{ paths: Record<string, Record<string, Operation>> }>(
      'GET',
      '/openapi.json',
    );
    const posts = DOCUMENTED_ROUTES.filter(({ method }) => method === 'POST');
    const without = new Set<string>();
    for (const { path } of posts) {
      const { operationId, parameters, description } =
        body.paths[path.replace(/:(\w+)/g, '{$1}')]!.post!;
      const takes = JSON.stringify(parameters).includes('Idempotency-Key');
      const ignored = description?.includes('Ignores `Idempotency-Key`.');
      assert.equal(takes, !ignored, operationId);
      if (!takes) without.add(operationId);
    }
    assert.deepEqual([...without].sort(), [
      'createSession',
      'postTlsReport',
      'requestPasswordReset',
    ]);
  });
});

interface Operation {
  operationId: string;
  description?: string;
  parameters: { name: string }[];
}

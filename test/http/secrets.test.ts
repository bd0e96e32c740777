/** Database, log, and error responses contain no secrets in clear text. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { type CallOptions, startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { leaksIn } from '../helpers/leaks.ts';
import { onPostgres } from '../helpers/store.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import { type MailSink, startMailSink } from '../outbox/mail-sink.ts';
import { browserOf, type Session } from '../team/browser.ts';
import { ageMail, type Invitation } from '../team/team-service.ts';

const OWNER = { email: 'owner@example.com', password: 'the first password of all' };
const REPLACED = 'the password after the reset';
const CHANGED = 'the password after the change';
const ACCEPTED = 'the password of an invited member';
const WRONG = 'a password that is not right';

interface Scene extends TestService {
  sink: MailSink;
  /** By name, for the message of a failed test. */
  secrets: Map<string, string>;
  /** The bodies and header fields of error responses. */
  refusals: string[];
  ask: TestService['call'];
}

async function startScene(t: TestContext): Promise<Scene> {
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
      DELIVERABILITY_OWNER_EMAIL: OWNER.email,
      DELIVERABILITY_OWNER_PASSWORD: OWNER.password,
    },
  });
  const refusals: string[] = [];
  const secrets = new Map([
    ['first password', OWNER.password],
    ['password after the reset', REPLACED],
    ['password after the change', CHANGED],
    ['password of an invited member', ACCEPTED],
    ['wrong password', WRONG],
    ['key of the owner', service.key],
  ]);
  const ask: TestService['call'] = async (method, path, options) => {
    const answer = await service.call(method, path, options);
    if (answer.status >= 400) refusals.push(JSON.stringify([...answer.headers]) + answer.text);
    return answer as never;
  };
  return { ...service, sink, secrets, refusals, ask };
}

const idempotent = (name: string) => ({ 'idempotency-key': name });

async function makeKeys({ ask, secrets, key, makeMember }: Scene) {
  const json = { name: 'build' };
  const headers = idempotent('keys');
  for (const livemode of [true, false]) {
    const made = await ask<{ id: string; key: string }>('POST', '/v1/api_keys', {
      json: { name: 'k', livemode },
    });
    secrets.set(`key, live ${livemode}`, made.body.key);
    await ask('DELETE', `/v1/api_keys/${made.body.id}`);
    assert.equal((await ask('GET', '/v1/me', { key: made.body.key })).status, 401);
  }
  const kept = await ask<{ key: string }>('POST', '/v1/api_keys', { json, headers });
  secrets.set('key in a kept answer', kept.body.key);
  const replayed = await ask<{ key: string }>('POST', '/v1/api_keys', { json, headers });
  assert.equal(replayed.body.key, kept.body.key);
  await ask('POST', '/v1/api_keys', { json: { name: 'other' }, headers });
  const viewer = await makeMember('viewer');
  secrets.set('key of a viewer', viewer.key);
  await ask('POST', '/v1/api_keys', { json, key: viewer.key });
  await ask('POST', '/v1/api_keys', { json: { name: 'k', role: key } });
}

async function inviteSomebody({ app, ask, secrets }: Scene) {
  const json = { email: 'bob@example.com' };
  const path = '/v1/team/invitations';
  const first = await ask<Invitation>('POST', path, { json, headers: idempotent('first') });
  await ageMail({ app });
  const resent = await ask<Invitation>('POST', `${path}/${first.body.id}/resend`);
  const revoked = await ask<Invitation>('POST', path, { json: { email: 'dan@example.com' } });
  await ask('DELETE', `${path}/${revoked.body.id}`);
  const [old, used, dead] = [first, resent, revoked].map(
    ({ body }) => body.accept_url.split('/').at(-1)!,
  ) as [string, string, string];
  secrets.set('replaced invitation', old).set('used invitation', used).set('revoked', dead);
  const accept = (token: string) =>
    ask('POST', `${path}/accept`, { key: null, json: { token, name: 'Bob', password: ACCEPTED } });
  const statuses = [old, dead, used, used];
  const answers = [];
  for (const token of statuses) answers.push((await accept(token)).status);
  assert.deepEqual(answers, [410, 410, 201, 410]);
}

async function signInAndOut({ ask, secrets, ...service }: Scene) {
  const signIn = (password: string) =>
    ask<Session>('POST', '/v1/sessions', { key: null, json: { ...OWNER, password } });
  assert.equal((await signIn(WRONG)).status, 401);
  const [one, two] = [await signIn(OWNER.password), await signIn(OWNER.password)];
  const [first, second] = [browserOf(service, one), browserOf(service, two)];
  secrets.set('session', first.token).set('ended session', second.token);
  const as = (cookie: string): CallOptions => ({
    key: null,
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
  });
  assert.equal((await ask('DELETE', '/v1/sessions/current', as(second.cookie))).status, 200);
  assert.equal((await ask('GET', '/v1/me', as(second.cookie))).status, 401);
  const change = { password: CHANGED, current_password: OWNER.password };
  const wrong = { ...change, current_password: WRONG };
  assert.equal((await ask('PATCH', '/v1/me', { ...as(first.cookie), json: wrong })).status, 422);
  assert.equal((await ask('PATCH', '/v1/me', { ...as(first.cookie), json: change })).status, 200);
}

async function resetPassword({ ask, secrets, sink, app }: Scene) {
  const request = { key: null, json: { email: OWNER.email } };
  assert.equal((await ask('POST', '/v1/password_resets', request)).status, 202);
  // Waits until the email has been sent.
  await app.scheduler.stop();
  const mail = sink.taken.map(({ raw }) => raw.toString().replace(/=\r\n/g, '')).at(-1)!;
  const token = /\/password\/([\w-]+)/.exec(mail)![1]!;
  secrets.set('link to set a password', token);
  const path = '/v1/password_resets/confirm';
  const confirm = (password: string) => ask('POST', path, { key: null, json: { token, password } });
  const short = await confirm('short');
  const set = await confirm(REPLACED);
  const again = await confirm(REPLACED);
  assert.deepEqual([short.status, set.status, again.status], [422, 200, 410]);
}

/** Valid, revoked, and incomplete links. */
async function shareReports({ ask, secrets, getTest }: Scene) {
  const sent = await ask<{ id: string }>('POST', '/v1/tests', {
    body: goodMessage(),
    headers: { 'content-type': 'message/rfc822' },
  });
  const { id } = await getTest(sent.body.id, '?wait=50');
  const json = { test_ids: [id] };
  const share = async (name: string, headers = {}) => {
    const { body } = await ask<{ id: string; token: string }>('POST', '/v1/reports/share', {
      json,
      headers,
    });
    secrets.set(name, body.token);
    return body;
  };
  const revoked = await share('link to a revoked report');
  const { token } = await share('link to a report', idempotent('share'));
  await ask('DELETE', `/v1/reports/shared/${revoked.id}`);
  for (const [one, status] of [
    [token, 200],
    [revoked.token, 410],
  ] as const)
    for (const path of [
      `/reports/public/${one}`,
      `/reports/public/${one}.pdf`,
      `/badges/${one}.svg`,
    ])
      assert.equal((await ask('GET', path, { key: null })).status, status);
}

/** Secrets in the wrong place: each request is rejected, and no response repeats them. */
async function misplace({ ask, secrets }: Scene) {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const secret of [...secrets.values()]) {
    const word = encodeURIComponent(secret);
    for (const end of ['', '.pdf', '/'])
      await ask('GET', `/reports/public/${word}${end}`, { key: null });
    for (const end of ['svg', 'json', 'png'])
      await ask('GET', `/badges/${word}.${end}`, { key: null });
    // A link token instead of an ID.
    if (/^[\w-]{40,}$/.test(secret)) await ask('DELETE', `/v1/reports/shared/${secret}`);
    for (const link of ['password', 'invitations']) {
      await ask('GET', `/${link}/${word}`, { key: null });
      await ask('PATCH', `/${link}/${word}`, { key: null });
      await ask('POST', `/${link}/${word}`, { key: null, headers: form, body: `password=${word}` });
    }
    // An API key instead of its ID; such a path is logged.
    if (secret.startsWith('dlv_')) await ask('DELETE', `/v1/api_keys/${secret}`);
    await ask('GET', `/v1/tests?q=x&limit=${word}`);
    await ask('GET', '/v1/tests', { key: secret });
    await ask('POST', '/v1/team/invitations', { json: { email: secret, role: secret } });
    await ask('POST', '/v1/tests', { json: { name: 7, metadata: secret, kind: secret } });
    await ask('POST', '/v1/sessions', { key: null, json: { email: 7, password: secret } });
    const json = { 'content-type': 'application/json' };
    await ask('POST', '/v1/sessions', { key: null, headers: json, body: `{"password":"${secret}` });
    const cookie = `deliverability=${word}`;
    await ask('GET', '/v1/me', { key: null, headers: { cookie } });
  }
}

test('Database, log and error responses contain no secret in clear text', async (t) => {
  const scene = await startScene(t);
  const { app, folder, logged, refusals, secrets } = scene;
  await makeKeys(scene);
  await inviteSomebody(scene);
  await signInAndOut(scene);
  await shareReports(scene);
  await resetPassword(scene);
  await misplace(scene);
  assert.ok(secrets.size >= 18 && refusals.length > 100, `${secrets.size} ${refusals.length}`);

  const written = await storedBytes(app, folder);
  assert.ok(written.includes('bob@example.com'), 'what is no secret is found');
  assert.deepEqual(leaksIn(written, secrets), []);
  if (!onPostgres) await sql`pragma wal_checkpoint(truncate)`.execute(app.db);
  assert.deepEqual(leaksIn(await storedBytes(app, folder), secrets), []);

  const log = logged.map((line) => JSON.stringify(line));
  assert.ok(log.some((line) => line.includes('/v1/password_resets/confirm')));
  for (const line of log) assert.deepEqual(leaksIn(Buffer.from(line), secrets), [], line);
  for (const text of refusals) assert.deepEqual(leaksIn(Buffer.from(text), secrets), [], text);
});

test('An unreachable mail server leaks neither its password nor links', async (t) => {
  const password = 'password-of-the-mail-server';
  const { app, call, folder, logged } = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://mailer:${password}@127.0.0.1:9`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  const { body } = await call<Invitation>('POST', '/v1/team/invitations', {
    json: { email: 'bob@example.com' },
  });
  await app.scheduler.stop();
  const mail = await app.db.selectFrom('outbox').selectAll().executeTakeFirstOrThrow();
  assert.ok(mail.attempts > 0 && mail.error, 'it was tried');
  const token = body.accept_url.split('/').at(-1)!;
  const secrets = new Map([
    ['password', password],
    ['link', token],
  ]);
  assert.deepEqual(leaksIn(await storedBytes(app, folder), secrets), []);
  assert.deepEqual(leaksIn(Buffer.from(JSON.stringify(logged)), secrets), []);
  const ready = await call('GET', '/readyz');
  assert.deepEqual(leaksIn(Buffer.from(ready.text), secrets), []);
});

/** Password resets: links, their lifetime, and that requests don't reveal accounts. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';
import { owner as ownerCommand } from '../../src/commands/owner.ts';
import { ConfigError } from '../../src/config/config.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { findOwner } from '../../src/team/members.ts';
import { createOwnerLink } from '../../src/team/passwords.ts';
import { expireSessions } from '../../src/team/sessions.ts';
import { signInGuardOf } from '../../src/team/sign-in-guard.ts';
import { postForm } from '../dashboard/pages.ts';
import {
  type ServiceOptions,
  startTestService,
  type TestService,
  temporaryFolder,
} from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { databaseEnvironment } from '../helpers/store.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { startOutbox } from '../outbox/outbox.ts';
import { givePassword, PASSWORD, signIn, trySignIn } from './browser.ts';
import { countScrypt } from './scrypt-count.ts';
import { auditOf, type Problem } from './team-service.ts';

const OWNER = 'owner@example.com';
const NEW = 'a new password';
const HOUR = 3_600_000;

async function start(t: TestContext, options: ServiceOptions = {}) {
  const { service, clock, sink, run } = await startOutbox(t, options);
  await givePassword(service, OWNER);
  const ask = (email: string) =>
    service.call<Problem>('POST', '/v1/password_resets', { key: null, json: { email } });
  const confirm = (token: string, password = NEW) =>
    service.call<Problem>('POST', '/v1/password_resets/confirm', {
      key: null,
      json: { token, password },
    });
  /** The last email sent. */
  const mailed = async () => {
    await run();
    const { to, raw } = sink.taken.at(-1)!;
    const { headers, text, html } = await parseMessage(raw);
    const subject = headers.find(({ key }) => key === 'subject')?.value;
    return { to, subject, text: text!, html: html! };
  };
  const tokenFor = async (email: string) => {
    assert.equal((await ask(email)).status, 202);
    return /\/password\/([\w-]{43})\n/.exec((await mailed()).text)![1]!;
  };
  return { ...service, clock, sink, run, ask, confirm, mailed, tokenFor };
}

/** The token of the link that the `owner` command prints. */
async function ownerToken({ app }: TestService): Promise<string> {
  const { id } = (await findOwner(app.db))!;
  return (await createOwnerLink(app, app.config, id)).split('/').at(-1)!;
}

const signInStatus = async (service: Parameters<typeof trySignIn>[0], password: string) =>
  (await trySignIn(service, { email: OWNER, password })).status;

test('Password reset link sets the password once and ends every session', async (t) => {
  const service = await start(t, { env: { DELIVERABILITY_APP_URL: 'https://app.example.com' } });
  const browser = await signIn(service, OWNER);
  const asked = await service.ask('Owner@Example.com');
  assert.deepEqual(
    [asked.status, asked.body],
    [202, { object: 'password_reset', status: 'requested' }],
  );
  const { to, subject, text, html } = await service.mailed();
  assert.deepEqual(
    [to, subject],
    [[OWNER], 'Set a new password for the deliverability team at app.example.com'],
  );
  const [url, token] = /https:\/\/app\.example\.com\/password\/([\w-]{43})/.exec(text)!;
  assert.ok(html.includes(`href="${url}"`));

  const done = await service.confirm(token!);
  assert.deepEqual(
    [done.status, done.body],
    [200, { object: 'password_reset', status: 'completed' }],
  );
  assert.equal((await browser.call('GET', '/v1/me')).status, 401);
  assert.equal(await signInStatus(service, PASSWORD), 401);
  assert.equal(await signInStatus(service, NEW), 201);
  const again = await service.confirm(token!, 'yet another one');
  assert.deepEqual([again.status, again.body.code], [410, 'gone']);
  assert.equal(await signInStatus(service, NEW), 201);
});

test('Password reset mail is sent immediately, to known addresses only', async (t) => {
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'notices@example.com',
    },
  });
  for (const email of [OWNER, 'nobody@example.com'])
    await service.call('POST', '/v1/password_resets', { key: null, json: { email } });
  await service.app.scheduler.stop();
  assert.deepEqual(
    sink.taken.map(({ to }) => to),
    [[OWNER]],
  );
});

test('Password reset link expires after one hour', async (t) => {
  const { clock, confirm, tokenFor, app } = await start(t);
  const token = await tokenFor(OWNER);
  clock.advance(HOUR);
  const late = await confirm(token);
  assert.deepEqual(
    [late.status, late.body.detail],
    [410, 'This link has expired. Request a new one.'],
  );
  const next = await tokenFor(OWNER);
  clock.advance(HOUR - 1);
  assert.equal((await confirm(next)).status, 200);
  clock.advance(30 * 24 * HOUR);
  await expireSessions(app);
  assert.equal((await confirm(token)).status, 404, 'long dead, it is forgotten');
});

test('Password reset requests leave other links valid; using one ends them all', async (t) => {
  const service = await start(t);
  const { clock, confirm, tokenFor } = service;
  const ofTheCommand = await ownerToken(service);
  const mailed: string[] = [];
  for (let i = 0; i < 3; i++) mailed.push(await tokenFor(OWNER));
  clock.advance(30 * 60_000);
  mailed.push(await tokenFor(OWNER));
  const [first, second, third, last] = mailed;
  assert.equal((await confirm(second!)).status, 200);
  for (const token of [first!, second!, third!, last!, ofTheCommand]) {
    const { status, body } = await confirm(token);
    assert.deepEqual(
      [status, body.detail],
      [410, 'This link has been used or is no longer valid. Request a new one.'],
    );
  }
});

test('At most five mailed password reset links are valid at a time, besides the owner command’s', async (t) => {
  const service = await start(t);
  const { app, clock, ask, confirm, mailed, sink, run } = service;
  const ofTheCommand = await ownerToken(service);
  const first = clock.now();
  for (let i = 0; i < 30; i++) {
    assert.equal((await ask(OWNER)).status, 202);
    clock.advance(61_000);
  }
  await run();
  assert.equal(sink.taken.length, 5);
  // The command's link doesn't count among the five, even shortly before it expires.
  clock.set(first + 23 * HOUR + 30 * 60_000);
  for (let i = 0; i < 10; i++) {
    assert.equal((await ask(OWNER)).status, 202);
    clock.advance(61_000);
  }
  const { text } = await mailed();
  assert.equal(sink.taken.length, 10);
  const live = app.db
    .selectFrom('password_links')
    .selectAll()
    .where('used_at', 'is', null)
    .where('expires_at', '>', isoTime(clock.now()));
  assert.equal((await live.execute()).length, 6);
  assert.equal((await confirm(ofTheCommand)).status, 200);
  assert.deepEqual(await live.execute(), []);
  const token = /\/password\/([\w-]{43})\n/.exec(text)![1]!;
  assert.equal((await confirm(token)).status, 410);
});

test('Concurrent use of one password reset link succeeds once', async (t) => {
  const { confirm, tokenFor } = await start(t);
  const token = await tokenFor(OWNER);
  const answers = await Promise.all([confirm(token), confirm(token, 'another new one')]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 410]);
});

test('Confirming a password reset with an unknown token gets 404 without hashing', async (t) => {
  const { confirm } = await start(t);
  const scrypts = countScrypt(t);
  for (const token of ['x', 'A'.repeat(43), '']) {
    const { status, body } = await confirm(token);
    assert.deepEqual([status, body.code], [404, 'not_found']);
  }
  assert.equal(scrypts.begun, 0);
});

test('A rejected new password leaves the reset link usable', async (t) => {
  const { confirm, tokenFor } = await start(t);
  const token = await tokenFor(OWNER);
  for (const [password, message] of [
    ['short', 'must have 10 to 200 characters'],
    [OWNER, 'must not be the email address'],
    ['password123', 'must not be a commonly used password'],
  ] as const) {
    const { status, body } = await confirm(token, password);
    assert.equal(status, 422);
    assert.deepEqual(body.errors, [{ param: 'password', code: 'invalid', message }]);
  }
  assert.equal((await confirm(token)).status, 200);
});

test('POST /v1/password_resets does not reveal whether an address is known', async (t) => {
  const service = await start(t);
  const { app, ask } = service;
  const scrypts = countScrypt(t);
  const writes: string[] = [];
  app.db = app.db.withPlugin({
    transformQuery({ node }) {
      const target = JSON.stringify(
        node.kind === 'InsertQueryNode' ? node.into : node.kind === 'DeleteQueryNode' && node.from,
      );
      // Not the counters of attempts, which PostgreSQL stores too.
      const table = /password_links|outbox|audit_log/.exec(target)?.[0];
      if (table) writes.push(`${node.kind.replace('QueryNode', '')} ${table}`);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const written = async (email: string) => {
    writes.length = 0;
    const { status, body } = await ask(email);
    return { answer: [status, body], writes: [...writes] };
  };
  const known = await written(OWNER);
  const links = await app.db.selectFrom('password_links').selectAll().execute();
  const unknown = await written('nobody@example.com');
  assert.deepEqual(unknown.answer, known.answer);
  const stored = ['Insert password_links', 'Insert outbox'];
  assert.deepEqual(known.writes, [...stored, 'Insert audit_log']);
  assert.deepEqual(unknown.writes, [...stored, 'Delete password_links', 'Delete outbox']);
  assert.equal(scrypts.begun, 0);
  // Only the owner's requests remain.
  assert.deepEqual(await app.db.selectFrom('password_links').selectAll().execute(), links);
  const mails = await app.db.selectFrom('outbox').select('recipient').execute();
  assert.deepEqual(mails, [{ recipient: OWNER }]);
});

test('POST /v1/password_resets always answers 202 but limits mail per address', async (t) => {
  const { ask, clock, sink, run } = await start(t);
  for (const email of [OWNER, 'nobody@example.com'])
    for (let i = 0; i < 8; i++) {
      const { status, body } = await ask(email);
      assert.deepEqual([status, body], [202, { object: 'password_reset', status: 'requested' }]);
    }
  await run();
  assert.equal(sink.taken.length, 3);
  clock.advance(1000);
  await ask(OWNER);
  await run();
  assert.equal(sink.taken.length, 4);
});

test('Password resets of other addresses from one client do not delay a member’s mail', async (t) => {
  const service = await start(t);
  const { email } = await service.makeMember('viewer');
  for (let i = 0; i < 8; i++) await service.ask(`nobody${i}@example.com`);
  await service.ask(email);
  assert.deepEqual((await service.mailed()).to, [email]);
});

test('POST /v1/password_resets rejects more than 20 requests a minute per client with 429', async (t) => {
  const { ask, clock } = await start(t);
  for (let i = 0; i < 20; i++) assert.equal((await ask(`n${i}@example.com`)).status, 202);
  for (const email of [OWNER, 'nobody@example.com']) {
    const { status, body, headers } = await ask(email);
    assert.deepEqual([status, body.code], [429, 'rate_limited']);
    assert.ok(Number(headers.get('retry-after')) > 0);
  }
  clock.advance(60_000);
  assert.equal((await ask(OWNER)).status, 202);
});

test('POST /v1/password_resets answers 202 without outgoing mail and keeps open links', async (t) => {
  const service = await startTestService(t, { clock: testClock() });
  const { url } = await runOwner(service.folder, OWNER);
  const token = url.split('/').at(-1)!;
  for (const email of [OWNER, 'nobody@example.com']) {
    const options = { key: null, json: { email } };
    const { status, body } = await service.call('POST', '/v1/password_resets', options);
    assert.deepEqual([status, body], [202, { object: 'password_reset', status: 'requested' }]);
  }
  const json = { token, password: NEW };
  const done = await service.call('POST', '/v1/password_resets/confirm', { key: null, json });
  assert.equal(done.status, 200);
});

test('A password reset clears the account’s failed sign-in attempts', async (t) => {
  const service = await start(t);
  for (let i = 0; i < 3; i++) await trySignIn(service, { email: OWNER, password: 'wrong guess' });
  assert.equal(await signInStatus(service, PASSWORD), 429);
  await service.confirm(await service.tokenFor(OWNER));
  // The delay of the IP address has passed.
  service.clock.advance(1000);
  assert.equal(await signInStatus(service, NEW), 201);
  assert.equal(await signInStatus(service, 'wrong guess'), 401);
});

test('A password reset clears sign-in delays in every browser', async (t) => {
  const service = await start(t);
  const { attempts } = signInGuardOf(service.app);
  for (let i = 0; i < 3; i++)
    await attempts.attempt({ account: OWNER, ip: null }, async () => null);
  assert.equal(await signInStatus(service, PASSWORD), 429);
  await service.confirm(await service.tokenFor(OWNER));
  assert.equal(await signInStatus(service, NEW), 201);
});

test('The browser that resets the password can sign in while others are throttled', async (t) => {
  const service = await start(t);
  const guess = async () => {
    for (let i = 0; i < 4; i++) await trySignIn(service, { email: OWNER, password: 'wrong guess' });
  };
  const enter = async (cookie?: string) =>
    (await trySignIn(service, { email: OWNER, password: NEW }, cookie ? { cookie } : {})).status;
  const confirmed = await service.confirm(await service.tokenFor(OWNER));
  const form = { password: NEW, repeated: NEW };
  const page = await postForm(service, `/password/${await service.tokenFor(OWNER)}`, form);
  assert.equal(page.location, '/sign-in?done=password');
  // The first browser's cookie belongs to the previous password.
  for (const [answer, status] of [
    [confirmed, 429],
    [page, 201],
  ] as const) {
    const cookies = answer.headers.getSetCookie();
    assert.deepEqual(
      cookies.map((field) => field.split('=')[0]),
      ['deliverability-device'],
      'and no session',
    );
    await guess();
    assert.equal(await enter(), 429);
    assert.equal(await enter(cookies[0]!.split(';')[0]), status);
  }
  const again = await service.confirm(await service.tokenFor(OWNER));
  await guess();
  assert.equal(await enter(), 429);
  assert.equal(await enter(again.headers.getSetCookie()[0]!.split(';')[0]), 201);
});

test('Guessing password reset tokens gets 429 after 20 attempts', async (t) => {
  const { confirm } = await start(t);
  for (let i = 0; i < 20; i++) assert.equal((await confirm(`guess ${i}`)).status, 404);
  const { status, body } = await confirm('guess 20');
  assert.deepEqual([status, body.code], [429, 'rate_limited']);
});

test('A password reset link that expires during hashing sets no password', async (t) => {
  const service = await start(t);
  const token = await service.tokenFor(OWNER);
  const { passwords } = signInGuardOf(service.app);
  const { hash } = passwords;
  passwords.hash = async (...given) => {
    service.clock.advance(HOUR);
    return hash(...given);
  };
  assert.equal((await service.confirm(token)).status, 410);
  assert.equal(await signInStatus(service, PASSWORD), 201);
});

test('The audit log records password reset requests and completions with the actor', async (t) => {
  const service = await start(t);
  await signIn(service, OWNER);
  const { confirm, tokenFor, ask, app } = service;
  await ask('nobody@example.com');
  await confirm(await tokenFor(OWNER));
  const { id } = await app.db.selectFrom('members').select('id').executeTakeFirstOrThrow();
  assert.deepEqual(await auditOf(service, { object_id: id, member_id: id }), [
    ['password.reset', { sessions_ended: 1 }],
  ]);
  const actions = (await auditOf(service, { object_id: id })).map(([action]) => action);
  assert.deepEqual(
    actions.filter((action) => action.startsWith('password.')),
    ['password.reset', 'password.reset_requested'],
  );
});

test('Server log and database contain no password reset links or passwords', async (t) => {
  const service = await start(t);
  const token = await service.tokenFor(OWNER);
  await service.confirm(token, 'nobody ever sees this');
  const log = JSON.stringify(service.logged);
  const bytes = await storedBytes(service.app, service.folder);
  assert.ok(bytes.includes('password.reset_requested'), 'what is no secret is found');
  for (const secret of [token, 'nobody ever sees this'])
    assert.ok(!log.includes(secret) && !bytes.includes(secret), secret);
});

/** Runs the command in the data folder of a service. */
async function runOwner(folder: string, email: string) {
  let stdout = '';
  let stderr = '';
  const io = {
    env: {
      DELIVERABILITY_DATA_DIR: folder,
      ...(await databaseEnvironment(folder)),
      DELIVERABILITY_APP_URL: 'https://app.example.com',
    },
    stdout: (text: string) => {
      stdout += text;
    },
    stderr: (text: string) => {
      stderr += text;
    },
  };
  assert.equal(await ownerCommand.run([email, '--json'], io as never), 0);
  const { password_url } = JSON.parse(stdout);
  stdout = '';
  assert.equal(await ownerCommand.run([email], io as never), 0);
  return { before: password_url as string, url: stderr.match(/https:\S+/)![0], stderr };
}

test('The owner command prints a 24-hour password link; each new link ends the previous', async (t) => {
  const service = await startTestService(t);
  const { before, url, stderr } = await runOwner(service.folder, OWNER);
  assert.match(url, /^https:\/\/app\.example\.com\/password\/[\w-]{43}$/);
  assert.match(
    stderr,
    /^To sign in, set a password within 24 hours. The link works once:\nhttps:/m,
  );
  const confirm = (link: string) =>
    service.call('POST', '/v1/password_resets/confirm', {
      key: null,
      json: { token: link.split('/').at(-1)!, password: NEW },
    });
  const link = await service.app.db
    .selectFrom('password_links')
    .selectAll()
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  assert.equal(Date.parse(link.expires_at) - Date.parse(link.created_at), 24 * HOUR);
  assert.equal((await confirm(before)).status, 410);
  assert.equal((await confirm(url)).status, 200);
  assert.equal(await signInStatus(service, NEW), 201);
});

test('The owner command names the former owner and the credentials that ended', async (t) => {
  const service = await startTestService(t);
  const { email } = await service.makeMember('member');
  const printed: string[] = [];
  const io = {
    env: {
      DELIVERABILITY_DATA_DIR: service.folder,
      ...(await databaseEnvironment(service.folder)),
    },
    stdout: () => {},
    stderr: (text: string) => printed.push(text),
  };
  assert.equal(await ownerCommand.run([email], io as never), 0, 'a member needs no --replace');
  assert.match(
    printed[0]!,
    /^The owner was owner@example\.com, whose password, .* are now revoked\. They are now an admin, /,
  );
  assert.match(printed[1]!, new RegExp(`^${email} is the owner\\.`));
  assert.equal((await service.call('GET', '/v1/me')).status, 401);
  printed.length = 0;
  assert.equal(await ownerCommand.run([email], io as never), 0);
  assert.match(printed[0]!, new RegExp(`^${email} is the owner\\.`), 'nothing has changed');
});

test('DELIVERABILITY_OWNER_PASSWORD sets the first owner’s password only on first start', async (t) => {
  const folder = temporaryFolder(t);
  const env = (password: string) => ({
    DELIVERABILITY_OWNER_EMAIL: OWNER,
    DELIVERABILITY_OWNER_PASSWORD: password,
  });
  await assert.rejects(startTestService(t, { folder, env: env('password123') }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /OWNER_PASSWORD must not be a commonly used password/);
    assert.ok(!error.message.includes('password123'));
    return true;
  });
  await t.test('First start applies the configured owner password', async (t) => {
    const service = await startTestService(t, { folder, env: env(PASSWORD) });
    assert.equal(await signInStatus(service, PASSWORD), 201);
  });
  await t.test('Later start ignores a changed owner password', async (t) => {
    const service = await startTestService(t, { folder, env: env('another password') });
    assert.equal(await signInStatus(service, 'another password'), 401);
    assert.equal(await signInStatus(service, PASSWORD), 201);
  });
});

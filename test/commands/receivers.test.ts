/** `deliverability receivers`: signing in and fetching beside a running service, and the list of accounts. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type Io, UsageError } from '../../src/commands/command.ts';
import { receivers } from '../../src/commands/receivers.ts';
import { POSTMASTER_SCOPES } from '../../src/config/receivers.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { FETCH_JOB } from '../../src/receivers/fetch-job.ts';
import { startTestService, type TestService, temporaryFolder } from '../helpers/app.ts';
import { startHttpScript } from '../helpers/http-script.ts';
import { servedDomain, startPostmasterServer } from '../helpers/postmaster-server.ts';
import { databaseEnvironment, skipOnPostgres } from '../helpers/store.ts';
import { startAccounts } from '../receivers/accounts.ts';
import { runCommand } from './run.ts';

const NAME = 'google_postmaster';

const run = (args: string[], env: Io['env'], options: Parameters<typeof runCommand>[3] = {}) =>
  runCommand(receivers, args, env, options);

/** Google with a device flow and a redirect; the tokens have these permissions, null: it doesn’t say. */
async function startGoogle(
  t: TestContext,
  { scopes = POSTMASTER_SCOPES }: { scopes?: string[] | null } = {},
) {
  const login = await startHttpScript(t, ({ path, json }) =>
    path === '/device'
      ? json(200, {
          device_code: 'd',
          user_code: 'ABCD',
          expires_in: 60,
          interval: 1,
          verification_uri: 'https://provider.example/device',
        })
      : json(200, {
          token_type: 'bearer',
          access_token: 'access',
          refresh_token: 'rt-secret',
          expires_in: 3600,
          ...(scopes === null ? {} : { scope: scopes.join(' ') }),
        }),
  );
  const postmaster = await startPostmasterServer(t);
  const account = {
    receiver: NAME,
    client_id: 'app',
    base_url: postmaster.url,
    token_url: `${login.url}/token`,
  };
  return {
    login,
    postmaster,
    byDevice: { ...account, device_url: `${login.url}/device` },
    byBrowser: { ...account, authorization_url: `${login.url}/auth` },
  };
}

async function environment(t: TestContext, accounts: object[], folder = temporaryFolder(t)) {
  return {
    DELIVERABILITY_DATA_DIR: folder,
    ...(await databaseEnvironment(folder)),
    DELIVERABILITY_RECEIVERS: JSON.stringify(accounts),
  };
}

async function addDomains({ call, app }: TestService, ...names: string[]): Promise<void> {
  for (const name of names) await call('POST', '/v1/domains', { json: { name } });
  await app.db.updateTable('domains').set({ status: 'verified' }).execute();
}

/** Resolves once the service has fetched from all accounts, or has tried to. */
async function waitForFetch({ app }: TestService): Promise<void> {
  for (const end = Date.now() + 20_000; ; await pause(20)) {
    const rows = await app.db.selectFrom('receivers').selectAll().execute();
    const now = new Date(app.clock.now()).toISOString();
    const isDone = rows.every(
      ({ attempted_at, next_fetch_at, lease }) =>
        attempted_at !== null && lease === null && (next_fetch_at ?? '') > now,
    );
    if (isDone && rows.length > 0) return;
    if (Date.now() > end) throw new Error(`The accounts are still ${JSON.stringify(rows)}`);
    app.scheduler.wakeHere(FETCH_JOB);
  }
}

test('A sign-in says which domains the account has, and the running service fetches at once', async (t) => {
  const { login, postmaster, byDevice } = await startGoogle(t);
  postmaster.domains
    .set('example.com', servedDomain())
    .set('example.net', servedDomain({ verificationState: 'UNVERIFIED' }))
    .set('example.org', servedDomain({ permission: 'NONE' }));
  const service = await startTestService(t, {
    env: { DELIVERABILITY_RECEIVERS: JSON.stringify([byDevice]) },
  });
  await addDomains(service, 'example.com', 'missing.example');
  await waitForFetch(service);
  const env = await environment(t, [byDevice], service.folder);
  const before = await run(['list'], env);
  assert.deepEqual(before, {
    code: EXIT.negative,
    stdout: `${NAME} (Google Postmaster Tools): Nobody has signed in to this account yet. Run: deliverability receivers sign-in ${NAME}\n`,
    stderr: '',
  });
  const { code, stdout, stderr } = await run(['sign-in', NAME.toUpperCase()], env);
  assert.equal(code, EXIT.success, stderr);
  assert.equal(stdout, 'https://provider.example/device\n');
  assert.equal(
    stderr,
    [
      'Open this address in a browser on any device, enter the code ABCD, and sign in with the Google account that has your domains in Postmaster Tools. The code expires in 1 min.',
      `Signed in to ${NAME}. The service uses this sign-in from now on.`,
      `${NAME} has example.com, example.net (not verified there), example.org (without permission).`,
      'It doesn’t have missing.example. Add missing domains in Google Postmaster Tools, and verify them there.\n',
    ].join('\n'),
  );
  const device = login.exchanges.find(({ path }) => path === '/device')!;
  assert.equal(new URLSearchParams(device.body).get('scope'), POSTMASTER_SCOPES.join(' '));
  await waitForFetch(service);
  const after = await run(['list'], env);
  assert.match(
    after.stdout,
    /^google_postmaster \(Google Postmaster Tools\): last fetched on 20\d\d-.* UTC\n {2}example\.com: owner, verified\n {2}example\.net: .*not verified.*\n {2}example\.org: .*no permission to read.*\n$/,
  );
  const [listed] = JSON.parse((await run(['list', '--json'], env)).stdout);
  assert.deepEqual([listed.id, listed.state, listed.problem], [NAME, 'working', null]);
  assert.match(listed.signed_in_at, /^20\d\d-/);
  const { refresh_token } = await service.app.db
    .selectFrom('receiver_credentials')
    .select('refresh_token')
    .executeTakeFirstOrThrow();
  assert.ok(!refresh_token.includes('rt-secret'));
});

test('A sign-in with a browser on this machine works without a service, before its first start', async (t) => {
  const { byBrowser } = await startGoogle(t, { scopes: null });
  const env = await environment(t, [byBrowser]);
  const { code, stderr } = await run(['sign-in', NAME], env, {
    onOutput(text) {
      const { searchParams } = new URL(text.trim());
      assert.equal(searchParams.get('scope'), POSTMASTER_SCOPES.join(' '));
      assert.equal(searchParams.has('login_hint'), false);
      const query = new URLSearchParams({ state: searchParams.get('state')!, code: 'c' });
      void fetch(`${searchParams.get('redirect_uri')}?${query}`);
    },
  });
  assert.equal(code, EXIT.success, stderr);
  assert.match(stderr, /google_postmaster has no domains\. Add them in Google Postmaster Tools/);
  assert.deepEqual(await run(['list'], env), {
    code: EXIT.success,
    stdout: `${NAME} (Google Postmaster Tools): not fetched yet\n`,
    stderr: '',
  });
});

test('A sign-in without a permission, or without access to the API, is not stored and says why', async (t) => {
  const [traffic, domains] = POSTMASTER_SCOPES;
  const partial = await startGoogle(t, { scopes: [domains!, 'openid'] });
  const wrong = await startGoogle(t);
  wrong.postmaster.scopes.delete('postmaster.domain');
  const disabled = await startGoogle(t);
  disabled.postmaster.isEnabled = false;
  for (const [google, message] of [
    [partial, `Google did not grant the permission ${traffic}. Run the command again`],
    [wrong, 'The sign-in to Google Postmaster Tools lacks a permission. Sign in again'],
    [disabled, 'The Gmail Postmaster Tools API is not enabled in the project of the app.'],
  ] as const) {
    const env = await environment(t, [google.byDevice]);
    const { code, stderr } = await run(['sign-in', NAME], env);
    assert.equal(code, EXIT.negative);
    assert.ok(stderr.includes(`Not signed in to ${NAME}: ${message}`), stderr);
    assert.match((await run(['list'], env)).stdout, /: not signed in\. Run: /);
  }
});

test('A sign-in while Google is down is stored, and what is wrong is said', async (t) => {
  const { postmaster, byDevice } = await startGoogle(t);
  postmaster.fault = () => 'unavailable';
  const env = await environment(t, [byDevice]);
  const { code, stderr } = await run(['sign-in', NAME], env);
  assert.equal(code, EXIT.success, stderr);
  assert.match(stderr, /The account can’t be read at the moment: 127\.0\.0\.1:\d+ is/);
  const { stdout } = await run(['list', '--json'], env);
  assert.match(JSON.parse(stdout)[0].signed_in_at, /^20\d\d-/);
});

test('fetch stores what came, prints it by domain and day, and says what failed', async (t) => {
  const accounts = await startAccounts(t, systemClock.now());
  const service = await startTestService(t, {});
  await addDomains(service, 'example.com', 'example.org');
  accounts.postmaster.domains.set('example.org', servedDomain({ permission: 'NONE' }));
  const env = { ...(await environment(t, [], service.folder)), ...accounts.env };
  const { code, stdout, stderr } = await run(['fetch'], env);
  assert.equal(code, EXIT.success, stderr);
  assert.match(stdout, /^google_postmaster: example\.com: 2 days$/m);
  assert.match(stdout, /^microsoft_snds: 20\d\d-\d\d-\d\d: 1 address$/m);
  for (const secret of accounts.secrets.values()) assert.ok(!`${stdout}${stderr}`.includes(secret));
  const days = await service.app.db.selectFrom('receiver_days').select('day').execute();
  assert.equal(days.length, 2);
  accounts.snds.keys.clear();
  const refused = await run(['fetch', 'microsoft_snds'], env);
  assert.equal(refused.code, EXIT.negative);
  assert.match(refused.stderr, /^microsoft_snds: Microsoft SNDS does not accept the key\./);
  accounts.postmaster.fault = () => 'unavailable';
  const down = await run(['fetch', 'google_postmaster'], env);
  assert.equal(down.code, EXIT.externalFailure);
});

test('fetch leaves an account alone from which the service is fetching, and stops when it is interrupted', async (t) => {
  const accounts = await startAccounts(t, systemClock.now());
  const service = await startTestService(t, { env: accounts.env });
  await addDomains(service, 'example.com');
  await waitForFetch(service);
  // The service would take the account as soon as the command releases it.
  await service.app.scheduler.stop();
  const env = { ...(await environment(t, [], service.folder)), ...accounts.env };
  const leased_until = new Date(systemClock.now() + 60_000).toISOString();
  const lease = { lease: 'other:1', leased_until };
  await service.app.db.updateTable('receivers').set(lease).where('id', '=', NAME).execute();
  assert.deepEqual(await run(['fetch', NAME], env), {
    code: EXIT.externalFailure,
    stdout: '',
    stderr: `${NAME}: the service is fetching from this account right now.\n`,
  });
  const free = { lease: null, leased_until: null };
  await service.app.db.updateTable('receivers').set(free).execute();
  const stop = Promise.withResolvers<void>();
  accounts.postmaster.fault = () => {
    stop.resolve();
    return 'slow';
  };
  const { code, stderr } = await run(['fetch'], env, { interrupted: stop.promise });
  assert.equal(code, EXIT.externalFailure);
  assert.match(stderr, /^google_postmaster: canceled\. What was fetched is stored\.$/m);
  const row = await service.app.db
    .selectFrom('receivers')
    .selectAll()
    .where('id', '=', NAME)
    .executeTakeFirstOrThrow();
  assert.deepEqual([row.lease, row.problem], [null, null]);
});

test('Without accounts, and with wrong arguments, the command says what is possible', async (t) => {
  const none = await environment(t, []);
  assert.match((await run(['fetch'], none)).stderr, /^No receivers are configured\./);
  const { login, byDevice } = await startGoogle(t);
  const { device_url: _, ...account } = byDevice;
  const env = await environment(t, [
    { receiver: 'microsoft_snds', key: 'k' },
    { ...account, name: 'nowhere' },
    byDevice,
  ]);
  for (const [args, message] of [
    [[], /^Missing argument: list, sign-in or fetch$/],
    [['sing-in'], /^Unknown action "sing-in": use list, sign-in NAME or fetch \[NAME\]$/],
    [['sign-in'], /^Missing argument: NAME$/],
    [['sign-in', 'nowhree'], /^No account has the name "nowhree"\. Did you mean nowhere\?$/],
    [['fetch', 'x'], /^No account has the name "x": list them with deliverability receivers list$/],
    [['sign-in', 'microsoft_snds'], /^microsoft_snds uses the key of its entry/],
    [['sign-in', 'nowhere'], /^nowhere has no address to sign in at: set "device_url"/],
  ] as const)
    await assert.rejects(run([...args], env), (error: unknown) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, message);
      return true;
    });
  assert.equal(login.exchanges.length, 0);
});

test('fetch stops where there is no database', { skip: skipOnPostgres }, async (t) => {
  const { byDevice } = await startGoogle(t);
  const { code, stderr } = await run(['fetch'], await environment(t, [byDevice]));
  assert.equal(code, EXIT.usage);
  assert.match(stderr, /^There is no database at /);
});

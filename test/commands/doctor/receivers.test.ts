/** `doctor` about receivers: what is missing for figures of Google and Microsoft. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EXIT } from '../../../src/commands/command.ts';
import { doctor } from '../../../src/commands/doctor/doctor.ts';
import { isoTime, systemClock } from '../../../src/lib/clock.ts';
import { fetchNow } from '../../../src/receivers/fetch-account.ts';
import { inspectStore } from '../../../src/store/inspect.ts';
import { startTestService, type TestService } from '../../helpers/app.ts';
import { servedDomain } from '../../helpers/postmaster-server.ts';
import { databaseEnvironment } from '../../helpers/store.ts';
import { startAccounts } from '../../receivers/accounts.ts';
import { runCommand } from '../run.ts';
import { findingOf, findingsOf } from './checkup.ts';

const GOOGLE = 'receiver:google_postmaster';
const SNDS = 'receiver:microsoft_snds';

async function startWorld(t: TestContext, env: Record<string, string>) {
  const service = await startTestService(t, { env });
  await service.app.scheduler.stop();
  const store = await inspectStore(service.app.config.DATABASE_URL);
  t.after(() => store.close());
  return { service, world: { env, store } };
}

async function addDomains({ call, app }: TestService, ...names: string[]): Promise<void> {
  for (const name of names) await call('POST', '/v1/domains', { json: { name } });
  await app.db.updateTable('domains').set({ status: 'verified' }).execute();
}

async function fetchAll({ app }: TestService): Promise<void> {
  for (const account of app.config.RECEIVERS)
    await fetchNow(app, account, new AbortController().signal);
}

const domainFindings = async (world: Parameters<typeof findingsOf>[1]) =>
  (await findingsOf('receivers', world))
    .filter(({ id }) => id.startsWith('receiver_domain'))
    .map(({ id, state, evidence, action }) => [id, state, `${evidence} → ${action}`]);

test('Without accounts nothing is missing, and without a database nothing is known', async () => {
  assert.equal(await findingOf('receivers', {}), 'ok: Not configured.');
  const env = {
    DELIVERABILITY_RECEIVERS: JSON.stringify([{ receiver: 'microsoft_snds', key: 'k' }]),
  };
  assert.match(await findingOf('receivers', { env }), /^unknown: .*can’t be read\. → Fix the/);
});

test('An account to which nobody has signed in is a problem before and after the first fetch', async (t) => {
  const login = 'http://127.0.0.1:9';
  const account = {
    receiver: 'google_postmaster',
    name: 'main',
    client_id: 'app',
    base_url: login,
    token_url: `${login}/token`,
    device_url: `${login}/device`,
  };
  const { service, world } = await startWorld(t, {
    DELIVERABILITY_RECEIVERS: JSON.stringify([account]),
  });
  await service.app.db
    .updateTable('receivers')
    .set({ problem: null, problem_detail: null })
    .execute();
  const command = 'Run: deliverability receivers sign-in main';
  assert.equal(
    await findingOf('receiver:main', world, 'receivers'),
    `problem: Nobody has signed in to this account yet. → ${command}`,
  );
  await fetchAll(service);
  assert.equal(
    await findingOf('receiver:main', world, 'receivers'),
    `problem: Nobody has signed in to this account yet. ${command} Nothing was fetched before. → After you sign in, the service continues automatically.`,
  );
});

test('Fetched accounts are fine until the last fetch is too old', async (t) => {
  const accounts = await startAccounts(t, systemClock.now());
  const { service, world } = await startWorld(t, accounts.env);
  await addDomains(service, 'example.com');
  await service.app.db.updateTable('receivers').set({ fetched_at: null }).execute();
  assert.match(
    await findingOf(SNDS, world, 'receivers'),
    /^unknown: Nothing has been .* → Start the service, or run: deliverability receivers fetch microsoft_snds$/,
  );
  await fetchAll(service);
  assert.match(await findingOf(GOOGLE, world, 'receivers'), /^ok: Last fetched on 20.* UTC\.$/);
  assert.match(await findingOf(SNDS, world, 'receivers'), /^ok: Last fetched on 20.* UTC\.$/);
  assert.deepEqual(await domainFindings(world), []);
  const clock = { now: () => systemClock.now() + 3 * 86_400_000 };
  assert.match(
    await findingOf(GOOGLE, { ...world, clock }, 'receivers'),
    /^warning: Last fetched .* once a day\. → Check that the service is running\./,
  );
});

test('A refused key, an expired sign-in and an outage say what to do', async (t) => {
  const accounts = await startAccounts(t, systemClock.now());
  const { service, world } = await startWorld(t, accounts.env);
  await fetchAll(service);
  accounts.snds.keys.clear();
  accounts.tokens.accessTokens.clear();
  accounts.tokens.refreshTokens.clear();
  await fetchAll(service);
  assert.match(
    await findingOf(SNDS, world, 'receivers'),
    /^problem: Microsoft SNDS does not accept the key\. .* → Fix the key in DELIVERABILITY_RECEIVERS, then restart the service\.$/,
  );
  assert.match(
    await findingOf(GOOGLE, world, 'receivers'),
    /^problem: .*no longer accepts the sign-in.* Last fetched on .* → After you sign in/,
  );
  accounts.snds.fault = () => 'unavailable';
  await fetchAll(service);
  const outage =
    /: 127\.0\.0\.1:\d+ is unavailable \(HTTP 500\)\. Last .* → The service keeps retrying\./;
  const now = await findingOf(SNDS, world, 'receivers');
  assert.match(now, outage);
  assert.ok(now.startsWith('warning: '));
  const failing_since = isoTime(systemClock.now() - 3 * 86_400_000);
  await service.app.db.updateTable('receivers').set({ failing_since }).execute();
  assert.match(await findingOf(SNDS, world, 'receivers'), /^problem: 127/);
});

test('doctor --receivers fetches from each account beside the service, and says what works', async (t) => {
  const accounts = await startAccounts(t, systemClock.now());
  const { service } = await startWorld(t, accounts.env);
  await addDomains(service, 'example.com');
  await service.app.db.updateTable('receivers').set({ next_fetch_at: null }).execute();
  const env = {
    DELIVERABILITY_DATA_DIR: service.folder,
    ...(await databaseEnvironment(service.folder)),
    ...accounts.env,
  };
  const check = () => runCommand(doctor, ['--receivers'], env);
  const works = await check();
  assert.equal(works.code, EXIT.success, works.stdout);
  assert.match(
    works.stdout.replace(/\s+/g, ' '),
    /Google Postmaster Tools .*Last fetched on .* Found now: example\.com: 2 days\./,
  );
  assert.match(
    works.stdout.replace(/\s+/g, ' '),
    /Microsoft SNDS .*Found now: blocks: 1 range; 20\S+: 1 address; no data for 29 days\./,
  );
  assert.doesNotMatch(works.stdout, /Disk|Webhooks|Blocklists/);
  // The service keeps its sign-in, although each use replaces the token.
  await fetchAll(service);
  const { problem } = await service.app.db
    .selectFrom('receivers')
    .select('problem')
    .where('id', '=', 'google_postmaster')
    .executeTakeFirstOrThrow();
  assert.equal(problem, null);
  accounts.snds.keys.clear();
  const refused = await check();
  assert.equal(refused.code, EXIT.negative);
  assert.match(refused.stdout.replace(/\s+/g, ' '), /does not accept the key\. Keys last 30 days/);
  for (const secret of accounts.secrets.values())
    assert.ok(!`${works.stdout}${refused.stdout}`.includes(secret));
});

test('Verified domains that no account at Google can read are named with the account', async (t) => {
  const accounts = await startAccounts(t, systemClock.now());
  const { service, world } = await startWorld(t, accounts.env);
  const names = ['absent.example', 'unverified.example', 'denied.example'];
  await addDomains(service, 'example.com', ...names);
  accounts.postmaster.domains
    .set('unverified.example', servedDomain({ verificationState: 'UNVERIFIED' }))
    .set('denied.example', servedDomain({ permission: 'NONE' }));
  await service.app.db.updateTable('receivers').set({ fetched_at: null }).execute();
  assert.deepEqual(await domainFindings(world), [], 'nothing is known before the first fetch');
  await fetchAll(service);
  const found = await domainFindings(world);
  assert.deepEqual(
    found.map(([id, state]) => [id, state]),
    ['absent.example', 'denied.example', 'unverified.example'].map((name) => [
      `receiver_domain:${name}`,
      'warning',
    ]),
  );
  assert.equal(
    found[0]![2],
    'google_postmaster doesn’t have this domain, so there are no Gmail figures for it. → Add absent.example in Google Postmaster Tools with the Google account of google_postmaster, and verify it there.',
  );
  assert.match(
    found[1]![2]!,
    /no permission to read denied\.example\..*\(google_postmaster\) → After that/,
  );
  assert.match(found[2]![2]!, /unverified\.example is not verified .*\(google_postmaster\)/);
  const row = await service.app.db.selectFrom('domains').selectAll().executeTakeFirstOrThrow();
  const more = Array.from({ length: 30 }, (_, i) => ({
    ...row,
    id: service.app.newId('dom'),
    name: `d${i}.example`,
  }));
  await service.app.db.insertInto('domains').values(more).execute();
  const many = await domainFindings(world);
  assert.equal(many.length, 21);
  assert.match(many.at(-1)![2]!, /^13 more domains have no Gmail figures\./);
});

test('A sign-in without the permission for figures is a problem of the account', async (t) => {
  const accounts = await startAccounts(t, systemClock.now());
  const { service, world } = await startWorld(t, accounts.env);
  await addDomains(service, 'example.com');
  accounts.postmaster.scopes.delete('postmaster.traffic.readonly');
  await fetchAll(service);
  assert.match(
    await findingOf(GOOGLE, world, 'receivers'),
    /^problem: The sign-in to Google Postmaster Tools lacks a permission\. Sign in again/,
  );
});

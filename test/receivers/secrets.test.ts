/** The secrets of accounts at receivers appear in nothing that the service writes: pages, responses, log, database, backup. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { ROUTES } from '../../src/features.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { fetchNow } from '../../src/receivers/fetch-account.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { leaksIn } from '../helpers/leaks.ts';
import { runProgram } from '../helpers/program.ts';
import { serveEnvironment } from '../helpers/serve-process.ts';
import { databaseEnvironment, onPostgres } from '../helpers/store.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import { type Accounts, startAccounts } from './accounts.ts';

interface Scene extends TestService {
  accounts: Accounts;
  domainId: string;
  /** Everything that was read, by its URL. */
  texts: [string, string][];
}

async function startScene(t: TestContext): Promise<Scene> {
  const accounts = await startAccounts(t, systemClock.now());
  const service = await startTestService(t, { env: accounts.env });
  // It would fetch by itself.
  await service.app.scheduler.stop();
  const { body } = await service.call('POST', '/v1/domains', { json: { name: 'example.com' } });
  return { ...service, accounts, domainId: String(body.id), texts: [] };
}

/** Fetches from both accounts, one after the other. */
async function fetchAll({ app }: Scene): Promise<void> {
  const { signal } = new AbortController();
  for (const account of app.config.RECEIVERS)
    assert.notEqual(await fetchNow(app, account, signal), null, account.name);
}

/** Every page and operation that needs no ID. */
const GENERAL_PATHS = ROUTES.filter(
  ({ method, path }) => method === 'GET' && !path.includes(':'),
).map(({ path }) => path);
/** Those of them that show the state of the accounts. */
const STATE_PATHS = ['/', '/receivers', '/v1/receivers', '/v1/events', '/domains', '/v1/status'];

/** Reads these, and what is about the domain and the accounts. */
async function read(scene: Scene, paths: string[]): Promise<void> {
  const { call, domainId, texts } = scene;
  for (const path of [
    ...paths,
    `/domains/${domainId}`,
    `/v1/domains/${domainId}`,
    `/v1/domains/${domainId}/picture`,
    ...['stats', 'compliance'].map((part) => `/v1/receivers/${part}?domain_id=${domainId}`),
    '/v1/search?q=receivers',
  ])
    texts.push([path, (await call('GET', path)).text]);
  for (const id of ['google_postmaster', 'microsoft_snds'])
    texts.push([id, (await call('POST', `/v1/receivers/${id}/fetch`)).text]);
}

/** The ways in which providers refuse, some of which repeat the secret. */
const FAILURES: ((accounts: Accounts) => void)[] = [
  ({ snds }) => {
    snds.keys.clear();
    snds.refusal = 'redirect';
  },
  ({ snds, postmaster }) => {
    snds.refusal = 'page';
    postmaster.isEnabled = false;
  },
  ({ snds, postmaster }) => {
    snds.refusal = 404;
    postmaster.isEnabled = true;
    postmaster.fault = () => 'broken';
  },
  ({ snds, postmaster }) => {
    snds.fault = () => 'truncated';
    postmaster.fault = () => null;
    postmaster.accessTokens.clear();
  },
  ({ tokens }) => {
    tokens.accessTokens.clear();
    tokens.refreshTokens.clear();
  },
];

test('Keys, client secrets and tokens are in no page, response, log line, database or backup', async (t) => {
  const scene = await startScene(t);
  const { app, accounts, folder, logged, texts } = scene;
  const { secrets } = accounts;
  await fetchAll(scene);
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM receiver_days`.execute(
    app.db,
  );
  assert.ok(rows[0]!.n > 0, 'something was fetched');
  await read(scene, GENERAL_PATHS);
  for (const fail of FAILURES) {
    fail(accounts);
    await fetchAll(scene);
    await read(scene, fail === FAILURES.at(-1) ? GENERAL_PATHS : STATE_PATHS);
  }
  const states = await app.db.selectFrom('receivers').select('problem').execute();
  assert.ok(
    states.every(({ problem }) => problem !== null),
    JSON.stringify(states),
  );
  assert.ok(secrets.size >= 5, 'tokens were replaced');

  for (const [path, text] of texts) assert.deepEqual(leaksIn(text, secrets), [], path);
  assert.ok(texts.some(([, text]) => text.includes('google_postmaster')));
  for (const line of logged) {
    const text = JSON.stringify(line);
    assert.deepEqual(leaksIn(text, secrets), [], text);
  }
  assert.deepEqual(leaksIn(await storedBytes(app, folder), secrets), []);

  const env = {
    ...serveEnvironment(folder),
    ...(await databaseEnvironment(folder)),
    ...accounts.env,
  };
  const backup = join(folder, 'copy');
  const commands = [['env'], ['receivers', 'list', '--json'], ['receivers', 'list'], ['doctor']];
  if (!onPostgres) commands.push(['backup', backup]);
  for (const args of commands) {
    const { stdout, stderr } = await runProgram(args, env);
    assert.deepEqual(leaksIn(stdout + stderr, secrets), [], args.join(' '));
    assert.match(stdout + stderr, /receiver|Backed up/i, args.join(' '));
  }
  if (!onPostgres) assert.deepEqual(leaksIn(readFileSync(backup), secrets), []);
});

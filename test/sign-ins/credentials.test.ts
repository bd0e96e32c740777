/** Stored sign-ins: those of earlier versions stay valid, and those of seed mailboxes and receivers are apart. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { AccountError } from '../../src/net/account-error.ts';
import { withAccessToken } from '../../src/sign-ins/access-tokens.ts';
import { signInTimes, storeSignIn } from '../../src/sign-ins/credentials.ts';
import { configuredSignIns } from '../../src/sign-ins/sign-in.ts';
import { startTestService } from '../helpers/app.ts';
import { startTokenServer, type TokenServer } from '../helpers/token-server.ts';

const client = ({ url }: TokenServer) => ({
  client_id: 'app',
  token_url: url,
  device_url: 'https://login.example/device',
});
const seedEnvironment = (tokens: TokenServer) =>
  JSON.stringify([
    {
      name: 'main',
      provider: 'mine',
      address: 'seed@mail.example',
      imap: 'imaps://imap.mail.example',
      ...client(tokens),
    },
  ]);
const receiverEnvironment = (tokens: TokenServer) =>
  JSON.stringify([
    {
      name: 'main',
      receiver: 'google_postmaster',
      base_url: 'http://127.0.0.1:9',
      ...client(tokens),
    },
  ]);

test('A sign-in to a seed mailbox that an earlier version stored is used', async (t) => {
  const tokens = await startTokenServer(t);
  const env = { DELIVERABILITY_SEED_MAILBOXES: seedEnvironment(tokens) };
  const { app } = await startTestService(t, { env });
  const { secrets } = app;
  // As versions up to schema 17 wrote it.
  const row = {
    id: 'main',
    configured: secrets.token(JSON.stringify(['app', tokens.url, null]), 'seed credential'),
    refresh_token: secrets.seal('first-refresh-token', 'seed credential main'),
    stored_at: '2026-01-02T03:04:05.000Z',
    rejected_at: null,
  };
  await app.db.insertInto('seed_credentials').values(row).execute();
  const [seed] = configuredSignIns(app.config, 'seed');
  assert.equal(await withAccessToken(app, seed!, async (token) => token), 'access-1');
  assert.deepEqual([...(await signInTimes(app, 'seed'))], [['main', row.stored_at]]);
});

test('A seed mailbox and a receiver of the same name have sign-ins of their own', async (t) => {
  const [ofSeed, ofReceiver] = [await startTokenServer(t), await startTokenServer(t)];
  const { app } = await startTestService(t, {
    env: {
      DELIVERABILITY_SEED_MAILBOXES: seedEnvironment(ofSeed),
      DELIVERABILITY_RECEIVERS: receiverEnvironment(ofReceiver),
    },
  });
  const [seed] = configuredSignIns(app.config, 'seed');
  const [receiver] = configuredSignIns(app.config, 'receiver');
  await storeSignIn(app, seed!, 'first-refresh-token');
  assert.equal(await withAccessToken(app, seed!, async (token) => token), 'access-1');
  await assert.rejects(
    withAccessToken(app, receiver!, async (token) => token),
    (error: unknown) => {
      assert.ok(error instanceof AccountError);
      assert.equal(error.problem, 'sign_in_required');
      assert.equal(
        error.message,
        'Nobody has signed in to this account yet. Run: deliverability receivers sign-in main',
      );
      return true;
    },
  );
  ofReceiver.refreshTokens.add('of-the-receiver');
  await storeSignIn(app, receiver!, 'of-the-receiver');
  assert.equal(await withAccessToken(app, receiver!, async (token) => token), 'access-1');
  assert.deepEqual(
    ofReceiver.requests.map((parameters) => parameters.get('refresh_token')),
    ['of-the-receiver'],
  );
  assert.equal((await signInTimes(app, 'receiver')).size, 1);
});

test('A sign-in to a receiver makes its account due, and leaves its problem until the fetch', async (t) => {
  const tokens = await startTokenServer(t);
  const { app } = await startTestService(t, {
    env: { DELIVERABILITY_RECEIVERS: receiverEnvironment(tokens) },
  });
  await app.scheduler.stop();
  const failed = {
    problem: 'sign_in_expired',
    problem_detail: 'Expired.',
    failures: 3,
    next_fetch_at: new Date(systemClock.now() + 86_400_000).toISOString(),
  };
  await app.db.updateTable('receivers').set(failed).execute();
  const [receiver] = configuredSignIns(app.config, 'receiver');
  await storeSignIn(app, receiver!, 'first-refresh-token');
  const row = await app.db.selectFrom('receivers').selectAll().executeTakeFirstOrThrow();
  assert.deepEqual([row.next_fetch_at, row.problem], [null, 'sign_in_expired']);
});

test('An expired sign-in names the command of its kind, or the variable without an address to sign in at', async (t) => {
  const tokens = await startTokenServer(t);
  const { device_url: _, ...withoutUrl } = JSON.parse(receiverEnvironment(tokens))[0];
  const { app } = await startTestService(t, {
    env: {
      DELIVERABILITY_RECEIVERS: JSON.stringify([{ ...withoutUrl, refresh_token: 'ended' }]),
    },
  });
  const [receiver] = configuredSignIns(app.config, 'receiver');
  // The first fetch may have been refused already: then the server is not asked again, and gives no reason.
  await assert.rejects(
    withAccessToken(app, receiver!, async (token) => token),
    /no longer accepts the sign-in(?:: .*|\.) Set a new "refresh_token" for main in DELIVERABILITY_RECEIVERS, and restart the service\.$/s,
  );
});

/** Refresh tokens that work once, as those of Microsoft: none is lost between its answer, the database and the next call. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { App } from '../../src/app.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { createTrustedWebClient } from '../../src/net/http/client.ts';
import { refreshTokens } from '../../src/net/oauth/token-endpoint.ts';
import { withAccessToken } from '../../src/sign-ins/access-tokens.ts';
import { findCredential, readRefreshToken, storeSignIn } from '../../src/sign-ins/credentials.ts';
import { configuredSignIns } from '../../src/sign-ins/sign-in.ts';
import { startTestService } from '../helpers/app.ts';
import { startMicrosoftAuthority } from '../helpers/microsoft-authority.ts';

/** Services on one database, one after another, as a process that is killed and started again. */
async function startScene(t: TestContext) {
  const authority = await startMicrosoftAuthority(t);
  authority.refreshTokens.add('first');
  const account = {
    receiver: 'microsoft_snds',
    base_url: 'http://127.0.0.1:9',
    token_url: authority.tokenUrl,
    authorization_url: authority.authorizationUrl,
  };
  const env = { DELIVERABILITY_RECEIVERS: JSON.stringify([account]) };
  const start = async (folder?: string) => {
    const service = await startTestService(t, { env, ...(folder ? { folder } : {}) });
    await service.app.scheduler.stop();
    return service;
  };
  const first = await start();
  const { app, folder } = first;
  const [signIn] = configuredSignIns(app.config, 'receiver');
  await storeSignIn(app, signIn!, 'first');
  const storedToken = async ({ db, secrets }: App) =>
    readRefreshToken({ secrets }, signIn!, (await findCredential(db, signIn!))!);
  return {
    authority,
    app,
    signIn: signIn!,
    storedToken,
    restart: async () => {
      await first.stop();
      return (await start(folder)).app;
    },
  };
}

const useToken = async (token: string) => token;

test('The new refresh token is stored before its access token is used, and survives a kill then', async (t) => {
  const { authority, app, signIn, storedToken, restart } = await startScene(t);
  let storedAtUse: string | null = null;
  await assert.rejects(
    withAccessToken(app, signIn, async () => {
      storedAtUse = await storedToken(app);
      throw new Error('killed');
    }),
    /killed/,
  );
  assert.equal(storedAtUse, authority.issued[1]);
  assert.deepEqual([...authority.refreshTokens], [storedAtUse], 'the former one works no more');
  const next = await restart();
  assert.equal(await withAccessToken(next, signIn, useToken), authority.issued[2]);
});

test('A process that is killed between the answer and the database loses the sign-in, and the next one says what to do', async (t) => {
  const { authority, app, signIn, storedToken, restart } = await startScene(t);
  const web = createTrustedWebClient(zoneResolver({}));
  await refreshTokens(signIn.oauth, (await storedToken(app))!, web);
  const next = await restart();
  // The first fetch after the start may have been refused already: then Microsoft is not asked again.
  const words =
    /no longer accepts the sign-in.* Run: deliverability receivers sign-in microsoft_snds$/;
  await assert.rejects(withAccessToken(next, signIn, useToken), words);
  await storeSignIn(next, signIn, [...authority.refreshTokens].at(-1)!);
  assert.match(await withAccessToken(next, signIn, useToken), /^EwB-access-/);
});

test('While the database can’t be written, the new token is kept, and stored before the next request', async (t) => {
  const { authority, app, signIn, storedToken } = await startScene(t);
  // The answer arrives, but cannot be stored.
  const transaction = app.db.transaction;
  app.db.transaction = () => {
    throw new Error('the disk is full');
  };
  await assert.rejects(withAccessToken(app, signIn, useToken), /the disk is full/);
  app.db.transaction = transaction;
  assert.equal(await storedToken(app), 'first');
  assert.equal(await withAccessToken(app, signIn, useToken), authority.issued[2]);
  const sent = authority.exchanges.map(({ body }) =>
    new URLSearchParams(body).get('refresh_token'),
  );
  assert.deepEqual(sent, ['first', authority.issued[1]]);
});

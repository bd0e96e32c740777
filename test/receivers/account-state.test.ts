/** How long the access to Microsoft SNDS has been in use: since the last sign-in, or since a key was first seen. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../src/config/config.ts';
import { expiryOf } from '../../src/receivers/account-state.ts';
import { registerReceivers } from '../../src/receivers/accounts.ts';
import type { Receiver } from '../../src/receivers/schema.ts';
import { DAY_MS, type ReceiverScene, startReceivers } from './receiver-scene.ts';

const accountOf = async ({ call }: ReceiverScene): Promise<Receiver> =>
  (await call<{ data: Receiver[] }>('GET', '/v1/receivers')).body.data[1]!;

test('An SNDS key causes a warning from its 25th day, until another one is configured', async (t) => {
  const scene = await startReceivers(t);
  const { app } = scene;
  await scene.fetch('microsoft_snds');
  const first = await accountOf(scene);
  assert.deepEqual([first.state, first.problem], ['working', null]);
  assert.equal(first.access_confirmed_at, '2026-11-22T03:00:00.000Z');
  scene.advance(24 * DAY_MS);
  await registerReceivers(app);
  assert.equal((await accountOf(scene)).state, 'working', 'a restart is no new key');
  scene.advance(DAY_MS);
  const ending = await accountOf(scene);
  assert.deepEqual([ending.state, ending.problem!.code], ['expiring', 'access_expiring']);
  assert.match(
    ending.problem!.message,
    /^The key has been in use for 25 days\. Keys last 30 days\. Copy a new key from https:/,
  );
  const RECEIVERS: Config['RECEIVERS'] = app.config.RECEIVERS.map((account) =>
    'key' in account ? { ...account, key: 'another-key' } : account,
  );
  await registerReceivers({ ...app, config: { ...app.config, RECEIVERS } });
  const renewed = await accountOf(scene);
  assert.deepEqual(
    [renewed.state, renewed.access_confirmed_at],
    ['working', '2026-12-17T03:00:00.000Z'],
  );
  const { access } = await app.db
    .selectFrom('receivers')
    .select('access')
    .where('id', '=', 'microsoft_snds')
    .executeTakeFirstOrThrow();
  assert.doesNotMatch(access!, /another-key/);
});

test('An SNDS sign-in causes a warning after nine months, and no other account does', async (t) => {
  const { app } = await startReceivers(t, { snds: {} });
  const [google, snds] = app.config.RECEIVERS;
  const signedIn = Date.parse('2026-01-01T00:00:00.000Z');
  const row = {
    problem: null as string | null,
    fetched_at: '2026-09-01T00:00:00.000Z',
    access_since: '2026-01-01T00:00:00.000Z',
  };
  const at = (
    days: number,
    changes: Partial<Parameters<typeof expiryOf>[1]> = {},
    account = snds,
  ) => expiryOf(account!, { ...row, ...changes }, signedIn + days * DAY_MS)?.message ?? null;
  assert.equal(at(273), null);
  assert.match(
    at(274)!,
    /^Nobody has confirmed the access for nine months\. .*sign-in microsoft_snds$/,
  );
  assert.match(at(304)!, /^Nobody has confirmed the access for ten months\./);
  assert.equal(at(400, { access_since: null }), null, 'not known');
  assert.equal(at(400, { problem: 'refused' }), null, 'it has a problem already');
  assert.equal(at(400, {}, google), null);
  assert.equal(expiryOf(snds!, undefined, signedIn), null);
});

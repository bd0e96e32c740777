/** The reasons why there are no figures: each names what is missing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noAddressesReason, noDataReason } from '../../src/receivers/no-data.ts';
import { servedDomain } from '../helpers/postmaster-server.ts';
import { DAY_MS, type ReceiverScene, startReceivers } from './receiver-scene.ts';

type Period = { from: string; to: string };

const reason = async ({ app }: ReceiverScene, period?: Period) => {
  const found = await noDataReason(app, 'example.com', period);
  return found && `${found.code}: ${found.message}`;
};

test('Each step towards figures has its own reason', async (t) => {
  const scene = await startReceivers(t);
  await scene.addDomain('example.com');
  assert.match((await reason(scene))!, /^not_fetched: Nothing has been fetched/);
  await scene.fetch();
  assert.match((await reason(scene))!, /^not_in_account: .*google_postmaster doesn’t have/);
  const states: [Parameters<typeof servedDomain>[0], RegExp][] = [
    [{ permission: 'NONE', verificationState: 'UNVERIFIED' }, /^not_verified: .*is not verified/],
    [{ permission: 'NONE' }, /^no_permission: .*no permission to read example\.com/],
    [{}, /^too_little_mail: .*from 2026-\d\d-\d\d to 2026-\d\d-\d\d.*enough mail to Gmail/],
  ];
  for (const [domain, pattern] of states) {
    scene.postmaster.domains.set('example.com', servedDomain(domain));
    scene.advance(DAY_MS);
    await scene.fetch();
    assert.match((await reason(scene))!, pattern);
  }
  const today = { from: '2026-11-25', to: '2026-11-25' };
  assert.match((await reason(scene, today))!, /^not_yet: .*one to two days later/);
  scene.postmaster.domains.set(
    'example.com',
    servedDomain({ days: { '2026-11-24': { spamRate: 0 } } }),
  );
  scene.advance(DAY_MS);
  await scene.fetch();
  assert.equal(await reason(scene), null, 'a rate of zero is a figure');
});

test('Days that a failing account was not asked for are not said to have too little mail', async (t) => {
  const scene = await startReceivers(t);
  await scene.addDomain('example.com');
  scene.postmaster.domains.set('example.com', servedDomain());
  await scene.fetch();
  assert.match((await reason(scene))!, /^too_little_mail/);
  scene.advance(10 * DAY_MS);
  scene.postmaster.fault = () => 'unavailable';
  await scene.fetch();
  const recent = { from: '2026-11-24', to: '2026-12-01' };
  assert.match((await reason(scene, recent))!, /^failing: .*HTTP 500/);
  const before = { from: '2026-11-01', to: '2026-11-10' };
  assert.match((await reason(scene, before))!, /^too_little_mail/);
});

test('For addresses, the reason is that of the account at Microsoft, or too little mail', async (t) => {
  const scene = await startReceivers(t);
  const code = async () => (await noAddressesReason(scene.app))?.code;
  assert.equal(await code(), 'not_fetched');
  await scene.fetch('microsoft_snds');
  assert.equal(await code(), 'too_little_mail');
  scene.snds.keys.clear();
  scene.advance(DAY_MS);
  await scene.fetch('microsoft_snds');
  assert.equal(await code(), 'failing');
});

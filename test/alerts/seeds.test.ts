/** Alerts about seed mailboxes that can't be read. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sweepIncidents } from '../../src/alerts/jobs.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { recordLook, registerSeeds } from '../../src/placement/seeds.ts';
import { startAlerting } from './alerting.ts';

const SEEDS = [
  { provider: 'gmail', address: 'seed@gmail.com', password: 'app password' },
  { provider: 'gmx', address: 'seed@gmx.net', password: 'app password' },
];

const WRONG = {
  error: 'sign_in_failed',
  error_detail: 'imap.gmail.com rejects the user name or password. Create a new app password.',
};
const UNREACHABLE = { error: 'unreachable', error_detail: 'Can’t connect to imap.gmx.net.' };
const READ = { error: null, error_detail: null };

async function start(t: Parameters<typeof startAlerting>[0]) {
  const alerting = await startAlerting(t, {
    env: { DELIVERABILITY_SEED_MAILBOXES: JSON.stringify(SEEDS) },
  });
  const { app } = alerting;
  await registerSeeds(app);
  await app.db.updateTable('seed_mailboxes').set({ lease: 'ours' }).execute();
  const look = (id: string, state: typeof WRONG | typeof READ) =>
    recordLook(app, { id, lease: 'ours' }, { ...state, failures: 1, next_look_at: null });
  return { ...alerting, look };
}

test('A rejected password opens an incident at once, and the next successful look resolves it', async (t) => {
  const { makeAlert, incidents, look, sink, sendDue, service } = await start(t);
  const rule = await makeAlert({ condition: 'seed_failing', channels: ['email', 'slack'] });
  await look('seed@gmail.com', WRONG);
  await look('seed@gmail.com', WRONG);
  const [opened, ...others] = await incidents();
  assert.equal(others.length, 0);
  assert.deepEqual(
    [opened!.subject, opened!.status, opened!.value, opened!.test_id, opened!.run_id],
    [
      'seed@gmail.com',
      'open',
      { provider: 'gmail', error: 'sign_in_failed', detail: WRONG.error_detail },
      null,
      null,
    ],
  );
  await sendDue();
  await sink.waitFor(/The seed mailbox seed@gmail\.com can/);
  await sink.waitFor(/Fix the entry in\s+DELIVERABILITY_SEED_MAILBOXES/);
  const page = await service.call('GET', `/v1/alerts/${rule.id}`);
  assert.equal(page.body.state, 'triggered');
  await look('seed@gmail.com', READ);
  const [closed] = await incidents();
  assert.deepEqual([closed!.status, closed!.resolution], ['resolved', 'condition_ended']);
});

test('A server that is unreachable or limits requests opens an incident after 15 minutes', async (t) => {
  const { makeAlert, incidents, look, clock, app } = await start(t);
  await makeAlert({ condition: 'seed_failing' });
  await look('seed@gmail.com', { error: 'throttled', error_detail: 'HTTP 429' });
  await look('seed@gmx.net', UNREACHABLE);
  const since = isoTime(clock.now());
  clock.advance(14 * 60_000);
  await look('seed@gmx.net', UNREACHABLE);
  assert.deepEqual(await incidents(), []);
  clock.advance(60_000);
  await look('seed@gmx.net', UNREACHABLE);
  assert.deepEqual(
    (await incidents()).map(({ subject, status }) => [subject, status]),
    [['seed@gmx.net', 'open']],
  );
  const row = await app.db
    .selectFrom('seed_mailboxes')
    .selectAll()
    .where('id', '=', 'seed@gmx.net')
    .executeTakeFirstOrThrow();
  assert.equal(row.failing_since, since);
});

test('The incident of a mailbox that was removed from the configuration ends', async (t) => {
  const { makeAlert, incidents, look, app } = await start(t);
  await makeAlert({ condition: 'seed_failing' });
  await look('seed@gmail.com', WRONG);
  await sweepIncidents(app);
  assert.equal((await incidents())[0]!.status, 'open');
  app.config.SEED_MAILBOXES.shift();
  await sweepIncidents(app);
  assert.deepEqual(
    (await incidents()).map(({ status, resolution }) => [status, resolution]),
    [['resolved', 'no_longer_watched']],
  );
});

test('A rule about seed mailboxes or placement cannot be limited to a domain', async (t) => {
  const { service } = await start(t);
  const { body } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  for (const condition of ['seed_failing', 'placement_problem']) {
    const json = { name: 'x', condition, channels: ['email'], domain_id: body.id };
    const { status, text } = await service.call('POST', '/v1/alerts', { json });
    assert.equal(status, 422, text);
    assert.match(text, /domain_id/);
  }
});

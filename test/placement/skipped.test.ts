/** Messages in seed mailboxes that are not read: refused by the server, or too many. */

// @one-database: about mailboxes; `api` stores their results in both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOOK_JOB } from '../../src/mailtests/placement.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Monitor } from '../../src/monitors/schema.ts';
import { createImapSource, type ImapSeed } from '../../src/placement/imap-source.ts';
import { isAffected } from '../../src/placement/source.ts';
import { type ImapScript, startImapServer } from '../helpers/imap-server.ts';
import { sendMail } from '../helpers/send.ts';
import {
  mailWith,
  offsetClock,
  placementIn,
  startSeeding,
  waitForPlacement,
  waitForSeed,
} from './seeding.ts';

const NAME = 'seed@mail.example';

const folders = (): ImapScript['folders'] => [
  { name: 'INBOX', messages: [] },
  { name: 'Junk', flags: ['\\Junk'], messages: [] },
];

test('A message that a busy server refuses to send once is read by a later look', async (t) => {
  const clock = offsetClock();
  let refusals = 0;
  const server = await startImapServer(t, {
    folders: folders(),
    on({ tag, line, send }) {
      if (!line.includes('BODY') || refusals > 0) return false;
      refusals += 1;
      send(`${tag} NO [UNAVAILABLE] Try again later`);
      return true;
    },
  });
  const seed = { provider: 'scripted', address: NAME, imap: server.url };
  const service = await startSeeding(t, { clock, seeds: [seed] });
  const created = await service.createTest({ placement: true });
  const raw = mailWith({ To: placementIn(created, 'seed').address });
  server.script.folders[0]!.messages.push({ uid: 1, raw });
  const done = await waitForPlacement(service, created.id, (now) => {
    clock.advance(1000);
    return placementIn(now, 'seed').settled;
  });
  assert.deepEqual([placementIn(done, 'seed').placement, refusals], ['inbox', 1]);
});

test('A copy that was refused before the message of a monitor arrived makes its placement unknown', async (t) => {
  const clock = offsetClock();
  const server = await startImapServer(t, {
    folders: folders(),
    on({ tag, line, send }) {
      if (!/^UID FETCH [\d:,]*\b1\b.*BODY/.test(line)) return false;
      send(`${tag} NO The message could not be converted.`);
      return true;
    },
  });
  const seed = { provider: 'scripted', address: NAME, imap: server.url };
  const service = await startSeeding(t, { clock, seeds: [seed] });
  const { body: monitor } = await service.call<Monitor>('POST', '/v1/monitors', {
    json: { name: 'Newsletter', type: 'placement', frequency: 'daily' },
  });
  // Because of this test, the mailbox is already read.
  await service.createTest({ placement: true, expires_in: 86_400 });
  await waitForSeed(service, NAME, ({ last_read_at }) => last_read_at !== null);
  const raw = mailWith({ To: monitor.seed_addresses[0]!.address });
  server.script.folders[0]!.messages.push({ uid: 1, raw });
  while (!server.commands.some((line) => line.includes('BODY'))) {
    clock.advance(5000);
    service.app.scheduler.wakeHere(LOOK_JOB);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  clock.advance(60_000);
  await sendMail({ port: service.smtp.port, to: monitor.address!, raw: mailWith() });
  const { body } = await service.call<{ data: Test[] }>('GET', '/v1/tests');
  const { id } = body.data.find(({ monitor_id }) => monitor_id === monitor.id)!;
  await service.getTest(id, '?wait=20');
  clock.advance(61 * 60_000);
  const done = await waitForPlacement(service, id, (now) => placementIn(now, 'seed').settled);
  const { placement, problem } = placementIn(done, 'seed');
  assert.deepEqual([placement, problem], ['unknown', 'unreadable_message']);
});

test('Of many messages that arrive one after the other, the newest 2,000 are kept', async (t) => {
  const server = await startImapServer(t, { folders: folders() });
  const { app } = await startSeeding(t, {
    seeds: [{ provider: 'scripted', address: NAME, imap: server.url }],
  });
  await app.scheduler.stop();
  const source = createImapSource(app, app.config.SEED_MAILBOXES[0]! as ImapSeed);
  t.after(() => source.close());
  const { messages } = server.script.folders[0]!;
  const startedAt = Date.now();
  for (let look = 0; look < 5; look++) {
    for (let i = 0; i < 450; i++) {
      const uid = messages.length + 1;
      messages.push({ uid, raw: mailWith(), receivedAt: new Date(startedAt + uid * 1000) });
    }
    const { truncatedAt } = await source.read(startedAt - 60_000);
    assert.equal(truncatedAt !== null, look === 4);
  }
  const uids = source.messages().map(({ uid }) => uid!);
  assert.deepEqual([uids.length, Math.min(...uids), Math.max(...uids)], [2000, 251, 2250]);
});

test('Skipped messages affect tests that began before them, and monitors ten minutes longer', () => {
  const at = Date.parse('2026-11-23T10:00:00.000Z');
  const began = (minutes: number, monitor_id: string | null = null) => ({
    created_at: new Date(at + minutes * 60_000).toISOString(),
    monitor_id,
  });
  assert.equal(isAffected(began(-1), null), false);
  assert.equal(isAffected(began(-1), at), true);
  assert.equal(isAffected(began(1), at), false);
  assert.equal(isAffected(began(9, 'mon_1'), at), true);
  assert.equal(isAffected(began(11, 'mon_1'), at), false);
});

/** What the last look finds counts, and a look that takes too long loses nothing that it has found. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOOK_JOB } from '../../src/mailtests/placement.ts';
import { createImapSource, type ImapSeed } from '../../src/placement/imap-source.ts';
import { openPlacements } from '../../src/placement/placements.ts';
import type { Look } from '../../src/placement/source.ts';
import { createTracker } from '../../src/placement/tracker.ts';
import { type ImapScript, startImapServer } from '../helpers/imap-server.ts';
import {
  mailWith,
  offsetClock,
  placementIn,
  sendToTest,
  startSeeding,
  waitForPlacement,
  waitForSeed,
} from './seeding.ts';

const NAME = 'seed@mail.example';
const TIMEOUT_MS = 60 * 60_000;

const folders = (): ImapScript['folders'] => [
  { name: 'INBOX', messages: [] },
  { name: 'Junk', flags: ['\\Junk'], messages: [] },
];

test('A message in the inbox whose tab Gmail refuses to tell at the last look is unknown, not missing', async (t) => {
  const clock = offsetClock();
  const server = await startImapServer(t, {
    capabilities: ['IDLE', 'X-GM-EXT-1'],
    folders: folders(),
    on({ tag, line, send }) {
      if (!line.includes('category:')) return false;
      send(`${tag} BAD unknown search key`);
      return true;
    },
  });
  const seed = { provider: 'scripted', address: NAME, imap: server.url };
  const service = await startSeeding(t, { clock, seeds: [seed] });
  const created = await service.createTest({ placement: true });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  await waitForSeed(service, NAME, ({ last_read_at }) => last_read_at !== null);
  const raw = mailWith({ To: placementIn(created, 'seed').address });
  server.script.folders[0]!.messages.push({ uid: 1, raw });
  clock.advance(TIMEOUT_MS + 60_000);
  const done = await waitForPlacement(
    service,
    created.id,
    (now) => placementIn(now, 'seed').settled,
  );
  const { placement, problem, folder } = placementIn(done, 'seed');
  assert.deepEqual([placement, problem, folder], ['unknown', 'tab_unknown', 'INBOX']);
});

test('A message that disappears before Gmail tells its tab is unknown at the last look, not missing', async (t) => {
  const clock = offsetClock();
  const tabs = Promise.withResolvers<void>();
  const server = await startImapServer(t, {
    capabilities: ['IDLE', 'X-GM-EXT-1'],
    folders: folders(),
    on({ tag, line, send }) {
      if (!line.includes('category:')) return false;
      tabs.resolve();
      send(`${tag} BAD unknown search key`);
      return true;
    },
  });
  const seed = { provider: 'scripted', address: NAME, imap: server.url };
  const service = await startSeeding(t, { clock, seeds: [seed] });
  const created = await service.createTest({ placement: true });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  const inbox = server.script.folders[0]!;
  inbox.messages.push({ uid: 1, raw: mailWith({ To: placementIn(created, 'seed').address }) });
  await tabs.promise;
  // With a new UIDVALIDITY, the folder is read again, and is empty.
  inbox.messages.length = 0;
  inbox.uidValidity = 2;
  clock.advance(TIMEOUT_MS + 60_000);
  const done = await waitForPlacement(
    service,
    created.id,
    (now) => placementIn(now, 'seed').settled,
  );
  const { placement, problem } = placementIn(done, 'seed');
  assert.deepEqual([placement, problem], ['unknown', 'message_gone']);
});

test('A message like that of a test is not left to others at the last look', async (t) => {
  const clock = offsetClock();
  const server = await startImapServer(t, { folders: folders() });
  const seed = { provider: 'scripted', address: NAME, imap: server.url, plus_addresses: false };
  const service = await startSeeding(t, { clock, seeds: [seed] });
  const created = await service.createTest({ placement: true });
  // It could be the one that fits better.
  await service.createTest({ placement: true, expires_in: 86_400 });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  await waitForSeed(service, NAME, ({ last_read_at }) => last_read_at !== null);
  clock.advance(TIMEOUT_MS + 15_000);
  server.script.folders[0]!.messages.push({
    uid: 1,
    raw: mailWith({ 'Message-ID': '<other@example.com>' }),
    receivedAt: new Date(clock.now() - 40_000),
  });
  service.app.scheduler.wakeHere(LOOK_JOB);
  const done = await waitForPlacement(
    service,
    created.id,
    (now) => placementIn(now, 'seed').settled,
  );
  const { placement, match } = placementIn(done, 'seed');
  assert.deepEqual([placement, match], ['inbox', 'probable']);
});

test('A look that ends between the tabs of two messages keeps the first result', async (t) => {
  let answers = 4;
  const server = await startImapServer(t, {
    capabilities: ['IDLE', 'X-GM-EXT-1'],
    folders: folders(),
    // After the four tabs of one message, silence.
    on: ({ line }) => line.includes('category:') && answers-- <= 0,
  });
  const service = await startSeeding(t, {
    seeds: [{ provider: 'scripted', address: NAME, imap: server.url }],
  });
  const { app } = service;
  await app.scheduler.stop();
  for (const uid of [1, 2]) {
    const created = await service.createTest({ placement: true });
    const raw = mailWith({ To: placementIn(created, 'seed').address });
    server.script.folders[0]!.messages.push({ uid, raw });
  }
  const seed = app.config.SEED_MAILBOXES[0]! as ImapSeed;
  const source = createImapSource(app, seed, { lookTimeoutMs: 1500 });
  t.after(() => source.close());
  const open = await openPlacements(app.db, NAME);
  const look: Look = await source.read(Date.now() - 60_000);
  const recorded: string[] = [];
  const changes = createTracker(app, seed, source).changes(
    open,
    { ...look, due: new Set(), now: Date.now() },
    async (_, { placement }) => {
      recorded.push(placement);
    },
  );
  await assert.rejects(changes, { problem: 'timeout' });
  assert.deepEqual(recorded, ['inbox']);
});

test('What a look has found stays, even if the connection then breaks', async (t) => {
  const clock = offsetClock();
  let answers = 4;
  const server = await startImapServer(t, {
    capabilities: ['IDLE', 'X-GM-EXT-1'],
    folders: folders(),
    on({ line, socket }) {
      if (!line.includes('category:') || answers-- > 0) return false;
      socket.destroy();
      return true;
    },
  });
  const seed = { provider: 'scripted', address: NAME, imap: server.url };
  const service = await startSeeding(t, { clock, seeds: [seed] });
  const all = [];
  for (const uid of [1, 2]) {
    const created = await service.createTest({ placement: true });
    await sendToTest(service, created, mailWith({ 'Message-ID': `<${uid}@example.com>` }));
    await service.getTest(created.id, '?wait=20');
    all.push(created);
  }
  // From then on, tests show what is not found.
  clock.advance(16 * 60_000);
  for (const [i, created] of all.entries()) {
    const raw = mailWith({ To: placementIn(created, 'seed').address });
    server.script.folders[0]!.messages.push({ uid: i + 1, raw });
  }
  service.app.scheduler.wakeHere(LOOK_JOB);
  await waitForSeed(service, NAME, ({ error }) => error !== null);
  const places = [];
  for (const { id } of all) places.push(placementIn(await service.getTest(id), 'seed').placement);
  assert.deepEqual(places.toSorted(), ['inbox', 'unknown']);
});

test('A connection that is still being opened when its look ends is not joined by a second one', async (t) => {
  let greetings = 0;
  const server = await startImapServer(t, {
    folders: folders(),
    greet(socket) {
      const greet = () => socket.write('* OK ready\r\n');
      if (++greetings === 1) setTimeout(greet, 1500);
      else greet();
    },
  });
  const { app } = await startSeeding(t, {
    seeds: [{ provider: 'scripted', address: NAME, imap: server.url, connections: 1 }],
  });
  const source = createImapSource(app, app.config.SEED_MAILBOXES[0]! as ImapSeed, {
    lookTimeoutMs: 500,
  });
  const closed = async () => {
    while (server.open > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  for (let look = 0; look < 2; look++)
    await assert.rejects(source.read(Date.now()), { problem: 'timeout' });
  await closed();
  assert.equal(server.total, 1);
  while (!(await source.read(Date.now()).catch(() => null)));
  source.close();
  await closed();
});

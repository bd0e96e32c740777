/** What the last look finds counts, and a look that takes too long loses nothing that it has found. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { LOOK_JOB } from '../../src/mailtests/placement.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { createImapSource, type ImapSeed } from '../../src/placement/imap-source.ts';
import { openPlacements } from '../../src/placement/placements.ts';
import type { Look } from '../../src/placement/source.ts';
import { Tracker } from '../../src/placement/tracker.ts';
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

/** A server that knows Gmail’s tabs, but refuses to tell which one a message is in. */
const refusingTabs = (onTab = () => {}): Partial<ImapScript> => ({
  capabilities: ['IDLE', 'X-GM-EXT-1'],
  on({ tag, line, send }) {
    if (!line.includes('category:')) return false;
    onTab();
    send(`${tag} BAD unknown search key`);
    return true;
  },
});

/** A test whose message has arrived at the test address, and whose mailbox has been read once, without it. */
async function startScene(t: TestContext, script: Partial<ImapScript> = {}, fields: object = {}) {
  const clock = offsetClock();
  const server = await startImapServer(t, { folders: folders(), ...script });
  const seed = { provider: 'scripted', address: NAME, imap: server.url, ...fields };
  const service = await startSeeding(t, { clock, seeds: [seed] });
  const created = await service.createTest({ placement: true });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  await waitForSeed(service, NAME, ({ last_read_at }) => last_read_at !== null);
  const isSettled = (now: Test) => placementIn(now, 'seed').settled;
  return {
    clock,
    service,
    created,
    inbox: server.script.folders[0]!,
    raw: mailWith({ To: placementIn(created, 'seed').address }),
    settled: async () =>
      placementIn(await waitForPlacement(service, created.id, isSettled), 'seed'),
  };
}

test('A message in the inbox whose tab Gmail refuses to tell at the last look is unknown, not missing', async (t) => {
  const { clock, service, created, inbox, raw, settled } = await startScene(t, refusingTabs());
  inbox.messages.push({ uid: 1, raw });
  clock.advance(TIMEOUT_MS + 60_000);
  const { placement, problem, folder } = await settled();
  assert.deepEqual([placement, problem, folder], ['unknown', 'tab_unknown', 'INBOX']);
  await service.getTest(created.id, '?wait=20&for=placement');
  const { text } = await service.call('GET', `/v1/tests/${created.id}/report.html`);
  assert.match(text, /The message arrived, but no seed mailbox shows where\./);
  assert.doesNotMatch(text, /probably not sent|No results/);
});

test('A message that disappears before Gmail tells its tab is unknown at the last look, not missing', async (t) => {
  const asked = Promise.withResolvers<void>();
  const script = refusingTabs(asked.resolve);
  const { clock, service, inbox, raw, settled } = await startScene(t, script);
  inbox.messages.push({ uid: 1, raw });
  clock.advance(11_000);
  service.app.scheduler.wakeHere(LOOK_JOB);
  await asked.promise;
  // With a new UIDVALIDITY, the folder is read again, and is empty.
  inbox.messages.length = 0;
  inbox.uidValidity = 2;
  clock.advance(TIMEOUT_MS + 60_000);
  const { placement, problem } = await settled();
  assert.deepEqual([placement, problem], ['unknown', 'message_gone']);
});

test('A message like that of a test is not left to others at the last look', async (t) => {
  const { clock, service, inbox, settled } = await startScene(t, {}, { plus_addresses: false });
  // It could be the one that fits better.
  await service.createTest({ placement: true, expires_in: 86_400 });
  clock.advance(TIMEOUT_MS + 15_000);
  inbox.messages.push({
    uid: 1,
    raw: mailWith({ 'Message-ID': '<other@example.com>' }),
    receivedAt: new Date(clock.now() - 40_000),
  });
  service.app.scheduler.wakeHere(LOOK_JOB);
  const { placement, match } = await settled();
  assert.deepEqual([placement, match], ['inbox', 'probable']);
});

test('A look that ends between the tabs of two messages keeps the first result', async (t) => {
  let answers = 4;
  const limit = new AbortController();
  const server = await startImapServer(t, {
    capabilities: ['IDLE', 'X-GM-EXT-1'],
    folders: folders(),
    // After the four tabs of one message, the time is over.
    on({ line }) {
      if (!line.includes('category:') || answers-- > 0) return false;
      limit.abort();
      return true;
    },
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
  const source = createImapSource(app, seed, { lookLimit: () => limit.signal });
  t.after(() => source.close());
  const open = await openPlacements(app.db, NAME);
  const look: Look = await source.read(Date.now() - 60_000);
  const recorded: string[] = [];
  const changes = new Tracker(app, seed, source).changes(
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
  // The error is stored before what it means for the tests.
  const placeOf = async (id: string) => {
    for (;;) {
      const { placement } = placementIn(await service.getTest(id), 'seed');
      if (placement !== 'pending') return placement;
      await pause(20);
    }
  };
  const places = [];
  for (const { id } of all) places.push(await placeOf(id));
  assert.deepEqual(places.toSorted(), ['inbox', 'unknown']);
});

test('A connection that is still being opened when its look ends is not joined by a second one', async (t) => {
  let limit = new AbortController();
  const connected = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const server = await startImapServer(t, {
    folders: folders(),
    greet(socket) {
      connected.resolve();
      void ready.promise.then(() => socket.write('* OK ready\r\n'));
    },
  });
  const { app } = await startSeeding(t, {
    seeds: [{ provider: 'scripted', address: NAME, imap: server.url, connections: 1 }],
  });
  const source = createImapSource(app, app.config.SEED_MAILBOXES[0]! as ImapSeed, {
    lookLimit: () => limit.signal,
  });
  const closed = async () => {
    while (server.open > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  for (let look = 0; look < 2; look++) {
    limit = new AbortController();
    const reading = source.read(Date.now());
    await connected.promise;
    limit.abort();
    await assert.rejects(reading, { problem: 'timeout' });
  }
  ready.resolve();
  await closed();
  assert.equal(server.total, 1);
  limit = new AbortController();
  await source.read(Date.now());
  source.close();
  await closed();
});

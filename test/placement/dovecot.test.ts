/** Placement in mailboxes of a real IMAP server: three providers whose spam folders have different names. */

// @one-database: about an IMAP server.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ImapFlow } from 'imapflow';
import type { Test } from '../../src/mailtests/schema.ts';
import { cleanUpSeeds } from '../../src/placement/clean-up.ts';
import type { TestService } from '../helpers/app.ts';
import { type Dovecot, startDovecot } from '../helpers/dovecot.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import {
  mailWith,
  offsetClock,
  placementIn,
  placesOf,
  sendToTest,
  startSeeding,
  waitForPlacement,
} from './seeding.ts';

const skip = skipUnlessInstalled('dovecot');

/** One folder is flagged, one has a Russian name, and one the French one in a hierarchy. */
const JUNK = { anna: 'Junk', boris: 'Спам', claire: 'Courrier indésirable' };
type User = keyof typeof JUNK;
const USERS = Object.keys(JUNK) as User[];

interface Providers {
  dovecot: Dovecot;
  /** Sign-ins of the people who own the mailboxes. */
  clients: Record<User, ImapFlow>;
  seeds: object[];
}

async function startProviders(t: TestContext): Promise<Providers> {
  const dovecot = await startDovecot();
  t.after(() => dovecot.kill());
  const clients = {} as Record<User, ImapFlow>;
  for (const user of USERS) {
    clients[user] = await dovecot.client(user);
    await clients[user].mailboxCreate(JUNK[user]);
    t.after(() => clients[user].close());
  }
  const seeds = USERS.map((user) => ({
    provider: `${user}-mail`,
    address: `${user}@mail.example`,
    imap: dovecot.url(user),
    connections: 2,
  }));
  return { dovecot, clients, seeds };
}

/** Puts a message for the seed address of a test into a folder. */
async function deliver(client: ImapFlow, folder: string, to: string, fields = {}): Promise<void> {
  const raw = mailWith({ To: to, 'Message-ID': `<${folder.length}.${to}>`, ...fields });
  await client.append(folder, raw, []);
}

const addressOf = (created: Test, user: User): string =>
  created.seed_addresses.find(({ address }) => address.startsWith(user))!.address;

/** Everything about a mailbox that looking could change. */
async function snapshot(client: ImapFlow): Promise<unknown> {
  const folders = [];
  for (const { path } of await client.list()) {
    const status = await client.status(path, {
      messages: true,
      uidNext: true,
      uidValidity: true,
      unseen: true,
      recent: true,
    });
    assert.ok(status);
    const lock = await client.getMailboxLock(path, { readOnly: true });
    const messages = [];
    try {
      if ((status.messages ?? 0) > 0)
        for await (const { uid, flags, source } of client.fetch('1:*', {
          uid: true,
          flags: true,
          source: true,
        }))
          messages.push([
            uid,
            [...flags!].filter((flag) => flag !== '\\Recent').sort(),
            source!.toString('latin1'),
          ]);
    } finally {
      lock.release();
    }
    folders.push([
      path,
      String(status.uidValidity),
      status.uidNext,
      status.unseen,
      status.recent,
      messages,
    ]);
  }
  return folders;
}

test('A message in the inbox, in spam and nowhere is found in each provider’s own folders', {
  skip,
}, async (t) => {
  const { clients, seeds } = await startProviders(t);
  const clock = offsetClock();
  const service = await startSeeding(t, { seeds, clock });
  const created = await service.createTest({ placement: true });
  assert.equal(created.placement_status, 'waiting');
  assert.deepEqual(placesOf(created), { anna: 'pending', boris: 'pending', claire: 'pending' });
  assert.deepEqual(created.seed_addresses, [
    { provider: 'anna-mail', address: `anna+${created.token}@mail.example` },
    { provider: 'boris-mail', address: `boris+${created.token}@mail.example` },
    { provider: 'claire-mail', address: `claire+${created.token}@mail.example` },
  ]);
  await deliver(clients.anna, 'INBOX', addressOf(created, 'anna'));
  await deliver(clients.boris, JUNK.boris, addressOf(created, 'boris'));
  await sendToTest(service, created);
  const found = await waitForPlacement(service, created.id, (now) =>
    ['anna', 'boris'].every((user) => placementIn(now, user).settled),
  );
  assert.deepEqual(placesOf(found), { anna: 'inbox', boris: 'spam', claire: 'pending' });
  assert.equal(found.placement_status, 'waiting');
  assert.deepEqual(placementIn(found, 'boris').searched, ['Спам', 'INBOX']);
  assert.equal(placementIn(found, 'boris').folder, 'Спам');
  assert.equal(placementIn(found, 'anna').match, 'address');
  // The test does not wait for its placement.
  const completed = await service.getTest(created.id, '?wait=20');
  assert.equal(completed.status, 'completed');

  // Missing so far.
  clock.advance(16 * 60_000);
  const provisional = await waitForPlacement(
    service,
    created.id,
    (now) => placementIn(now, 'claire').placement !== 'pending',
  );
  const { placement, settled, searched } = placementIn(provisional, 'claire');
  assert.deepEqual([placement, settled], ['missing', false]);
  assert.deepEqual(searched, ['Courrier indésirable', 'INBOX']);

  // Final, with the event, and the figures in the summary.
  clock.advance(45 * 60_000);
  const final = await service.getTest(created.id, '?wait=20&for=placement');
  assert.equal(final.placement_status, 'settled');
  assert.deepEqual(final.inbox_placement, {
    'anna-mail': 'inbox',
    'boris-mail': 'spam',
    'claire-mail': 'missing',
  });
  const events = await service.app.db.selectFrom('events').selectAll().orderBy('id').execute();
  assert.deepEqual(
    events.map(({ type }) => type),
    ['test.completed', 'test.placement_settled'],
  );
  const { data } = events[1]!;
  assert.deepEqual((JSON.parse(data) as Test).inbox_placement, final.inbox_placement);
  const summary = await service.call<Record<string, unknown>>(
    'GET',
    '/v1/reports/summary?period=day',
  );
  assert.equal(summary.body.placement_samples, 3);
  assert.equal(summary.body.inbox_rate, 0.3333);
});

for (const [recheck, what] of [
  ['0', 'once'],
  ['2m', 'twice more, to see whether it was moved,'],
] as const)
  test(`Looking ${what} changes no flag, no unread count and no message in any folder`, {
    skip,
  }, async (t) => {
    const { clients, seeds } = await startProviders(t);
    const clock = offsetClock();
    const env = { DELIVERABILITY_PLACEMENT_RECHECK: recheck };
    const service = await startSeeding(t, { seeds, clock, env });
    const created = await service.createTest({ placement: true });
    for (const user of USERS) {
      await clients[user].append('INBOX', mailWith({ Subject: 'Older' }), ['\\Flagged']);
      await clients[user].append(JUNK[user], mailWith({ Subject: 'Older spam' }), ['\\Seen']);
    }
    await deliver(clients.anna, 'INBOX', addressOf(created, 'anna'));
    await deliver(clients.boris, JUNK.boris, addressOf(created, 'boris'));
    await deliver(clients.claire, 'INBOX', addressOf(created, 'claire'));
    const before = await Promise.all(USERS.map((user) => snapshot(clients[user])));
    const found = await waitForPlacement(service, created.id, ({ placement }) =>
      placement.every(({ placement: place }) => place !== 'pending'),
    );
    const isFinal = (test: Test) => test.placement.every(({ settled }) => settled);
    assert.equal(isFinal(found), recheck === '0');
    await waitForPlacement(service, created.id, (now) => {
      clock.advance(2000);
      return isFinal(now);
    });
    await service.stop();
    const after = await Promise.all(USERS.map((user) => snapshot(clients[user])));
    assert.deepEqual(after, before);
  });

test('A new message in the inbox is found within three seconds', { skip }, async (t) => {
  const { clients, seeds } = await startProviders(t);
  const service = await startSeeding(t, { seeds });
  const first = await service.createTest({ placement: true });
  await sendToTest(service, first);
  await service.getTest(first.id, '?wait=20');
  // The sessions have looked, and wait for notifications.
  await waitUntilWatched(service);
  const startedAt = Date.now();
  await deliver(clients.anna, 'INBOX', addressOf(first, 'anna'));
  await waitForPlacement(service, first.id, (now) => placementIn(now, 'anna').settled, 8);
  const seconds = (Date.now() - startedAt) / 1000;
  assert.ok(seconds < 3, `found after ${seconds} s`);
});

/** Until every mailbox has been read once, plus the time to open the second connection. */
async function waitUntilWatched(service: TestService): Promise<void> {
  for (;;) {
    const rows = await service.app.db.selectFrom('seed_mailboxes').selectAll().execute();
    if (rows.every(({ last_read_at }) => last_read_at !== null)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
}

test('Placement goes on after a restart', { skip }, async (t) => {
  const { clients, seeds } = await startProviders(t);
  const service = await startSeeding(t, { seeds });
  const created = await service.createTest({ placement: true });
  await deliver(clients.anna, 'INBOX', addressOf(created, 'anna'));
  await waitForPlacement(service, created.id, (now) => placementIn(now, 'anna').settled);
  await service.stop();
  await deliver(clients.boris, JUNK.boris, addressOf(created, 'boris'));
  await deliver(clients.claire, 'INBOX', addressOf(created, 'claire'));
  const restarted = await startSeeding(t, { seeds, folder: service.folder });
  const done = await waitForPlacement(restarted, created.id, ({ placement }) =>
    placement.every(({ settled }) => settled),
  );
  assert.deepEqual(placesOf(done), { anna: 'inbox', boris: 'spam', claire: 'inbox' });
});

test('Tests at the same time find only their own messages', { skip }, async (t) => {
  const { clients, seeds } = await startProviders(t);
  const service = await startSeeding(t, { seeds });
  const tests = [];
  for (let i = 0; i < 8; i++) tests.push(await service.createTest({ placement: true }));
  // Alike but for their recipients, as mail merges send them.
  for (const [i, each] of tests.entries()) {
    await sendToTest(service, each, mailWith({ To: each.address }));
    for (const [j, user] of USERS.entries())
      if ((i + j) % 3 !== 2)
        await deliver(
          clients[user],
          (i + j) % 3 === 0 ? 'INBOX' : JUNK[user],
          addressOf(each, user),
          { 'Message-ID': '<copy@example.com>' },
        );
  }
  for (const [i, each] of tests.entries()) {
    const wanted = USERS.map((_, j) => ['inbox', 'spam', 'pending'][(i + j) % 3]!);
    const done = await waitForPlacement(
      service,
      each.id,
      ({ placement }) =>
        placement.filter(({ settled }) => settled).length ===
        wanted.filter((place) => place !== 'pending').length,
    );
    assert.deepEqual(Object.values(placesOf(done)), wanted, `test ${i}`);
    assert.ok(done.placement.every(({ match }) => match === null || match === 'address'));
  }
});

test('The clean-up moves only surely matched messages that are old enough, and changes nothing else', {
  skip,
}, async (t) => {
  const { clients, seeds, dovecot } = await startProviders(t);
  const clock = offsetClock();
  const { anna } = clients;
  await anna.mailboxCreate('Trash');
  for (const [i, flags] of [['\\Seen'], [], ['\\Flagged', '\\Deleted']].entries())
    for (const folder of ['INBOX', JUNK.anna])
      await anna.append(folder, mailWith({ Subject: `Other ${i}` }), flags);
  const service = await startSeeding(t, {
    seeds,
    clock,
    env: { DELIVERABILITY_SEED_CLEANUP: '7d' },
  });
  // Opening a folder for writing takes the flag \Recent from its messages, which no other client can prevent.
  for (const folder of ['INBOX', JUNK.anna]) await anna.mailboxOpen(folder);
  const before = await snapshot(anna);
  const [first, spam] = [
    await service.createTest({ placement: true }),
    await service.createTest({ placement: true }),
  ];
  await deliver(anna, 'INBOX', addressOf(first, 'anna'));
  await deliver(anna, JUNK.anna, addressOf(spam, 'anna'));
  // Alike, but not surely of a test.
  const probable = await service.createTest({ placement: true });
  await anna.append(
    'INBOX',
    mailWith({ Subject: 'Probable', 'Message-ID': '<x@example.com>' }),
    [],
  );
  for (const created of [first, spam]) await sendToTest(service, created);
  await sendToTest(
    service,
    probable,
    mailWith({ Subject: 'Probable', 'Message-ID': '<y@example.com>' }),
  );
  for (const { id } of [first, spam, probable])
    await waitForPlacement(service, id, (now) => placementIn(now, 'anna').settled);
  assert.equal(placementIn(await service.getTest(probable.id), 'anna').match, 'probable');
  clock.advance(61 * 60_000);
  for (const { id } of [first, spam, probable]) await service.getTest(id, '?wait=20&for=placement');
  await service.app.scheduler.stop();
  await service.app.db
    .updateTable('seed_mailboxes')
    .set({ lease: null, leased_until: null })
    .execute();
  const withTests = await snapshot(anna);
  await cleanUpSeeds(service.app);
  assert.deepEqual(await snapshot(anna), withTests);
  clock.advance(7 * 86_400_000);
  await cleanUpSeeds(service.app);
  // The library answers from memory about a folder that is open.
  const later = await dovecot.client('anna');
  t.after(() => later.close());
  const trash = await later.status('Trash', { messages: true });
  assert.ok(trash && trash.messages === 2);
  const probableOnly = (folders: unknown) =>
    (folders as [string, string, number, number, number, [number, string[], string][]][]).map(
      ([path, validity, , , , messages]) => [
        path,
        validity,
        messages.filter(([, , source]) => !source.includes('Subject: Probable')),
      ],
    );
  assert.deepEqual(
    probableOnly(await snapshot(later)).filter(([path]) => path !== 'Trash'),
    probableOnly(before).filter(([path]) => path !== 'Trash'),
  );
  const kept = await later.status('INBOX', { messages: true, unseen: true });
  assert.ok(kept);
  assert.deepEqual([kept.messages, kept.unseen], [4, 3]);
  // Nothing is left to do.
  const after = await snapshot(later);
  await cleanUpSeeds(service.app);
  assert.deepEqual(await snapshot(later), after);
});

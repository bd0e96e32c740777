// @one-database: measures how mailboxes are read.
// @waits: for the next look into each mailbox, half a minute in all. Messages may be found after seconds.
/** Many placement tests at once: connections, results, and how soon a message is found. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImapFlow } from 'imapflow';
import type { Test } from '../../src/mailtests/schema.ts';
import { startDovecot } from '../helpers/dovecot.ts';
import { startImapServer } from '../helpers/imap-server.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import {
  mailWith,
  placementIn,
  sendToTest,
  startSeeding,
  waitForPlacement,
} from '../placement/seeding.ts';

const TESTS = 50;
const SEEDS = 10;
const CONNECTIONS = 2;

test('Fifty tests over ten mailboxes keep the connection limit and find only their own messages', async (t) => {
  const servers = await Promise.all(
    Array.from({ length: SEEDS }, () =>
      startImapServer(t, {
        folders: [
          { name: 'INBOX', messages: [] },
          { name: 'Junk', flags: ['\\Junk'], messages: [] },
        ],
      }),
    ),
  );
  const service = await startSeeding(t, {
    seeds: servers.map(({ url }, i) => ({
      provider: `p${i}`,
      address: `user${i}@b.example`,
      imap: url,
      connections: CONNECTIONS,
    })),
  });
  const created = await Promise.all(
    Array.from({ length: TESTS }, () => service.createTest({ placement: true })),
  );
  await Promise.all(
    created.map(async (each, i) => {
      await sendToTest(service, each, mailWith({ To: each.address }));
      for (const [j, { script }] of servers.entries()) {
        const { messages } = script.folders[(i + j) % 2]!;
        const to = each.seed_addresses.find(({ provider }) => provider === `p${j}`)!.address;
        messages.push({ uid: messages.length + 1, raw: mailWith({ To: to }) });
      }
    }),
  );
  for (const [i, { id }] of created.entries()) {
    const done = await service.getTest(id, '?wait=50&for=placement');
    assert.equal(done.placement_status, 'settled');
    for (const { provider, placement, match } of done.placement) {
      const expected = (i + Number(provider.slice(1))) % 2 === 1 ? 'spam' : 'inbox';
      assert.deepEqual([placement, match], [expected, 'address']);
    }
  }
  for (const { mostOpen } of servers) assert.ok(mostOpen <= CONNECTIONS, `${mostOpen} connections`);
});

const MAILBOXES = 20;

test('In the first two minutes, 95% are found within 3 s in the inbox and 15 s in spam', {
  skip: skipUnlessInstalled('dovecot'),
}, async (t) => {
  const dovecot = await startDovecot();
  t.after(() => dovecot.kill());
  const users = Array.from({ length: MAILBOXES }, (_, i) => `user${i}x`);
  const clients = new Map<string, ImapFlow>();
  for (const user of users) {
    const client = await dovecot.client(user);
    t.after(() => client.close());
    await client.mailboxCreate('Junk');
    clients.set(user, client);
  }
  const service = await startSeeding(t, {
    // Mailboxes go on being read for messages that are checked again.
    env: { DELIVERABILITY_PLACEMENT_RECHECK: '2m' },
    seeds: users.map((user) => ({
      provider: 'one',
      address: `${user}@b.example`,
      imap: dovecot.url(user),
      connections: 2,
    })),
  });
  for (const [folder, limit] of [
    ['INBOX', 3],
    ['Junk', 15],
  ] as const) {
    const created = await service.createTest({ placement: true });
    await sendToTest(service, created, mailWith({ To: created.address }));
    await service.getTest(created.id, '?wait=20');
    await wait(3000);
    // Each mailbox at another moment between two of its looks.
    const delays = await Promise.all(
      users.map(async (user, i) => {
        await wait(i * 600);
        const { address } = placementIn(created, user);
        const startedAt = Date.now();
        await clients.get(user)!.append(folder, mailWith({ To: address }), []);
        const isShown = (now: Test) => placementIn(now, user).placement !== 'pending';
        await waitForPlacement(service, created.id, isShown, 40);
        return (Date.now() - startedAt) / 1000;
      }),
    );
    const p95 = delays.sort((a, b) => a - b)[Math.ceil(MAILBOXES * 0.95) - 1]!;
    t.diagnostic(
      `${folder}: 95% within ${p95.toFixed(2)} s, all within ${delays.at(-1)!.toFixed(2)} s`,
    );
    assert.ok(p95 < limit, `${folder}: ${p95} s`);
  }
});

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Seed mailboxes that no test needs: their sign-ins stay valid, and problems show before a test needs them. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { keepSeedsAlive } from '../../src/placement/keep-alive.ts';
import type { SeedMailboxRow } from '../../src/store/tables.generated.ts';
import type { TestService } from '../helpers/app.ts';
import { type ImapServer, startImapServer } from '../helpers/imap-server.ts';
import { newDatabase, startNode } from '../helpers/nodes.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { startTokenServer, type TokenServer } from '../helpers/token-server.ts';
import {
  mailWith,
  type OffsetClock,
  offsetClock,
  placementIn,
  startSeeding,
  waitForPlacement,
} from './seeding.ts';

const DAY_MS = 86_400_000;
/** After which an unused sign-in ends. Microsoft’s is 90 days. */
const LIMIT_MS = 20 * DAY_MS;
const NAME = 'seed@mail.example';

interface Mailbox {
  tokens: TokenServer;
  imap: ImapServer;
  seed: Record<string, unknown>;
}

/** A mailbox that accepts the access tokens of a token endpoint. */
async function startMailbox(t: TestContext, settings: Partial<TokenServer> = {}): Promise<Mailbox> {
  const tokens = await startTokenServer(t, { rotates: true, ...settings });
  const imap = await startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [{ uid: 1, raw: mailWith() }] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
    acceptsToken: (token) => tokens.accessTokens.has(token),
  });
  const seed = {
    provider: 'one',
    address: NAME,
    imap: `imap://127.0.0.1:${imap.port}`,
    client_id: 'app',
    token_url: tokens.url,
    refresh_token: 'first-refresh-token',
    device_url: 'https://login.example/device',
  };
  return { tokens, imap, seed };
}

interface Scene extends Mailbox {
  clock: OffsetClock;
  service: TestService;
  row(): Promise<SeedMailboxRow>;
  /** Lets days pass, with the job in each hour of the last. */
  pass(days: number, hours?: number): Promise<void>;
}

async function startScene(t: TestContext, settings?: Partial<TokenServer>): Promise<Scene> {
  const mailbox = await startMailbox(t, settings);
  const clock = offsetClock();
  const service = await startSeeding(t, { clock, seeds: [mailbox.seed] });
  // Its jobs would run at every full hour of the real time.
  await service.app.scheduler.stop();
  const row = () =>
    service.app.db.selectFrom('seed_mailboxes').selectAll().executeTakeFirstOrThrow();
  const pass = async (days: number, hours = 1) => {
    clock.advance(days * DAY_MS);
    for (let hour = 0; hour < hours; hour++) {
      await keepSeedsAlive(service.app);
      clock.advance(3_600_000);
    }
  };
  return { ...mailbox, clock, service, row, pass };
}

test('A sign-in that no test uses is renewed every week, so that it never expires', async (t) => {
  let usedAt = 0;
  const scene: Scene = await startScene(t, {
    on({ json }) {
      const unusedMs = scene.clock.now() - usedAt;
      usedAt = scene.clock.now();
      if (unusedMs < LIMIT_MS) return false;
      json(400, { error: 'invalid_grant' });
      return true;
    },
  });
  usedAt = scene.clock.now();
  await scene.pass(6, 3);
  assert.equal(scene.tokens.requests.length, 0);
  for (let week = 0; week < 4; week++) await scene.pass(week === 0 ? 1.1 : 7.1, 2);
  assert.equal(scene.tokens.requests.length, 4, 'once a week');
  const { error, last_read_at } = await scene.row();
  assert.equal(error, null);
  assert.ok(Date.parse(last_read_at!) > scene.clock.now() - DAY_MS);
  const used = scene.tokens.requests.map((parameters) => parameters.get('refresh_token'));
  assert.deepEqual(used.slice(0, 3), ['first-refresh-token', 'refresh-1', 'refresh-2']);
  while (scene.imap.open > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(scene.imap.commands.every((line) => !/BODY|SELECT|STORE/.test(line)));
});

test('A sign-in that has ended raises an alert before a test needs it, and is retried once a day', async (t) => {
  const scene = await startScene(t);
  await scene.service.call('POST', '/v1/alerts', {
    json: { name: 'Seeds', condition: 'seed_failing', channels: ['webhook'] },
  });
  scene.tokens.refreshTokens.clear();
  await scene.pass(8, 20);
  assert.equal(scene.tokens.requests.length, 1);
  const { error, error_detail } = await scene.row();
  assert.equal(error, 'sign_in_expired');
  assert.match(error_detail!, / Run: deliverability seed sign-in seed@mail\.example$/);
  const { body } = await scene.service.call<{ data: { subject: string; status: string }[] }>(
    'GET',
    '/v1/alert_incidents',
  );
  assert.deepEqual(
    body.data.map(({ subject, status }) => [subject, status]),
    [[NAME, 'open']],
  );
  await scene.pass(1);
  assert.equal(scene.tokens.requests.length, 2);
});

test('A server that is down is asked again in an hour, and the mailbox is fine then', async (t) => {
  const scene = await startScene(t);
  scene.imap.script.greet = (socket) => socket.destroy();
  await scene.pass(8);
  assert.equal((await scene.row()).error, 'closed');
  delete scene.imap.script.greet;
  await scene.pass(0, 3);
  assert.equal((await scene.row()).error, null);
});

test('Mailboxes that a node is reading, that were read, or that nobody has signed in to are left alone', async (t) => {
  const scene = await startScene(t);
  await scene.service.app.db
    .updateTable('seed_mailboxes')
    .set({
      lease: 'other:req_1',
      leased_until: new Date(scene.clock.now() + 8 * DAY_MS + 60_000).toISOString(),
    })
    .execute();
  scene.clock.advance(8 * DAY_MS);
  await keepSeedsAlive(scene.service.app);
  assert.equal(scene.imap.total, 0);
  const { refresh_token: _, ...seed } = scene.seed;
  const unused = await startSeeding(t, { clock: offsetClock(), seeds: [seed] });
  await unused.app.scheduler.stop();
  (unused.app.clock as OffsetClock).advance(30 * DAY_MS);
  await keepSeedsAlive(unused.app);
  assert.equal(scene.imap.total, 0);
});

test('A service that stops does not wait for a mailbox that is being kept alive', async (t) => {
  const scene = await startScene(t);
  const connected = Promise.withResolvers<void>();
  scene.imap.script.greet = () => connected.resolve();
  const stop = new AbortController();
  scene.clock.advance(8 * DAY_MS);
  const working = keepSeedsAlive(scene.service.app, stop.signal);
  await connected.promise;
  const startedAt = Date.now();
  stop.abort();
  await working;
  assert.ok(Date.now() - startedAt < 5000);
  const { error, lease } = await scene.row();
  assert.deepEqual([error, lease], [null, null]);
});

test('Of two nodes, one renews an unused sign-in, and the other uses the new one', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const { tokens, imap, seed } = await startMailbox(t);
  const url = await newDatabase(t);
  const env = {
    DELIVERABILITY_SEED_MAILBOXES: JSON.stringify([seed]),
    DELIVERABILITY_PLACEMENT_RECHECK: '0',
  };
  const nodes = [
    await startNode(t, url, { name: 'one', env }),
    await startNode(t, url, { name: 'two', env }),
  ];
  const { db } = nodes[0]!.app;
  const old = new Date(Date.now() - 8 * DAY_MS).toISOString();
  await db.updateTable('seed_credentials').set({ stored_at: old }).execute();
  await Promise.all([...nodes, ...nodes].map(({ app }) => keepSeedsAlive(app)));
  assert.equal(tokens.requests.length, 1);
  assert.equal(imap.mostOpen, 1);
  // Whichever node looks, it has the token that was stored.
  const created = await nodes[1]!.createTest({ placement: true });
  imap.script.folders[0]!.messages.push({
    uid: 2,
    raw: mailWith({ To: placementIn(created, 'seed').address }),
  });
  await waitForPlacement(nodes[1]!, created.id, ({ placement }) => placement[0]!.settled);
  assert.deepEqual(
    tokens.requests.slice(0, 2).map((each) => each.get('refresh_token')),
    tokens.requests.length === 1 ? ['first-refresh-token'] : ['first-refresh-token', 'refresh-1'],
  );
  assert.equal(tokens.refreshTokens.size, 1);
});

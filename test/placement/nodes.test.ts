/** Two nodes with the same seed mailboxes: one at a time looks into each. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookJob } from '../../src/placement/look-job.ts';
import { startImapServer } from '../helpers/imap-server.ts';
import { newDatabase, startNode } from '../helpers/nodes.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { startTokenServer } from '../helpers/token-server.ts';
import { mailWith, sendToTest, waitForPlacement } from './seeding.ts';

test('One node looks into a mailbox at a time, and the other goes on when it stops', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const server = await startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
  });
  const url = await newDatabase(t);
  const seeds = [{ provider: 'one', address: 'a@b.example', imap: server.url, connections: 1 }];
  const env = {
    DELIVERABILITY_SEED_MAILBOXES: JSON.stringify(seeds),
    DELIVERABILITY_PLACEMENT_RECHECK: '0',
  };
  const nodes = [
    await startNode(t, url, { name: 'one', env }),
    await startNode(t, url, { name: 'two', env }),
  ];
  const created = await nodes[0]!.createTest({ placement: true });
  await sendToTest(nodes[1]!, created);
  const owner = async () =>
    (await nodes[0]!.app.db.selectFrom('seed_mailboxes').selectAll().executeTakeFirstOrThrow())
      .lease;
  while (server.open === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const first = (await owner())!.split(':')[0];
  const [stopping, other] = first === 'one' ? nodes : nodes.toReversed();
  // As at two ticks of the other node.
  for (let round = 0; round < 2; round++) await lookJob(other!.app).run();
  assert.deepEqual([server.total, server.mostOpen], [1, 1]);
  await stopping!.stop();
  server.script.folders[1]!.messages.push({
    uid: 1,
    raw: mailWith({ To: created.seed_addresses[0]!.address }),
  });
  // Only the service that is still running has a connection to the database.
  const done = await waitForPlacement(other!, created.id, ({ placement }) => placement[0]!.settled);
  assert.equal(done.placement[0]!.placement, 'spam');
  assert.equal(server.mostOpen, 1);
});

test('A refresh token that one node has replaced is used by the node that goes on', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const tokens = await startTokenServer(t, { rotates: true });
  const server = await startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
    acceptsToken: (token) => tokens.accessTokens.has(token),
  });
  const url = await newDatabase(t);
  const seed = {
    provider: 'one',
    address: 'a@b.example',
    imap: `imap://127.0.0.1:${server.port}`,
    client_id: 'app',
    token_url: tokens.url,
    refresh_token: 'first-refresh-token',
  };
  const env = {
    DELIVERABILITY_SEED_MAILBOXES: JSON.stringify([seed]),
    DELIVERABILITY_PLACEMENT_RECHECK: '0',
  };
  const nodes = [
    await startNode(t, url, { name: 'one', env }),
    await startNode(t, url, { name: 'two', env }),
  ];
  const created = await nodes[0]!.createTest({ placement: true });
  const row = () =>
    nodes[0]!.app.db.selectFrom('seed_mailboxes').selectAll().executeTakeFirstOrThrow();
  while ((await row()).last_read_at === null)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const [stopping, other] = (await row()).lease!.startsWith('one') ? nodes : nodes.toReversed();
  assert.equal(tokens.requests.length, 1, 'only the node that reads the mailbox asks for tokens');
  await stopping!.stop();
  server.script.folders[0]!.messages.push({
    uid: 1,
    raw: mailWith({ To: created.seed_addresses[0]!.address }),
  });
  const done = await waitForPlacement(other!, created.id, ({ placement }) => placement[0]!.settled);
  assert.equal(done.placement[0]!.placement, 'inbox');
  assert.deepEqual(
    tokens.requests.map((parameters) => parameters.get('refresh_token')),
    ['first-refresh-token', 'refresh-1'],
  );
});

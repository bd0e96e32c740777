/** Servers of seed mailboxes that fall silent, or send one byte at a time: no request waits for long. */

// @waits: for the time limits of requests to mailboxes, 20 seconds.
// @one-database: about servers of others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HttpExchange, startHttpScript } from '../helpers/http-script.ts';
import { startImapServer } from '../helpers/imap-server.ts';
import { startTokenServer } from '../helpers/token-server.ts';
import { mailWith, placementIn, startSeeding, waitForPlacement } from '../placement/seeding.ts';

const silent = () => true;

function dripping({ response }: HttpExchange): boolean {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 200);
  response.on('close', () => clearInterval(timer));
  return true;
}

test('Silent and dripping servers end in a timeout, and a healthy mailbox is not affected', async (t) => {
  const [mute, slow, working] = [
    await startTokenServer(t, { on: silent }),
    await startTokenServer(t, { on: dripping }),
    await startTokenServer(t),
  ];
  const graph = await startHttpScript(t, (exchange) => void dripping(exchange));
  const healthy = await startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
  });
  const oauth = { provider: 'outlook', client_id: 'app', refresh_token: 'first-refresh-token' };
  const service = await startSeeding(t, {
    seeds: [
      { ...oauth, address: 'mute@a.example', token_url: mute.url },
      { ...oauth, address: 'slow@a.example', token_url: slow.url },
      {
        ...oauth,
        address: 'graph@a.example',
        token_url: working.url,
        api: 'graph',
        graph_url: graph.url,
      },
      { provider: 'healthy', address: 'well@a.example', imap: healthy.url },
    ],
  });
  const startedAt = Date.now();
  const created = await service.createTest({ placement: true });
  const to = placementIn(created, 'well').address;
  healthy.script.folders[0]!.messages.push({ uid: 1, raw: mailWith({ To: to }) });
  await waitForPlacement(service, created.id, (now) => placementIn(now, 'well').settled);
  assert.ok(Date.now() - startedAt < 12_000);
  for (;;) {
    const rows = await service.app.db
      .selectFrom('seed_mailboxes')
      .select(['id', 'error'])
      .where('error', 'is not', null)
      .orderBy('id')
      .execute();
    if (rows.length === 3) {
      assert.deepEqual(
        rows.map(({ error }) => error),
        ['timeout', 'timeout', 'timeout'],
      );
      break;
    }
    assert.ok(Date.now() - startedAt < 60_000, JSON.stringify(rows));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

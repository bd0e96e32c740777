/** Placement in the bundled program: after kill -9, it goes on, and each test settles once with the right result. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { type ImapServer, startImapServer } from '../helpers/imap-server.ts';
import { sendMail } from '../helpers/send.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';
import { SAME_NODE } from '../helpers/store.ts';
import { mailWith } from '../placement/seeding.ts';

const TESTS = 6;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function put({ script }: ImapServer, isSpam: boolean, to: string): void {
  const { messages } = script.folders[isSpam ? 1 : 0]!;
  messages.push({ uid: messages.length + 1, raw: mailWith({ To: to }) });
}

test('Placement goes on after each of several kills, and settles once', async (t) => {
  const servers = await Promise.all(
    ['a', 'b', 'c'].map(() =>
      startImapServer(t, {
        folders: [
          { name: 'INBOX', messages: [] },
          { name: 'Junk', flags: ['\\Junk'], messages: [] },
        ],
      }),
    ),
  );
  const seeds = servers.map(({ url }, i) => ({
    provider: `p${i}`,
    address: `user${i}@b.example`,
    imap: url,
  }));
  const folder = temporaryFolder(t);
  // Without DNS, analyses are retried for minutes, and the placement of a test settles after its result.
  const dns = await startDnsServer();
  t.after(() => dns.close());
  const env = {
    ...SAME_NODE,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_SEED_MAILBOXES: JSON.stringify(seeds),
    DELIVERABILITY_PLACEMENT_RECHECK: '10s',
  };
  const start = () => startServe(t, { folder, env });
  let serve: ServeProcess = await start();
  const created: Test[] = [];
  for (let i = 0; i < TESTS; i++) {
    const body = JSON.stringify({ placement: true });
    const each = await serve.call<Test>('POST', '/v1/tests', { body, status: 201 });
    await sendMail({ port: serve.smtpPort, to: each.address, raw: mailWith({ To: each.address }) });
    created.push(each);
  }
  // Every delivery is followed by a kill at another moment of the looks.
  for (let i = 0; i < TESTS; i++) {
    for (const [j, server] of servers.entries())
      put(server, (i + j) % 2 === 1, created[i]!.seed_addresses[j]!.address);
    if (i % 2 === 1) continue;
    await wait(i * 150);
    serve.signal('SIGKILL');
    await serve.ended;
    serve = await start();
  }
  for (const [i, { id }] of created.entries()) {
    const done = await serve.call<Test>('GET', `/v1/tests/${id}?wait=50&for=placement`);
    assert.equal(done.placement_status, 'settled', `test ${i}`);
    assert.deepEqual(
      done.placement.map(({ placement }) => placement),
      servers.map((_, j) => ((i + j) % 2 === 1 ? 'spam' : 'inbox')),
    );
  }
  t.diagnostic(JSON.stringify({ rounds: TESTS / 2, placements: TESTS * servers.length }));
  const { data } = await serve.call<{ data: { type: string; data: Test }[] }>(
    'GET',
    '/v1/events?type=test.placement_settled&limit=100',
  );
  assert.deepEqual(data.map(({ data: { id } }) => id).sort(), created.map(({ id }) => id).sort());
});

/** SIGTERM during work: the service accepts nothing new, finishes running work, and leaves a clean database. */

import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import { openStore } from '../../src/store/open.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { type DnsTestServer, startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';
import { type ServeProcess, spawnServe, startServe } from '../helpers/serve-process.ts';
import { databaseIn, skipOnPostgres } from '../helpers/store.ts';
import { connectTo, type RawClient } from '../smtp/raw-client.ts';
import { SENDER_ZONE } from './sender.ts';

const PROXY = 'PROXY TCP4 192.0.2.1 192.0.2.255 40000 25\r\n';

test('SIGTERM finishes running mail and analysis and leaves a clean database', async (t) => {
  const folder = temporaryFolder(t);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const env = { DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}` };
  const service = await startServe(t, { folder, env });
  const [completed, unfinished] = [await service.createTest(), await service.createTest()];

  const asked = holdAnswers(dns);
  await sendMail({ port: service.smtpPort, to: completed.address, raw: goodMessage() });
  await asked;
  const waiting = service.call<Test>('GET', `/v1/tests/${unfinished.id}?wait=50`);
  const idle = await greeted(t, service);
  const sender = await greeted(t, service);
  await sender.say('EHLO mail.example.com', 250);
  await sender.say('MAIL FROM:<bounce@example.com>', 250);
  await sender.say(`RCPT TO:<${unfinished.address}>`, 250);
  await sender.say('DATA', 354);
  const [header, body] = goodMessage().replaceAll('\n', '\r\n').split('\r\n\r\n');
  await sender.write(`${header}\r\n\r\n`);

  service.signal('SIGTERM');
  assert.ok(await service.nextLine('stopping'));
  // Idle clients are disconnected at once, and waiting requests get a response.
  assert.match(await idle.reply(), /^421 4\.3\.2 /);
  assert.equal((await waiting).status, 'waiting');
  await assertClosed(service.smtpPort);
  await assertClosed(Number(new URL(service.url).port));

  await sender.write(`${body}.\r\n`);
  assert.match(await sender.reply(), /^250 /);
  assert.match(await sender.reply(), /^421 4\.3\.2 /);
  dns.tamper = null;
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  assert.deepEqual(
    service.log.filter(({ level }) => level === 'error' || level === 'warn'),
    [],
  );
  assert.equal(service.log.at(-1)?.message, 'stopped');
  await assertCleanDatabase(folder, { [completed.id]: 'completed', [unfinished.id]: 'processing' });

  const again = await startServe(t, { folder, env });
  assert.equal((await again.testEnded(unfinished.id)).status, 'completed');
  assert.equal((await again.testEnded(completed.id)).status, 'completed');
  again.signal('SIGTERM');
  assert.deepEqual(await again.ended, { code: 0, signal: null });
  await assertCleanDatabase(folder, { [completed.id]: 'completed', [unfinished.id]: 'completed' });
});

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`${signal} ends an idle service at once`, async (t) => {
    const service = await startServe(t, { folder: temporaryFolder(t) });
    const before = performance.now();
    service.signal(signal);
    assert.deepEqual(await service.ended, { code: 0, signal: null });
    assert.ok(performance.now() - before < 2_000);
  });

test('SIGTERM during startup ends the service cleanly', { skip: skipOnPostgres }, async (t) => {
  const folder = temporaryFolder(t);
  // The first file of the start: from now on, there is something to clean up.
  const begun = appears(folder, 'deliverability.db.lock');
  const service = await spawnServe({ folder });
  await begun;
  service.signal('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  await assertCleanDatabase(folder, {});
});

async function appears(folder: string, name: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename === name) return;
}

/** Holds back DNS answers until `tamper` is removed; resolves at the first query. */
function holdAnswers(dns: DnsTestServer): Promise<void> {
  return new Promise((resolve) => {
    dns.tamper = () => {
      resolve();
      return [];
    };
  });
}

async function greeted(t: TestContext, service: ServeProcess): Promise<RawClient> {
  const client = await connectTo(t, service.smtpPort, PROXY);
  assert.match(await client.reply(), /^220 /);
  return client;
}

/** The connection is refused, or closed without data if the system had already accepted it. */
async function assertClosed(port: number): Promise<void> {
  const said = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
  assert.equal(said, '');
}

/** The WAL is empty, no work is claimed or half stored, and no event is duplicated. */
async function assertCleanDatabase(
  folder: string,
  statuses: Record<string, string>,
): Promise<void> {
  const location = await databaseIn(folder);
  const wal = `${location}-wal`;
  assert.ok(!existsSync(wal) || statSync(wal).size === 0, 'the WAL was not checkpointed');
  const { db, close } = await openStore(location);
  const tests = await db.selectFrom('tests').select(['id', 'status', 'lease']).execute();
  assert.deepEqual(Object.fromEntries(tests.map(({ id, status }) => [id, status])), statuses);
  assert.ok(tests.every(({ lease }) => lease === null));
  const orphans = await db
    .selectFrom('message_chunks')
    .select('message_id')
    .where('message_id', 'not in', db.selectFrom('messages').select('id'))
    .execute();
  assert.deepEqual(orphans, []);
  const completed = Object.values(statuses).filter((status) => status === 'completed').length;
  const events = await db
    .selectFrom('events')
    .select('id')
    .where('type', '=', 'test.completed')
    .execute();
  assert.equal(events.length, completed);
  await close();
}

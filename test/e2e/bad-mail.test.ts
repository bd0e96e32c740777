/** Bad mail is rejected or reported, stores nothing, and blocks no other client. */

// @one-database: about messages.

// @alone: it measures how long the event loop of a service is blocked.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type TestService, temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';
import { startServe } from '../helpers/serve-process.ts';
import { connectTo, type RawClient } from '../smtp/raw-client.ts';
import { BOMBS } from './bombs.ts';
import { SENDER_ZONE } from './sender.ts';
import { countRows, MAX_SIZE, startSmall } from './small-service.ts';

const MESSAGE = goodMessage();

async function connect(t: TestContext, { smtp }: TestService): Promise<RawClient> {
  const client = await connectTo(t, smtp.port, 'PROXY TCP4 192.0.2.1 192.0.2.255 40000 25\r\n');
  assert.match(await client.reply(), /^220 /);
  await client.say('EHLO mail.example.com', 250);
  return client;
}

test('Mail rejected at any SMTP step stores nothing', async (t) => {
  const service = await startSmall(t);
  const { address, id } = await service.createTest();
  const before = await countRows(service);
  const client = await connect(t, service);
  await client.say(`MAIL FROM:<a@example.com> SIZE=${MAX_SIZE + 1}`, 552);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say('RCPT TO:<nobody@inbox.test>', 550);
  await client.say('RCPT TO:<a@other.test>', 550);
  await client.say(`RCPT TO:<${address}>`, 250);
  await client.say('DATA', 354);
  await client.write(`${'x'.repeat(MAX_SIZE)}\r\n.\r\n`);
  assert.match(await client.reply(), /^552 5\.3\.4 .*larger than 100000 bytes/);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say(`RCPT TO:<${address}>`, 250);
  await client.say('DATA', 354);
  await client.write('From: a@example.com\r\n\r\na\n.\nMAIL FROM:<b@example.com>\r\n.\r\n');
  assert.match(await client.reply(), /^554 /);
  assert.deepEqual(await countRows(service), before);
  assert.equal((await service.getTest(id)).status, 'waiting');
});

test('A sender that disconnects mid-message stores nothing', async (t) => {
  const service = await startSmall(t);
  const { address, id } = await service.createTest();
  const before = await countRows(service);
  const client = await beginMessage(t, service, address);
  client.socket.destroy();
  await client.closed;
  // The address still accepts a later message.
  assert.deepEqual(await countRows(service), before);
  assert.match(await sendMail({ port: service.smtp.port, to: address, raw: MESSAGE }), /^250 /);
  assert.equal((await service.getTest(id, '?wait=20')).status, 'completed');
});

test('A byte-by-byte sender blocks no others and is accepted at the end', async (t) => {
  const service = await startSmall(t);
  const slow = await service.createTest();
  const client = await beginMessage(t, service, slow.address);
  for (const octet of 'A line of a message that comes one octet at a time.\r\n') {
    await client.write(octet);
    const other = await service.call('GET', '/healthz');
    assert.equal(other.status, 200);
  }
  const quick = await service.createTest();
  await sendMail({ port: service.smtp.port, to: quick.address, raw: MESSAGE });
  assert.equal((await service.getTest(quick.id, '?wait=20')).status, 'completed');
  assert.equal((await service.getTest(slow.id)).status, 'waiting');
  await client.write('.\r\n');
  assert.match(await client.reply(), /^250 /);
  assert.equal((await service.getTest(slow.id, '?wait=20')).status, 'completed');
});

/** A client that has sent the message header. */
async function beginMessage(
  t: TestContext,
  service: TestService,
  address: string,
): Promise<RawClient> {
  const client = await connect(t, service);
  await client.say('MAIL FROM:<bounce@example.com>', 250);
  await client.say(`RCPT TO:<${address}>`, 250);
  await client.say('DATA', 354);
  await client.write(`${MESSAGE.split('\n\n')[0]!.replaceAll('\n', '\r\n')}\r\n\r\n`);
  return client;
}

test('Messages with excessive MIME parts are reported and do not stall the service', async (t) => {
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const service = await startServe(t, {
    folder: temporaryFolder(t),
    env: { DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}` },
    monitored: true,
  });
  for (const [name, sentence] of [
    ['50,000 parts', /50,000 MIME parts, of which 1,000 were read/],
    ['parts nested 500 deep', /MIME parts nested more than 50 deep/],
  ] as const) {
    const { id, address } = await service.createTest();
    await service.stall();
    await sendMail({ port: service.smtpPort, to: address, raw: BOMBS[name]!() });
    const ended = await service.testEnded(id);
    const { wall, cpu } = await service.stall();
    assert.equal(ended.status, 'completed');
    const told = ended.checks.find((check) => check.id === 'encoding');
    assert.equal(told?.status, 'fail');
    assert.match(told.title, sentence);
    t.diagnostic(`${name}: longest stall ${wall} ms, of which the thread worked ${cpu} ms`);
    assert.ok(cpu < 200, `${cpu} ms`);
  }
});

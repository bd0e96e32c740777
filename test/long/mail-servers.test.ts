/** The recipes of docs/behind-a-mail-server.md, run with real mail servers and proxies. */

// @one-database: about mail servers in front.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createTransport } from 'nodemailer';
import type { Test } from '../../src/mailtests/schema.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { skipOrFail, skipUnlessInstalled } from '../helpers/installed.ts';
import { connectTo, type RawClient } from '../smtp/raw-client.ts';
import { EXIM, startExim, startHaproxy, startNginx, startPostfix } from './mail-servers.ts';

const MAIL =
  'From: a@example.com\r\nSubject: A\r\nReceived: from bank.example (bank.example [198.51.100.6]) by mx.example.net with ESMTP id 1; Sat, 21 Nov 2026 10:00:00 +0000\r\n\r\nText';

const start = (t: TestContext, env: Record<string, string>) =>
  startTestService(t, {
    env: {
      DELIVERABILITY_INBOX_DOMAIN: 'inbox.example.com',
      DELIVERABILITY_SMTP_PROXY_PROTOCOL: '',
      ...env,
    },
  });

const newTest = async ({ call }: TestService): Promise<Test> =>
  (await call<Test>('POST', '/v1/tests', { json: {} })).body;

/** The envelope of the test once its message has arrived. */
async function envelopeOf(service: TestService, { id }: Test) {
  const { envelope, status } = await service.getTest(id, '?wait=20');
  assert.equal(status, 'completed');
  return envelope!;
}

/** Sends a message directly, from an address of the loopback network. */
async function sendFrom(localAddress: string, port: number, to: string): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    localAddress,
    name: 'mail.example.com',
    ignoreTLS: true,
  });
  try {
    await transport.sendMail({ envelope: { from: 'b@example.com', to }, raw: MAIL });
  } finally {
    transport.close();
  }
}

/** Sends a message after EHLO. */
async function sendTo(client: RawClient, to: string): Promise<void> {
  await client.say('EHLO mail.example.com', 250);
  await client.say('MAIL FROM:<b@example.com>', 250);
  await client.say(`RCPT TO:<${to}>`, 250);
  await client.say('DATA', 354);
  await client.say(`${MAIL}\r\n.`, 250);
}

test('HAProxy passes the client on with the PROXY protocol', {
  skip: skipUnlessInstalled('haproxy'),
}, async (t) => {
  const service = await start(t, { DELIVERABILITY_SMTP_PROXY_PROTOCOL: '127.0.0.1' });
  const port = await startHaproxy(t, service.smtp.port);
  const made = await newTest(service);
  await sendFrom('127.0.0.9', port, made.address);
  const { client_ip, helo, reported_by } = await envelopeOf(service, made);
  assert.deepEqual([client_ip, helo, reported_by], ['127.0.0.9', 'mail.example.com', null]);
});

test('nginx as a stream proxy passes the client on with the PROXY protocol', {
  skip: skipUnlessInstalled('nginx'),
}, async (t) => {
  const service = await start(t, { DELIVERABILITY_SMTP_PROXY_PROTOCOL: '127.0.0.1' });
  const port = await startNginx(t, 'nginx-stream.conf', service.smtp.port);
  const made = await newTest(service);
  await sendFrom('127.0.0.9', port, made.address);
  const { client_ip, helo } = await envelopeOf(service, made);
  assert.deepEqual([client_ip, helo], ['127.0.0.9', 'mail.example.com']);
});

test('nginx with its mail module passes the client on with XCLIENT', {
  skip: skipUnlessInstalled('nginx'),
}, async (t) => {
  const service = await start(t, { DELIVERABILITY_SMTP_XCLIENT: '127.0.0.1' });
  const port = await startNginx(t, 'nginx-mail.conf', service.smtp.port);
  const made = await newTest(service);
  await sendFrom('127.0.0.9', port, made.address);
  const { client_ip, helo, reported_by } = await envelopeOf(service, made);
  assert.deepEqual([client_ip, helo], ['127.0.0.9', 'mail.example.com']);
  assert.equal(reported_by?.method, 'xclient');
});

// Postfix records other addresses if a proxy tells them.

async function throughPostfix(t: TestContext, port: number, to: string): Promise<void> {
  const client = await connectTo(t, port);
  await client.say('EHLO proxy.example', 250);
  await client.say('XCLIENT ADDR=192.0.2.9 NAME=mail.example.com', 220);
  await sendTo(client, to);
}

for (const [transport, protocol] of [
  ['postfix-master.cf', 'SMTP'],
  ['postfix-lmtp.cf', 'LMTP'],
] as const)
  test(`Postfix passes the client on with XFORWARD over ${protocol}, and rejects unknown addresses`, {
    skip: skipUnlessInstalled('postfix'),
  }, async (t) => {
    const service = await start(t, {
      DELIVERABILITY_SMTP_XCLIENT: '127.0.0.1',
      DELIVERABILITY_LMTP_PORT: '0',
    });
    const target = protocol === 'SMTP' ? service.smtp.port : service.lmtp!.port;
    const port = await startPostfix(t, { transport, target });
    const made = await newTest(service);
    await throughPostfix(t, port, made.address);
    const { client_ip, helo, tls, reported_by } = await envelopeOf(service, made);
    assert.deepEqual([client_ip, helo, tls], ['192.0.2.9', 'mail.example.com', null]);
    assert.equal(reported_by?.method, 'xforward');
    await assert.rejects(throughPostfix(t, port, 'unknown@inbox.example.com'), /550/);
  });

test('The Received field of Postfix names the client over LMTP', {
  skip: skipUnlessInstalled('postfix'),
}, async (t) => {
  const service = await start(t, {
    DELIVERABILITY_SMTP_TRUSTED_HOPS: '127.0.0.1',
    DELIVERABILITY_LMTP_PORT: '0',
  });
  const port = await startPostfix(t, {
    transport: 'postfix-lmtp.cf',
    target: service.lmtp!.port,
  });
  const made = await newTest(service);
  await throughPostfix(t, port, made.address);
  const { client_ip, helo, reported_by } = await envelopeOf(service, made);
  assert.deepEqual([client_ip, helo], ['192.0.2.9', 'mail.example.com']);
  assert.deepEqual(reported_by, {
    client_ip: '127.0.0.1',
    name: 'mx.example.net',
    method: 'received',
  });
});

test('The Received field of Exim names the client, and Exim rejects unknown addresses', {
  skip: existsSync(EXIM) ? false : skipOrFail(`${EXIM} is missing: scripts/setup-test-machine.sh`),
}, async (t) => {
  const service = await start(t, { DELIVERABILITY_SMTP_TRUSTED_HOPS: '127.0.0.1' });
  const port = await startExim(t, service.smtp.port);
  const made = await newTest(service);
  await sendFrom('127.0.0.9', port, made.address);
  const { client_ip, helo, reported_by } = await envelopeOf(service, made);
  assert.deepEqual([client_ip, helo], ['127.0.0.9', 'mail.example.com']);
  assert.deepEqual([reported_by?.name, reported_by?.method], ['mx.example.net', 'received']);
  await assert.rejects(sendFrom('127.0.0.9', port, 'unknown@inbox.example.com'), /550/);
});

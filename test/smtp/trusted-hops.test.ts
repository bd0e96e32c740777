/** The client of messages that came through trusted mail servers, over SMTP and LMTP. */

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { findTrueClient } from '../../src/smtp/trusted-hops.ts';
import { ADDRESS, beginData, listen } from './listener.ts';

const networks = (...texts: string[]) => texts.map(parseNetwork);
const HOPS = networks('127.0.0.1', '10.0.0.0/8');
const received = (from: string, by = 'mx.example.net') =>
  `Received: ${from}\r\n\tby ${by} (Postfix) with ESMTP id 1;\r\n\tSat, 21 Nov 2026 10:00:00 +0000\r\n`;
const FORGED = received('from bank.example (bank.example [198.51.100.6])');
const TRUE = received('from mail.example.com (mail.example.com [192.0.2.1])');

const PEER = { client_ip: '127.0.0.1', helo: 'mx.example.net', tls: null };
const clientOf = (header: string) =>
  findTrueClient(PEER, Buffer.from(`${header}Subject: a\r\n\r\n${TRUE}`), HOPS);

it('The topmost Received field of a trusted hop names the client, and fields below are not read', () => {
  const client = {
    client_ip: '192.0.2.1',
    helo: 'mail.example.com',
    tls: null,
    reported_by: { client_ip: '127.0.0.1', name: 'mx.example.net', method: 'received' },
  };
  assert.deepEqual(clientOf(`Return-Path: <a@example.com>\r\n${TRUE}${FORGED}`), client);
});

it('Several trusted hops in a row are followed to the first client that is none', () => {
  const inner = received('from relay.internal (relay.internal [10.0.0.7])', 'inner.internal');
  const outer = received('from mail.example.com (x [192.0.2.1])', 'relay.internal');
  const { client_ip, reported_by } = clientOf(`${inner}${outer}${FORGED}`);
  assert.equal(client_ip, '192.0.2.1');
  assert.deepEqual(reported_by, {
    client_ip: '10.0.0.7',
    name: 'relay.internal',
    method: 'received',
  });
});

it('The client is unknown if the field of a trusted hop cannot be read, whatever is below', () => {
  const unreadable = received('from x (y [192.0.2.1]) (z [192.0.2.2])');
  const local = 'Received: by mx.example.net (Postfix, from userid 1000) id 1; date\r\n';
  const loop = received('from a (a [10.0.0.1])').repeat(20);
  for (const header of [unreadable + TRUE, local + TRUE, loop + TRUE, '']) {
    const client = clientOf(header);
    assert.deepEqual([client.client_ip, client.helo, client.tls], [null, null, null], header);
    assert.equal(client.reported_by?.method, null);
  }
});

it('The Received field of any other client is not read', () => {
  const other = { ...PEER, client_ip: '192.0.2.9' };
  assert.equal(findTrueClient(other, Buffer.from(`${TRUE}\r\n`), HOPS), other);
});

it('A message over SMTP gets the client of the trusted hop, and XFORWARD comes first', async (t) => {
  const listener = await listen(t, {
    trustedHops: networks('127.0.0.1'),
    forwardingNetworks: networks('127.0.0.1'),
  });
  const client = await listener.connect();
  await beginData(client);
  await client.say(`${TRUE}Subject: a\r\n\r\na\r\n.`, 250);
  await client.say('XFORWARD ADDR=192.0.2.2 HELO=given.example', 250);
  await beginData(client, false);
  await client.say(`${TRUE}Subject: a\r\n\r\na\r\n.`, 250);
  assert.deepEqual(
    listener.messages.map(({ envelope }) => [envelope.client_ip, envelope.reported_by?.method]),
    [
      ['192.0.2.1', 'received'],
      ['192.0.2.2', 'xforward'],
    ],
  );
});

// LMTP (RFC 2033).

const listenLmtp = (t: TestContext, options = {}) =>
  listen(t, { lmtp: true, trustedHops: networks('127.0.0.1'), ...options });

it('LMTP accepts LHLO, and neither HELO nor EHLO', async (t) => {
  const listener = await listenLmtp(t);
  const client = await listener.connect();
  await client.say('EHLO mx.example.net', 500);
  await client.say('HELO mx.example.net', 500);
  await client.say('MAIL FROM:<a@example.com>', 503);
  assert.match(await client.say('LHLO mx.example.net', 250), /ENHANCEDSTATUSCODES/);
  await beginData(client, false);
  await client.say(`${TRUE}Subject: a\r\n\r\na\r\n.`, 250);
  assert.equal(listener.messages[0]?.envelope.client_ip, '192.0.2.1');
  assert.equal(listener.messages[0]?.envelope.helo, 'mail.example.com');
});

it('LMTP has one recipient per message, so each accepted one gets its reply', async (t) => {
  const listener = await listenLmtp(t);
  const client = await listener.connect();
  await client.say('LHLO mx.example.net', 250);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say('RCPT TO:<unknown@example.com>', 550);
  await client.say('DATA', 503);
  await client.say(`RCPT TO:<${ADDRESS}>`, 250);
  await client.say(`RCPT TO:<${ADDRESS}>`, 452);
  await client.say('RCPT TO:<token-2@inbox.example.com>', 452);
  await client.say('DATA', 354);
  await client.say(`${TRUE}Subject: a\r\n\r\na\r\n.`, 250);
  await client.say('NOOP', 250);
  assert.equal(listener.messages.length, 1);
});

it('Clients outside the named networks cannot speak LMTP', async (t) => {
  const listener = await listenLmtp(t, { trustedHops: networks('192.0.2.0/24') });
  const client = await listener.connectUngreeted();
  assert.match(await client.reply(), /^550 5\.7\.1 /);
});

it('LMTP takes the client from XFORWARD; without it the client is unknown', async (t) => {
  const listener = await listen(t, { lmtp: true, forwardingNetworks: networks('127.0.0.1') });
  const client = await listener.connect();
  await client.say('LHLO mx.example.net', 250);
  await client.say('XFORWARD NAME=a.example ADDR=192.0.2.1 HELO=mail.example.com', 250);
  await beginData(client, false);
  await client.say(`${FORGED}Subject: a\r\n\r\na\r\n.`, 250);
  await beginData(client, false);
  await client.say(`${FORGED}Subject: a\r\n\r\na\r\n.`, 250);
  assert.deepEqual(
    listener.messages.map(({ envelope }) => [envelope.client_ip, envelope.helo, envelope.tls]),
    [
      ['192.0.2.1', 'mail.example.com', null],
      [null, null, null],
    ],
  );
});

it('LMTP rejects a message with a false end of data, as SMTP does', async (t) => {
  const listener = await listenLmtp(t);
  for (const falseEnd of ['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r']) {
    const client = await listener.connect();
    await client.say('LHLO mx.example.net', 250);
    await beginData(client, false);
    const smuggled = `${falseEnd}MAIL FROM:<evil@example.com>`;
    await client.say(`${TRUE}Subject: a\r\n\r\na${smuggled}\r\n.`, 554);
    await client.say('NOOP', 250);
  }
  assert.deepEqual(listener.messages, []);
});

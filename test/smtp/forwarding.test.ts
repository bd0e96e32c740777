/** XCLIENT and XFORWARD: a trusted mail server passes on the client of a message. */

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { beginData, listen } from './listener.ts';
import type { RawClient } from './raw-client.ts';

const LOOPBACK = [parseNetwork('127.0.0.1')!];
const PEER = { client_ip: '127.0.0.1', helo: 'relay.example.com' };

const listenForwarding = (t: TestContext, options = {}) =>
  listen(t, { forwardingNetworks: LOOPBACK, ...options });

async function send(client: RawClient): Promise<void> {
  await beginData(client, false);
  await client.say('a\r\n.', 250);
}

it('EHLO offers XCLIENT and XFORWARD to trusted mail servers, and to nobody else', async (t) => {
  const forwarding = await listenForwarding(t);
  const trusted = await forwarding.connect();
  const offered = await trusted.say('EHLO relay.example.com', 250);
  assert.match(offered, /XCLIENT NAME ADDR PORT PROTO HELO LOGIN/);
  assert.match(offered, /XFORWARD NAME ADDR PORT PROTO HELO IDENT SOURCE/);

  const listener = await listen(t, { forwardingNetworks: [parseNetwork('192.0.2.0/24')!] });
  const other = await listener.connect();
  assert.doesNotMatch(await other.say('EHLO client.example.com', 250), /XCLIENT|XFORWARD/);
  await other.say('XCLIENT ADDR=192.0.2.9', 500);
  await other.say('XFORWARD ADDR=192.0.2.9', 500);
  await send(other);
  assert.equal(listener.messages[0]?.envelope.client_ip, '127.0.0.1');
});

it('XCLIENT sets the client of the session, which cannot change it', async (t) => {
  const listener = await listenForwarding(t);
  for (const [attributes, client_ip, helo] of [
    ['ADDR=192.0.2.1', '192.0.2.1', 'client.example.com'],
    ['ADDR=192.0.2.1 HELO=real.example.com', '192.0.2.1', 'real.example.com'],
    ['ADDR=IPv6:2001:DB8::1 NAME=a.example PORT=25', '2001:db8::1', 'client.example.com'],
    ['ADDR=192.0.2.1 HELO=[UNAVAILABLE]', '192.0.2.1', 'client.example.com'],
  ] as const) {
    const client = await listener.connect();
    await client.say('EHLO relay.example.com', 250);
    await client.say(`XCLIENT ${attributes}`, 220);
    await client.say('MAIL FROM:<a@example.com>', 503);
    await client.say('EHLO client.example.com', 250);
    await client.say('XCLIENT ADDR=192.0.2.66', 550);
    await client.say('XFORWARD ADDR=192.0.2.66', 550);
    await send(client);
    await send(client);
    for (const { envelope } of listener.messages.splice(0))
      assert.deepEqual(
        [envelope.client_ip, envelope.helo, envelope.tls],
        [client_ip, helo, null],
        attributes,
      );
  }
});

it('XFORWARD sets the client of the next message only', async (t) => {
  const listener = await listenForwarding(t);
  const client = await listener.connect();
  await client.say('EHLO relay.example.com', 250);
  await client.say('XFORWARD NAME=[UNAVAILABLE] ADDR=192.0.2.1 PORT=4000', 250);
  await client.say('XFORWARD PROTO=ESMTP HELO=real.example.com SOURCE=REMOTE', 250);
  await send(client);
  await send(client);
  await client.say('XFORWARD ADDR=IPv6:2001:db8::1 HELO=[UNAVAILABLE]', 250);
  await send(client);
  await client.say('XFORWARD ADDR=192.0.2.2', 250);
  await client.say('RSET', 250);
  await send(client);
  await client.say('XFORWARD ADDR=[UNAVAILABLE] SOURCE=LOCAL', 250);
  await send(client);
  const envelopes = listener.messages.map(({ envelope: { client_ip, helo } }) => ({
    client_ip,
    helo,
  }));
  assert.deepEqual(envelopes, [
    { client_ip: '192.0.2.1', helo: 'real.example.com' },
    PEER,
    { client_ip: '2001:db8::1', helo: null },
    PEER,
    PEER,
  ]);
  assert.deepEqual(
    listener.messages.map(({ envelope }) => envelope.tls?.used ?? null),
    [null, false, null, false, false],
  );
});

it('Invalid attributes are rejected and change nothing', async (t) => {
  const listener = await listenForwarding(t);
  const client = await listener.connect();
  await client.say('EHLO relay.example.com', 250);
  for (const attributes of [
    '',
    'ADDR',
    'ADDR=mail.example.com',
    'ADDR=192.0.2.1+0D+0AMAIL',
    'ADDR=192.0.2.1 NAME=a+0D+0Ab',
    'ADDR=192.0.2.1 HELO=a+0Ab',
    'EVIL=1',
    `ADDR=192.0.2.1 HELO=${'x'.repeat(300)}+00`,
  ])
    for (const command of ['XCLIENT', 'XFORWARD'])
      await client.say(`${command} ${attributes}`, 501);
  await send(client);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say('XCLIENT ADDR=192.0.2.1', 503);
  await client.say('XFORWARD ADDR=192.0.2.1', 503);
  await client.say('RSET', 250);
  await send(client);
  assert.deepEqual(
    listener.messages.map(({ envelope: { client_ip, helo } }) => ({ client_ip, helo })),
    [PEER, PEER],
  );
});

it('A HELO attribute that is no single word is ignored', async (t) => {
  const listener = await listenForwarding(t);
  const client = await listener.connect();
  await client.say('EHLO relay.example.com', 250);
  await client.say('XFORWARD ADDR=192.0.2.1 HELO=two+20words', 250);
  await send(client);
  assert.equal(listener.messages[0]?.envelope.helo, null);
});

it('Commands sent behind STARTTLS in plain text do not pass on a client', async (t) => {
  const listener = await listenForwarding(t);
  const client = await listener.connect();
  await client.say('EHLO relay.example.com', 250);
  await client.startTls({}, '\r\nXCLIENT ADDR=192.0.2.66');
  await client.say('EHLO relay.example.com', 250);
  await send(client);
  assert.equal(listener.messages[0]?.envelope.client_ip, '127.0.0.1');
  assert.equal(listener.messages[0]?.envelope.tls?.used, true);
});

it('Trusted mail servers have no limit per client', async (t) => {
  const limits = { connectionsPerAddress: 2 };
  const listener = await listenForwarding(t, { limits });
  for (let connections = 0; connections < 5; connections++) await listener.connect();
  const limited = await listen(t, { limits });
  await limited.connect();
  await limited.connect();
  const third = await limited.connectUngreeted();
  assert.match(await third.reply(), /^421 /);
});

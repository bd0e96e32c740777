import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import type { SecureVersion } from 'node:tls';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { makeCertificate } from '../../src/lib/certificates.ts';
import type { ReceiveVerdict } from '../../src/smtp/destination.ts';
import { ADDRESS, beginData, listen, NOW, PAIR } from './listener.ts';

const LONG_GRACE_MS = 60_000;

it('SMTP shutdown closes idle sessions with 421 and accepts no new ones', async (t) => {
  const listener = await listen(t);
  const [fresh, midway, secure] = [
    await listener.connect(),
    await listener.connect(),
    await listener.connect(),
  ];
  await midway.say('EHLO client.example.com', 250);
  await midway.say('MAIL FROM:<a@example.com>', 250);
  await midway.say(`RCPT TO:<${ADDRESS}>`, 250);
  await secure.startTls();
  await secure.say('EHLO client.example.com', 250);
  const closed = listener.close(LONG_GRACE_MS);
  for (const client of [fresh, midway, secure]) {
    assert.match(await client.reply(), /^421 4\.3\.2 /);
    assert.equal(await client.reply(), '');
  }
  const [error] = await once(connect(listener.port, '127.0.0.1'), 'error');
  assert.equal(error.code, 'ECONNREFUSED');
  await closed;
  assert.equal(listener.connections(), 0);
});

it('SMTP shutdown lets a message in transfer finish', async (t) => {
  const listener = await listen(t);
  const client = await listener.connect();
  await beginData(client);
  await client.write('Subject: a\r\n');
  const closed = listener.close(LONG_GRACE_MS);
  await client.write('\r\nb\r\n.\r\nMAIL FROM:<b@example.com>\r\n');
  assert.match(await client.reply(), /^250 /);
  assert.match(await client.reply(), /^421 4\.3\.2 /);
  assert.equal(await client.reply(), '');
  await closed;
  assert.equal(listener.messages[0]?.raw.toString(), 'Subject: a\r\n\r\nb\r\n');
});

it('SMTP shutdown replies to a message being stored before it closes the connection', async (t) => {
  let store: (verdict: ReceiveVerdict) => void = () => {};
  let began = () => {};
  const storing = new Promise<void>((resolve) => {
    began = resolve;
  });
  const listener = await listen(
    t,
    {},
    {
      receive: () =>
        new Promise((resolve) => {
          store = resolve;
          began();
        }),
    },
  );
  const client = await listener.connect();
  await beginData(client);
  await client.write('a\r\n.\r\n');
  await storing;
  const closed = listener.close(LONG_GRACE_MS);
  store({ accept: true, text: 'Kept' });
  assert.match(await client.reply(), /^250 2\.6\.0 Kept/);
  assert.match(await client.reply(), /^421 4\.3\.2 /);
  await closed;
});

it('SMTP shutdown cuts off messages that do not finish in time', async (t) => {
  const listener = await listen(t);
  const client = await listener.connect();
  const secure = await listener.connect();
  await beginData(client);
  await client.write('Subject: a\r\n');
  await secure.startTls();
  await beginData(secure);
  await listener.close(20);
  for (const cut of [client, secure]) {
    assert.match(await cut.reply(), /^421 4\.3\.2 /);
    assert.equal(await cut.reply(), '');
  }
  assert.equal(listener.messages.length, 0);
});

it('SMTP shutdown does not wait for half-open connections', async (t) => {
  const listener = await listen(t, { proxyNetworks: [parseNetwork('127.0.0.1')] });
  const proxy = await listener.connectUngreeted('PROXY ');
  const handshaking = await listener.connectUngreeted('PROXY UNKNOWN\r\n');
  assert.match(await handshaking.reply(), /^220 /);
  await handshaking.say('STARTTLS', 220);
  await listener.close(LONG_GRACE_MS);
  assert.equal(await proxy.reply(), '');
  assert.equal(await handshaking.reply(), '');
  await listener.close(LONG_GRACE_MS);
});

it('SMTP server frees the memory of clients that disconnect', async (t) => {
  const listener = await listen(t, { limits: { memoryBytes: 2_000_000 } });
  for (const tls of [false, true]) {
    for (const lines of [[], ['EHLO client.example.com'], null]) {
      const client = await listener.connect();
      const { socket } = client;
      if (tls) await client.startTls();
      if (lines) for (const line of lines) await client.say(line, 250);
      else {
        await beginData(client);
        await client.write('x'.repeat(900_000));
      }
      socket.resetAndDestroy();
    }
  }
  while (listener.connections() > 0) await new Promise(setImmediate);
  const client = await listener.connect();
  await beginData(client);
  await client.write(`${'x'.repeat(900_000)}\r\n.\r\n`);
  assert.match(await client.reply(), /^250 /, 'their memory is free again');
  assert.equal(listener.messages.length, 1);
  assert.deepEqual(listener.errors, []);
});

it('SMTP server tolerates clients that disconnect before the reply', async (t) => {
  const listener = await listen(t);
  for (let i = 0; i < 20; i++) {
    const client = await listener.connect();
    if (i % 2 === 0) await client.startTls();
    await beginData(client);
    await client.write('a\r\n.\r\n');
    client.socket.destroy();
  }
  while (listener.connections() > 0) await new Promise(setImmediate);
  assert.deepEqual(listener.errors, []);
  for (const { raw } of listener.messages) assert.equal(raw.toString(), 'a\r\n');
});

describe('SMTP STARTTLS', () => {
  const versions: SecureVersion[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];
  for (const version of versions) {
    it(`accepts ${version} and records it in the envelope`, async (t) => {
      const listener = await listen(t);
      const client = await listener.connect();
      const secure = await client.startTls({
        minVersion: 'TLSv1',
        maxVersion: version,
        ciphers: 'DEFAULT@SECLEVEL=0',
        servername: 'mx.example.com',
        ca: PAIR.cert,
        rejectUnauthorized: true,
      });
      assert.equal(secure.authorized, true);
      await beginData(client);
      await client.say('a\r\n.', 250);
      assert.deepEqual(listener.messages[0]?.envelope.tls, {
        used: true,
        version,
        cipher: secure.getCipher().name,
      });
    });
  }

  it('discards session state from before TLS', async (t) => {
    const client = await (await listen(t)).connect();
    await client.say('EHLO client.example.com', 250);
    await client.say('MAIL FROM:<a@example.com>', 250);
    await client.startTls();
    await client.say(`RCPT TO:<${ADDRESS}>`, 503);
    await client.say('MAIL FROM:<a@example.com>', 503);
    await client.say('EHLO client.example.com', 250);
    await client.say(`RCPT TO:<${ADDRESS}>`, 503);
    await client.say('STARTTLS', 503);
  });

  it('discards commands injected in clear text before TLS', async (t) => {
    const asked: string[] = [];
    const listener = await listen(
      t,
      {},
      {
        check: async ({ address }) => {
          asked.push(address);
          return { accept: true };
        },
      },
    );
    const injected = `EHLO evil\r\nMAIL FROM:<evil@example.net>\r\nRCPT TO:<${ADDRESS}>`;
    const client = await listener.connect();
    await client.startTls({}, `\r\n${injected}`);
    // If an injected command had run, its reply would come next.
    await client.say('DATA', 503);
    await client.say('EHLO client.example.com', 250);
    await client.say('DATA', 503);
    assert.deepEqual(asked, []);
  });

  it('failed handshake ends only that connection', async (t) => {
    const listener = await listen(t);
    const client = await listener.connect();
    await client.say('STARTTLS', 220);
    await client.write('EHLO client.example.com\r\n'.repeat(20));
    await client.closed;
    while (listener.connections() > 0) await new Promise(setImmediate);
    await (await listener.connect()).say('NOOP', 250);
  });
});

describe('SMTP updateTls', () => {
  it('uses the new certificate from the next handshake and ignores invalid ones', async (t) => {
    const listener = await listen(t);
    const nameShown = async () => {
      const secure = await (await listener.connect()).startTls();
      return secure.getPeerCertificate().subject.CN;
    };
    assert.equal(await nameShown(), 'mx.example.com');
    assert.throws(() => listener.updateTls({ key: 'none', cert: 'none' }));
    assert.equal(await nameShown(), 'mx.example.com');
    listener.updateTls(await makeCertificate('new.example.com', NOW));
    assert.equal(await nameShown(), 'new.example.com');
  });
});

/** Clients that never close their side, and what happens when the listener is full. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import type { SmtpLimits } from '../../src/smtp/listener-state.ts';
import { ADDRESS, beginData, listen, type TestListener } from './listener.ts';

const timeout = 20_000;

const SHORT: Partial<SmtpLimits> = {
  idleMs: 100,
  dataMs: 300,
  falseEndMs: 50,
  proxyHeaderMs: 100,
  lingerMs: 100,
  lineBytes: 4096,
};

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

/** A client that never closes its side, and reads only if `reads` is set. */
async function stubborn(
  t: TestContext,
  { port }: TestListener,
  bytes: string | Buffer,
  reads: boolean,
): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  if (reads) socket.resume();
  else socket.pause();
  await once(socket, 'connect');
  if (bytes.length > 0) socket.write(bytes);
  return socket;
}

const HELLO = 'EHLO client.example.com\r\n';
const DATA = `${HELLO}MAIL FROM:<a@example.com>\r\nRCPT TO:<${ADDRESS}>\r\nDATA\r\n`;
const STUBBORN: [name: string, bytes: string, reads?: boolean][] = [
  ['nothing', ''],
  ['half a command', 'EHL'],
  ['QUIT', 'QUIT\r\n'],
  ['QUIT and more', `QUIT\r\n${'NOOP\r\n'.repeat(1000)}`],
  ['too many unknown commands', 'FOO\r\n'.repeat(20)],
  ['an HTTP request', 'GET / HTTP/1.1\r\n\r\n'],
  ['an endless command line', 'x'.repeat(10_000)],
  ['too many recipients', `${HELLO}MAIL FROM:<>\r\n${'RCPT TO:<a@b.example>\r\n'.repeat(300)}`],
  ['half a message', `${DATA}Subject: a\r\n`],
  ['half a message with a false end', `${DATA}Subject: a\r\n\n.\n`],
  ['a message', `${DATA}a\r\n.\r\n`],
  ['STARTTLS without a handshake', `${HELLO}STARTTLS\r\n`],
  ['STARTTLS and half a handshake', `${HELLO}STARTTLS\r\n\x16\x03\x01\x02`],
  // More replies than the buffers of both systems hold.
  ['many commands, and reads no reply', HELLO.repeat(100_000), false],
];

describe('SMTP server closes the connection of a client that stays and sends', {
  timeout,
  concurrency: true,
}, () => {
  for (const [name, bytes, reads = true] of STUBBORN)
    it(name, async (t) => {
      const listener = await listen(t, { limits: SHORT });
      await stubborn(t, listener, bytes, reads);
      await until(() => listener.connections() === 1);
      await until(() => listener.connections() === 0);
    });

  it('no PROXY header', async (t) => {
    const proxyNetworks = [parseNetwork('127.0.0.1')];
    const listener = await listen(t, { limits: SHORT, proxyNetworks });
    await stubborn(t, listener, 'PROXY TCP4 ', true);
    await until(() => listener.connections() === 1);
    await until(() => listener.connections() === 0);
  });
});

it('SMTP server closes a TLS connection whose client reads no reply', { timeout }, async (t) => {
  const listener = await listen(t, { limits: { ...SHORT, idleMs: 1000 } });
  const client = await listener.connect();
  const tcp = client.socket;
  const secure = await client.startTls();
  tcp.pause();
  secure.write(HELLO.repeat(100_000));
  await until(() => listener.connections() === 0);
});

/** Resolves when the server has stopped reading, because its replies no longer fit. */
async function untilBlocked(socket: Socket): Promise<void> {
  let waiting = -1;
  while (socket.writableLength !== waiting) {
    waiting = socket.writableLength;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(waiting > 0);
}

it('SMTP shutdown does not wait for clients that read no reply', { timeout }, async (t) => {
  const listener = await listen(t, { limits: { lingerMs: 50 } });
  await untilBlocked(await stubborn(t, listener, HELLO.repeat(1_000_000), false));
  await listener.close(50);
});

describe('SMTP server at its connection limit', { timeout }, () => {
  it('closes the session that has been idle longest', async (t) => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => void lines.push(message) };
    const listener = await listen(t, { log, limits: { connections: 2 } });
    const [first, second] = [await listener.connect(), await listener.connect()];
    await first.say('NOOP', 250);
    const third = await listener.connect();
    assert.match(await second.reply(), /^421 4\.3\.2 /);
    assert.equal(await second.reply(), '');
    await first.say('NOOP', 250);
    await third.say('NOOP', 250);
    assert.equal(listener.isLimitReached(), true);
    assert.deepEqual(lines, [
      'connection limit reached: idle connections are closed, or new ones refused',
    ]);
  });

  it('closes at once the session of a client that does not read', async (t) => {
    const listener = await listen(t, { limits: { connections: 1, lingerMs: 600_000 } });
    await untilBlocked(await stubborn(t, listener, HELLO.repeat(1_000_000), false));
    await listener.connect();
    await until(() => listener.connections() === 1);
  });

  it('refuses a connection with 421 while all sessions are at work', async (t) => {
    let finish = () => {};
    const received = Promise.withResolvers<void>();
    const receive = () =>
      new Promise<{ accept: true; text: string }>((resolve) => {
        finish = () => resolve({ accept: true, text: 'Kept' });
        received.resolve();
      });
    const listener = await listen(t, { limits: { connections: 1 } }, { receive });
    const client = await listener.connect();
    await beginData(client);
    await client.write('a\r\n.\r\n');
    await received.promise;
    const refused = await listener.connectUngreeted();
    assert.match(await refused.reply(), /^421 4\.3\.2 /);
    assert.equal(await refused.reply(), '');
    finish();
    assert.match(await client.reply(), /^250 /);
  });

  it('closes a slow message transfer, but not a fast one', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const listener = await listen(t, { limits: { connections: 2 } });
    const [slow, fast] = [await listener.connect(), await listener.connect()];
    await beginData(slow);
    await beginData(fast);
    await slow.write('Subject: a\r\n');
    await fast.write(`${'x'.repeat(70)}\r\n`.repeat(1000));
    const refused = await listener.connectUngreeted();
    assert.match(await refused.reply(), /^421 4\.3\.2 /, 'both have just begun');
    t.mock.timers.tick(4000);
    const third = await listener.connect();
    assert.match(await slow.reply(), /^421 4\.3\.2 /);
    await fast.say('.', 250);
    await third.say('NOOP', 250);
  });

  it('counts all addresses of an IPv6 /64 as one client', async (t) => {
    const listener = await listen(t, {
      proxyNetworks: [parseNetwork('127.0.0.1')],
      limits: { connectionsPerAddress: 1 },
    });
    const from = async (address: string) => {
      const header = `PROXY TCP6 ${address} 2001:db8:ffff::1 4000 25\r\n`;
      return (await (await listener.connectUngreeted(header)).reply()).slice(0, 9);
    };
    assert.match(await from('2001:db8::1'), /^220 /);
    assert.equal(await from('2001:db8::ffff:1'), '421 4.7.0');
    assert.match(await from('2001:db8:0:1::1'), /^220 /);
    assert.equal(listener.isLimitReached(), false, 'other clients are not affected');
  });
});

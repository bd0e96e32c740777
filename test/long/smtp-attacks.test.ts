/** Attacks on the SMTP listener at full size: smuggling in every split, floods of connections and of recipients. */

// @alone: opens thousands of connections, and measures how long good clients wait.
// @one-database: the listener uses no database.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { createDataReader } from '../../src/smtp/data-parser.ts';
import { SMTP_LIMITS } from '../../src/smtp/listener-state.ts';
import { seededRandom } from '../helpers/random.ts';
import { ADDRESS, beginData, listen } from '../smtp/listener.ts';

const CONNECTIONS = Number(process.env.SMTP_CONNECTIONS ?? 10_000);
const MINUTE_MS = 60_000;
const RECIPIENTS = 5_000;
/** Of every sequence of these that is so long. */
const ALPHABET = ['\r', '\n', '.', '\0', 'x'];
const MAX_SEQUENCE = Number(process.env.SMTP_SEQUENCE ?? 6);

/**
 * The end of data as RFC 5321 §4.1.1.4 defines it: the only one that may end a message. After `<CR><CR><LF>`, servers
 * disagree, so the listener does not end a message there either.
 */
function strictEnd(wire: string): number {
  const end = /(?:^|(?<!\r)\r\n)\.\r\n/.exec(wire);
  return end ? end.index + end[0].length : -1;
}

/** Whether some server could end the message here: any of CR, LF and CRLF ends lines, and NUL is ignored. */
function hasLooseEnd(data: string): boolean {
  return /(?:^|[\r\n])\.[\r\n]/.test(data.replaceAll('\0', ''));
}

function read(pieces: string[]) {
  const reader = createDataReader();
  let [consumed, content] = [0, ''];
  for (const piece of pieces) {
    const part = reader.read(Buffer.from(piece, 'latin1'));
    content += part.content.toString('latin1');
    consumed += piece.length - (part.rest?.length ?? 0);
    if (part.rest !== null) return { ended: consumed, content, falseEnd: reader.hasFalseEnd };
  }
  return { ended: -1, content, falseEnd: reader.hasFalseEnd };
}

test(`Every sequence of CR, LF, dot, NUL and text up to ${MAX_SEQUENCE} bytes ends only at <CR><LF>.<CR><LF>, and looser ends are flagged`, (t) => {
  const random = seededRandom(1);
  let sequences = 0;
  const check = (sequence: string) => {
    sequences += 1;
    for (const head of ['', 'a', 'a\r\n']) {
      const wire = `${head}${sequence}`;
      const expected = strictEnd(wire);
      const result = read([wire]);
      assert.equal(result.ended, expected, JSON.stringify(wire));
      // What comes before the true end, without its own line with the dot.
      // A dot and CR in the right place may still become the true end.
      const message =
        expected < 0 ? wire.replace(/((?:^|\r\n)\.)\r$/, '$1') : wire.slice(0, expected - 3);
      if (hasLooseEnd(message)) assert.ok(result.falseEnd, JSON.stringify(wire));
      const at = random.below(wire.length + 1);
      assert.deepEqual(read([wire.slice(0, at), wire.slice(at)]), result, `cut at ${at}`);
      assert.deepEqual(read([...wire]), result, 'byte by byte');
    }
  };
  let sequencesOfLength = [''];
  for (let length = 1; length <= MAX_SEQUENCE; length++) {
    sequencesOfLength = sequencesOfLength.flatMap((start) => ALPHABET.map((byte) => start + byte));
    for (const sequence of sequencesOfLength) check(sequence);
  }
  t.diagnostic(JSON.stringify({ sequences }));
});

test('Smuggled commands do not run, however the pipelined bytes are split', async (t) => {
  const listener = await listen(t);
  const ends = [
    '\n.\n',
    '\r.\r',
    '\r.\r\n',
    '\r\n.\n',
    '\n.\r\n',
    '\r\n.\r',
    '\r\n\0.\r\n',
    '\r\n.\0\r\n',
  ];
  let attempts = 0;
  for (const end of ends) {
    const smuggled = `${end}MAIL FROM:<evil@example.net>\r\nRCPT TO:<${ADDRESS}>\r\nDATA\r\nSubject: b\r\n\r\nb\r\n.\r\n`;
    const wire = `MAIL FROM:<a@example.com>\r\nRCPT TO:<${ADDRESS}>\r\nDATA\r\nSubject: a\r\n\r\na${smuggled}NOOP\r\n`;
    const client = await listener.connect();
    await client.say('EHLO client.example.com', 250);
    for (let at = 0; at < wire.length; at++) {
      attempts += 1;
      await client.write(wire.slice(0, at));
      await client.write(wire.slice(at));
      const replies = [];
      for (let i = 0; i < 5; i++) replies.push((await client.reply()).slice(0, 3));
      assert.deepEqual(
        replies,
        ['250', '250', '354', '554', '250'],
        `${JSON.stringify(end)} at ${at}`,
      );
    }
    await client.say('QUIT', 221);
  }
  assert.equal(listener.messages.length, 0);
  t.diagnostic(JSON.stringify({ attempts }));
});

test(`${CONNECTIONS} connections within a minute, from many addresses, delay no good client`, {
  timeout: 180_000,
}, async (t) => {
  const listener = await listen(t);
  const started = performance.now();
  const open = new Set<Socket>();
  t.after(() => {
    for (const socket of open) socket.destroy();
  });
  const first = [
    '',
    'EHLO a\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    '\0\0\0',
    'MAIL FROM:<',
    'x'.repeat(5000),
  ];
  let [slowest, delivered] = [0, 0];
  for (let i = 0; i < CONNECTIONS; i++) {
    const socket = connect({
      port: listener.port,
      host: '127.0.0.1',
      localAddress: `127.${1 + (i % 250)}.${1 + (Math.floor(i / 250) % 250)}.1`,
    });
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.write(first[i % first.length]!);
    socket.resume();
    if (i % 3 === 0) await once(socket, 'connect').then(() => socket.destroy());
    if (i % 250 !== 0) continue;
    const began = performance.now();
    const client = await listener.connect();
    await beginData(client);
    await client.say('a\r\n.', 250);
    await client.say('QUIT', 221);
    slowest = Math.max(slowest, performance.now() - began);
    delivered += 1;
  }
  const elapsed = performance.now() - started;
  for (const socket of open) socket.destroy();
  while (listener.connections() > 0) await new Promise(setImmediate);
  assert.ok(elapsed < MINUTE_MS, `${Math.round(elapsed)} ms`);
  assert.equal(listener.messages.length, delivered);
  assert.deepEqual(listener.errors, []);
  const figures = { connections: CONNECTIONS, delivered, max_delivery_ms: Math.round(slowest) };
  t.diagnostic(JSON.stringify({ ...figures, elapsed_ms: Math.round(elapsed) }));
});

test('5,000 recipients are rejected in bounded time, and the connection ends', async (t) => {
  let checks = 0;
  const listener = await listen(
    t,
    {},
    {
      check: async () => {
        checks += 1;
        return { accept: true };
      },
    },
  );
  const client = await listener.connect();
  await client.say('EHLO client.example.com', 250);
  const lines = Array.from(
    { length: RECIPIENTS },
    (_, i) => `RCPT TO:<user${i}@inbox.example.com>\r\n`,
  );
  await client.write(`MAIL FROM:<a@example.com>\r\n${lines.join('')}DATA\r\n`);
  const codes: Record<string, number> = {};
  for (let reply = await client.reply(); reply !== ''; reply = await client.reply())
    codes[reply.slice(0, 3)] = (codes[reply.slice(0, 3)] ?? 0) + 1;
  // MAIL and the first recipient; all others are too many.
  assert.deepEqual(codes, { 250: 2, 421: 1, 452: 2 * SMTP_LIMITS.recipients - 1 });
  assert.equal(checks, SMTP_LIMITS.recipients);
});

test('Lines that never end, in commands and in DATA, need no memory', async (t) => {
  const listener = await listen(t, { maxSize: 1_000_000 });
  const command = await listener.connect();
  await command.write('x'.repeat(100_000)).catch(() => {});
  assert.match(await command.reply(), /^500 5\.5\.2 /);
  assert.equal(await command.reply(), '');
  const data = await listener.connect();
  await beginData(data);
  const before = process.memoryUsage().arrayBuffers;
  let peak = 0;
  const piece = Buffer.alloc(1_000_000, 'x');
  for (let i = 0; i < 200; i++) {
    await data.write(piece);
    peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
  }
  await data.write('\r\n.\r\n');
  assert.match(await data.reply(), /^552 5\.3\.4 /);
  assert.ok(peak < 100_000_000, `${peak} bytes`);
});

test('Commands before the banner, the TLS handshake and a PROXY header do not change the client', async (t) => {
  const proxyNetworks = [parseNetwork('127.0.0.0/8')!];
  const header = 'PROXY TCP4 192.0.2.1 198.51.100.1 56324 25\r\n';
  const proxied = await listen(t, { proxyNetworks });
  // A client behind the proxy sends a header and XCLIENT of its own.
  const client = await proxied.connectUngreeted(
    `${header}PROXY TCP4 192.0.2.66 198.51.100.1 1 25\r\nEHLO a.example\r\nXCLIENT ADDR=192.0.2.66\r\nXFORWARD ADDR=192.0.2.66\r\n`,
  );
  const replies = [];
  for (let i = 0; i < 5; i++) replies.push((await client.reply()).slice(0, 3));
  assert.deepEqual(replies, ['220', '500', '250', '500', '500']);
  await beginData(client, false);
  await client.say('a\r\n.', 250);
  assert.equal(proxied.messages[0]?.envelope.client_ip, '192.0.2.1');

  const direct = await listen(t);
  const early = await direct.connectUngreeted(
    `EHLO a.example\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<${ADDRESS}>\r\n`,
  );
  assert.match(await early.reply(), /^220 /);
  for (let i = 0; i < 3; i++) assert.match(await early.reply(), /^250/);
  await early.say('DATA', 354);
  await early.say('a\r\n.', 250);

  const injected = await direct.connect();
  await injected.say('EHLO a.example', 250);
  const behind = `\r\nMAIL FROM:<evil@example.net>\r\nRCPT TO:<${ADDRESS}>\r\nDATA\r\nevil\r\n.`;
  await injected.startTls({}, behind);
  // The first reply under TLS is that to the first command under TLS.
  assert.match(await injected.say('VRFY', 501), /VRFY/);
  await injected.say('DATA', 503);
  await injected.say('EHLO a.example', 250);
  await injected.say(`RCPT TO:<${ADDRESS}>`, 503);
  assert.equal(direct.messages.length, 1);
});

test('Clients that send a byte at a time take no place from others', {
  timeout: 60_000,
}, async (t) => {
  const listener = await listen(t, { limits: { connections: 50, idleMs: 3_000 } });
  const slow: Socket[] = [];
  for (let i = 0; i < 200; i++) {
    const socket = connect({
      port: listener.port,
      host: '127.0.0.1',
      localAddress: `127.3.${1 + (i % 100)}.1`,
    });
    socket.on('error', () => {}).resume();
    slow.push(socket);
  }
  const drip = setInterval(() => {
    for (const socket of slow) if (socket.writable) socket.write('E');
  }, 100);
  t.after(() => {
    clearInterval(drip);
    for (const socket of slow) socket.destroy();
  });
  for (let i = 0; i < 20; i++) {
    const client = await listener.connect();
    await beginData(client);
    await client.say('a\r\n.', 250);
    await client.say('QUIT', 221);
  }
  assert.equal(listener.messages.length, 20);
  while (listener.connections() > 0) await new Promise((resolve) => setTimeout(resolve, 50));
});

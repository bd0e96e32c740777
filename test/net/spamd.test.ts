/** The spamd client against a real SpamAssassin, and against servers that fail in every way. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { querySpamd } from '../../src/net/spamd.ts';
import { freePort } from '../helpers/daemon.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { startSpamd } from '../helpers/spamd.ts';

const message = Buffer.from(goodMessage().replaceAll('\n', '\r\n'));

/**
 * Starts a server that passes each connection to `serve`. `clientClosed` resolves when the client of the
 * first connection has closed it, which shows as a reset of further data.
 */
async function startServer(t: TestContext, serve: (socket: Socket) => void) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const first = once(server, 'connection').then(([socket]) => socket as Socket);
  return {
    url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async clientClosed() {
      const socket = await first;
      if (socket.closed) return;
      const closed = new Promise((resolve) => socket.on('close', resolve));
      const next = () => socket.writable && socket.write('?', () => setImmediate(next));
      next();
      await closed;
    },
  };
}

const HEAD = 'SPAMD/1.1 0 EX_OK\r\n';
const answer = (report: string, spam = 'False ; 1.5 / 5.0') =>
  `${HEAD}Content-length: ${Buffer.byteLength(report)}\r\nSpam: ${spam}\r\n\r\n${report}`;

const says = (text: string | Buffer) => (socket: Socket) => void socket.resume().end(text);
/** Responds and keeps the connection open. */
const saysOpen = (text: string) => (socket: Socket) => void socket.resume().write(text);

function drip(socket: Socket) {
  const timer = setInterval(() => socket.write('S'), 5);
  socket.resume().on('close', () => clearInterval(timer));
}

const failures: [string, (socket: Socket) => void, RegExp][] = [
  ['never responds', (socket) => void socket.resume(), /did not respond in time/],
  ['responds byte by byte', drip, /did not respond in time/],
  ['stalls within the report', saysOpen(answer('report').slice(0, -3)), /did not respond in time/],
  ['closes the connection', (socket) => socket.destroy(), /closed the connection/],
  ['closes without a response', says(''), /closed the connection without a response/],
  ['resets the connection', (socket) => void socket.resetAndDestroy(), /closed the connection/],
  ['closes within the header', says(HEAD), /was incomplete/],
  ['closes within the report', says(answer('report').slice(0, -3)), /was incomplete/],
  [
    'does not speak the spamd protocol',
    says('220 mx.example.com ESMTP\r\n'),
    /does not follow the spamd protocol/,
  ],
  ['sends binary data', says(Buffer.alloc(5000, 0xff)), /does not follow the spamd protocol/],
  ['sends an endless header', says(`${HEAD}${'X-A: b\r\n'.repeat(1200)}`), /was incomplete/],
  ['fails temporarily', says('SPAMD/1.5 75 EX_TEMPFAIL\r\n'), /error 75 EX_TEMPFAIL/],
  [
    'rejects the request',
    says('SPAMD/1.0 76 Bad header line: x\r\n'),
    /error 76 Bad header line: x/,
  ],
  ['sends no score', says(answer('x', 'True')), /no score/],
  ['sends a non-numeric score', says(answer('x', 'True ; 1.2.3 / 5.0')), /no score/],
  ['sends too much', says(answer('x'.repeat(20_000))), /too large/],
];

for (const [name, serve, expected] of failures)
  test(`spamd client: a server that ${name} is a failure with the reason`, async (t) => {
    const { url, clientClosed } = await startServer(t, serve);
    // Only a server that must time out has little time.
    const timeoutMs = expected.source.includes('in time') ? 150 : 30_000;
    const result = await querySpamd(url, [message], { timeoutMs, maxBytes: 10_000 });
    assert.equal(result.status, 'failed');
    assert.match(result.detail, expected);
    await clientClosed();
  });

test('spamd client reports a refused connection', async () => {
  const result = await querySpamd(`tcp://127.0.0.1:${await freePort()}`, [message]);
  assert.deepEqual(result, { status: 'failed', detail: 'the server refused the connection' });
});

test('spamd client accepts an IPv6 address in brackets', async () => {
  const result = await querySpamd(`tcp://[::1]:${await freePort()}`, [message]);
  assert.equal(result.status, 'failed');
});

test('spamd client reads a response split into any chunks without waiting for close', async (t) => {
  const text = answer('the report', 'True ; -1.5 / 5.0');
  const { url, clientClosed } = await startServer(t, (socket) => {
    socket.resume().setNoDelay();
    const next = (i: number) => {
      if (i < text.length) socket.write(text[i]!, () => setImmediate(next, i + 1));
    };
    next(0);
  });
  const expected = { status: 'answered', score: -1.5, threshold: 5, report: 'the report' };
  assert.deepEqual(await querySpamd(url, [message]), expected);
  await clientClosed();
});

test('spamd client sends the message with its total length', async (t) => {
  let seen = '';
  const { url } = await startServer(t, (socket) => {
    socket.setEncoding('latin1').on('data', (text) => {
      seen += text;
    });
    socket.on('end', () => socket.end(answer('')));
  });
  await querySpamd(url, [Buffer.from('a\r\n'), Buffer.from('\r\nb')]);
  assert.equal(seen, 'REPORT SPAMC/1.5\r\nContent-length: 6\r\n\r\na\r\n\r\nb');
});

test('spamd client gets a score from a real SpamAssassin and times out when suspended', {
  skip: skipUnlessInstalled('spamd'),
}, async (t) => {
  const spamd = await startSpamd();
  t.after(() => spamd.kill());
  const result = await querySpamd(spamd.url, [message]);
  assert.equal(result.status, 'answered');
  assert.equal(result.threshold, 5);
  assert.match(result.report, /pts rule name/);
  spamd.stop();
  const late = await querySpamd(spamd.url, [message], { timeoutMs: 200 });
  assert.deepEqual(late, { status: 'failed', detail: 'it did not respond in time' });
});

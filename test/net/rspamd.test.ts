/** The Rspamd client against a real Rspamd, and against servers that fail in every way. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { queryRspamd, type RspamdSession } from '../../src/net/rspamd.ts';
import { freePort } from '../helpers/daemon.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { startRspamd } from '../helpers/rspamd.ts';

const message = Buffer.from(goodMessage().replaceAll('\n', '\r\n'));
const SESSION: RspamdSession = {
  ip: '192.0.2.1',
  helo: 'mail.example.com',
  hostname: null,
  from: 'bounce@example.com',
  tlsVersion: 'TLSv1.3',
};

async function startServer(t: TestContext, serve: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const closed = once(server, 'connection').then(
    ([socket]) => new Promise((resolve) => (socket as Socket).on('close', resolve)),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, closed };
}

const says = (text: string) => (socket: Socket) => void socket.resume().end(text);
const json = (body: string, status = '200 OK') =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

function drip(socket: Socket) {
  socket.resume().write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
  const timer = setInterval(() => socket.write(' '), 5);
  socket.on('close', () => clearInterval(timer));
}

const scan = { action: 'no action', score: 1, required_score: 15, symbols: {} };

const failures: [string, (socket: Socket) => void, RegExp][] = [
  ['never responds', (socket) => void socket.resume(), /did not respond in time/],
  ['responds byte by byte', drip, /did not respond in time/],
  ['closes the connection', (socket) => socket.destroy(), /closed the connection/],
  ['closes mid-response', says(json('{"a":1}').slice(0, -2)), /was incomplete/],
  ['is not an HTTP server', says('SPAMD/1.1 0 EX_OK\r\n\r\n'), /not valid HTTP/],
  ['requires a password', says(json('{}', '403 Forbidden')), /HTTP status 403/],
  ['sends invalid JSON', says(json('<html>')), /not JSON/],
  ['sends other JSON', says(json('{"error":"invalid command"}')), /not a valid \/checkv2/],
  [
    'sends a non-numeric score',
    says(json(JSON.stringify({ ...scan, score: 'x' }))),
    /not a valid \/checkv2 response/,
  ],
  ['sends too much', says(json(' '.repeat(20_000))), /too large/],
];

for (const [name, serve, expected] of failures)
  test(`Rspamd client: a server that ${name} is a failure with the reason`, async (t) => {
    const { url, closed } = await startServer(t, serve);
    // Only those that keep the client waiting need a short time.
    const timeoutMs = expected.source.includes('in time') ? 150 : 10_000;
    const limits = { timeoutMs, maxBytes: 10_000 };
    const result = await queryRspamd(url, message, SESSION, limits);
    assert.equal(result.status, 'failed');
    assert.match(result.detail, expected);
    await closed;
  });

test('Rspamd client reports a refused connection', async () => {
  const result = await queryRspamd(`http://127.0.0.1:${await freePort()}`, message, SESSION);
  assert.deepEqual(result, { status: 'failed', detail: 'the server refused the connection' });
});

/** The request headers for this session. */
async function headersFor(t: TestContext, session: Partial<RspamdSession>) {
  const seen = Promise.withResolvers<IncomingHttpHeaders>();
  const server = createHttpServer((request, response) => {
    seen.resolve(request.headers);
    request.resume().on('end', () => response.end(JSON.stringify(scan)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const answer = await queryRspamd(`http://127.0.0.1:${port}`, message, { ...SESSION, ...session });
  assert.equal(answer.status, 'answered');
  return seen.promise;
}

test('Rspamd client omits unknown session data', async (t) => {
  const headers = await headersFor(t, { ip: null, from: null });
  assert.deepEqual([headers.ip, headers.hostname, headers.from], [undefined, undefined, undefined]);
  assert.equal(headers.helo, 'mail.example.com');
  assert.equal(headers['tls-version'], 'TLSv1.3');
});

test('Rspamd client sends the null sender as <>', async (t) => {
  assert.equal((await headersFor(t, { from: '' })).from, '<>');
});

test('Rspamd client prevents header injection from session data', async (t) => {
  const headers = await headersFor(t, {
    helo: 'x\r\nIP: 203.0.113.9\u0000',
    from: 'é@example.com',
  });
  assert.equal(headers.helo, 'x IP: 203.0.113.9');
  assert.equal(headers.ip, '192.0.2.1');
  assert.equal(Buffer.from(headers.from!, 'latin1').toString('utf8'), 'é@example.com');
});

test('Rspamd client gets a score from a real Rspamd and times out when suspended', {
  skip: skipUnlessInstalled('rspamd'),
}, async (t) => {
  const rspamd = await startRspamd();
  t.after(() => rspamd.kill());
  const result = await queryRspamd(rspamd.url, message, SESSION);
  assert.equal(result.status, 'answered');
  assert.equal(result.scan.required_score, 15);
  assert.equal(result.scan.symbols.FROM_HAS_DN?.description, 'From header has a display name');
  rspamd.stop();
  const late = await queryRspamd(rspamd.url, message, SESSION, { timeoutMs: 200 });
  assert.deepEqual(late, { status: 'failed', detail: 'it did not respond in time' });
});

/** Receivers that drip, never end, redirect, use a wrong certificate, or move: each fails with its reason. */

// @one-database: about HTTP servers of others.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { createPoster } from '../../src/net/http/poster.ts';
import { makeTestAuthority } from '../helpers/authority.ts';
import { attemptsOf, startWebhookService, type WebhookTestService } from './webhook-service.ts';

const TIMEOUT_MS = 1000;
const HEAD = 'HTTP/1.1 200 OK\r\n';
const good = await makeTestAuthority();
const other = await makeTestAuthority();

interface Hostile {
  name: string;
  /** How the receiver treats a connection; a chunk is sent repeatedly or once. */
  serve(socket: Socket): void;
  error: RegExp;
  status?: number;
}

const repeat = (socket: Socket, piece: string | Buffer, everyMs: number) => {
  const timer = setInterval(() => socket.writable && socket.write(piece), everyMs);
  socket.on('close', () => clearInterval(timer));
};

const HOSTILE: Hostile[] = [
  {
    name: 'sends its header byte by byte',
    serve: (socket) => repeat(socket, 'H', 20),
    error: /^(timeout|protocol): /,
  },
  {
    name: 'sends the body of a 500 byte by byte',
    serve(socket) {
      socket.write('HTTP/1.1 500 X\r\ncontent-length: 1000\r\n\r\n');
      repeat(socket, '.', 20);
    },
    error: /^timeout: the response was not complete in time$/,
    status: 500,
  },
  {
    name: 'responds with a redirect',
    serve: (socket) =>
      socket.write('HTTP/1.1 307 X\r\nlocation: https://127.0.0.1/\r\ncontent-length: 0\r\n\r\n'),
    error: /^status 307: redirects are not followed; enter the URL that it redirects to$/,
    status: 307,
  },
  {
    name: 'sends 10 MB of headers',
    serve: (socket) => {
      socket.write(HEAD);
      repeat(socket, Buffer.from(`x: ${'y'.repeat(100_000)}\r\n`), 1);
    },
    error: /^too_large: the response header is too long$/,
  },
  {
    name: 'never responds',
    serve: () => {},
    error: /^timeout: /,
  },
  {
    name: 'closes the connection',
    serve: (socket) => socket.destroy(),
    error: /^connection: /,
  },
];

const poster = (zone: Zone = {}, networks = ['127.0.0.1/32'], timeoutMs = TIMEOUT_MS) =>
  createPoster({
    resolver: zoneResolver(zone),
    allowNetworks: networks.map(parseNetwork),
    ca: [good.ca],
    timeoutMs,
  });

async function listen(
  t: TestContext,
  serve: (socket: Socket) => void,
  pair = good.issue(['127.0.0.1']),
): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTlsServer(await pair, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => serve(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as { port: number }).port;
}

/** The finished first attempt of a delivery to that URL. */
async function firstAttempt(
  { app, makeEndpoint, append, deliverDue, deliveries }: WebhookTestService,
  url: string,
) {
  await makeEndpoint({ url });
  await append();
  await deliverDue();
  const [delivery] = await deliveries();
  assert.equal(delivery!.status, 'pending');
  assert.equal(delivery!.round_failures, 1);
  return (await attemptsOf(app, delivery!.id))[0]!;
}

for (const { name, serve, error, status = null } of HOSTILE)
  test(`Webhook receiver that ${name}: the attempt fails in time with the reason`, async (t) => {
    const port = await listen(t, serve);
    const delivering = await startWebhookService(t, { poster: poster() });
    const attempt = await firstAttempt(delivering, `https://127.0.0.1:${port}/`);
    assert.match(attempt.error!, error);
    assert.equal(attempt.response_status, status);
    assert.ok((attempt.response_body ?? '').length <= 4096);
  });

/** The receiver has accepted the event, so sending it again would only duplicate it. */
const ACCEPTING: [name: string, serve: (socket: Socket) => void][] = [
  [
    'sends its body byte by byte',
    (socket) => {
      socket.write(`${HEAD}content-length: 1000\r\n\r\n`);
      repeat(socket, '.', 20);
    },
  ],
  ['announces a body and stalls', (socket) => socket.write(`${HEAD}content-length: 9\r\n\r\n`)],
  [
    'sends an endless chunked body',
    (socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
      repeat(socket, `4000\r\n${'x'.repeat(0x4000)}\r\n`, 1);
    },
  ],
  [
    'sends 200 KB in chunks',
    (socket) => {
      const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n${chunk.repeat(13)}0\r\n\r\n`);
    },
  ],
  [
    'closes the connection before the end of its body',
    (socket) => socket.end(`${HEAD}content-length: 9\r\n\r\nok`),
  ],
];

for (const [name, serve] of ACCEPTING)
  test(`Webhook receiver that responds with 200 and ${name}: the delivery succeeds`, async (t) => {
    const port = await listen(t, serve);
    const { app, makeEndpoint, append, deliverDue, deliveries } = await startWebhookService(t, {
      // The connection itself takes a while on a busy machine.
      poster: poster({}, undefined, 2 * TIMEOUT_MS),
    });
    await makeEndpoint({ url: `https://127.0.0.1:${port}/` });
    await append();
    await deliverDue();
    const [delivery] = await deliveries();
    assert.deepEqual([delivery!.status, delivery!.due_at], ['succeeded', null]);
    const [attempt] = await attemptsOf(app, delivery!.id);
    assert.deepEqual([attempt!.response_status, attempt!.error], [200, null]);
    assert.ok((attempt!.response_body ?? '').length <= 4096);
  });

test('Webhook delivery rejects a certificate from an untrusted authority', async (t) => {
  const port = await listen(t, () => {}, other.issue(['127.0.0.1']));
  const delivering = await startWebhookService(t, { poster: poster() });
  const attempt = await firstAttempt(delivering, `https://127.0.0.1:${port}/`);
  assert.match(attempt.error!, /^tls: /);
});

/** Counts connections and never answers. */
async function startCanary(t: TestContext) {
  const canary = { port: 0, connections: 0 };
  const server = createServer((socket) => {
    canary.connections++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  canary.port = (server.address() as { port: number }).port;
  return canary;
}

test('Webhook delivery does not connect when the host name resolves to a forbidden address', async (t) => {
  const canary = await startCanary(t);
  const zone: Zone = { 'hooks.example.com': { A: ['192.0.2.10'] } };
  // No network is allowed here.
  const delivering = await startWebhookService(t, { poster: poster(zone, []) });
  const { app, clock, service, append, deliverDue, deliveries } = delivering;
  const url = `https://hooks.example.com:${canary.port}/`;
  const made = await service.call('POST', '/v1/webhooks/endpoints', {
    json: { url, events: ['*'] },
  });
  assert.equal(made.status, 201, made.text);
  for (const address of ['127.0.0.1', '::1', '169.254.169.254', '::ffff:127.0.0.1', '0.0.0.0']) {
    const type = address.includes(':') ? 'AAAA' : 'A';
    zone['hooks.example.com'] = { [type]: [address] };
    await append();
    await deliverDue();
    const delivery = (await deliveries()).at(-1)!;
    const [attempt] = await attemptsOf(app, delivery.id);
    assert.match(attempt!.error!, /^forbidden_address: /, address);
    clock.advance(1);
  }
  assert.equal(canary.connections, 0);
});

test('Metadata addresses stay blocked even inside an allowed network', async (t) => {
  const zone: Zone = { 'hooks.example.com': { A: ['169.254.169.254'] } };
  const delivering = await startWebhookService(t, { poster: poster(zone, ['169.254.0.0/16']) });
  const attempt = await firstAttempt(delivering, 'https://hooks.example.com/');
  assert.match(attempt.error!, /^forbidden_address: /);
});

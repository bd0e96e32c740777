/** Clients that never close their side, and the limits on connections. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { Fetch } from '../../src/http/router.ts';
import { HTTP_TIMEOUTS, type HttpListener, type HttpOptions } from '../../src/http/server.ts';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { makeCertificate } from '../../src/lib/certificates.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { GET, listen, readAll, talk } from './listener.ts';

/** Every test ends much earlier; the limit turns a connection that stays into a failure. */
const timeout = 10_000;

const SHORT = {
  handshake: 100,
  headers: 100,
  request: 200,
  idle: 50,
  linger: 50,
  stall: 200,
  response: 20_000,
  checkEvery: 20,
};
/** More than the buffers of both systems hold. */
const BIG_BYTES = 32 * 1024 * 1024;
const BIG = Buffer.alloc(BIG_BYTES, 'x');

/** Two of these may wait for their clients, but not three. */
const HELD_BYTES = 25 * 1024 * 1024;

/** `/big` and `/stream` are larger than any buffer, `/silent` never responds, POST reads the body. */
const serve: Fetch = async (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === '/big') return new Response(BIG);
  if (pathname === '/held') return new Response(BIG.subarray(0, HELD_BYTES));
  if (pathname === '/stream') return new Response(endlessStream());
  if (pathname === '/silent') return new Promise(() => {});
  if (pathname === '/refuse') return new Response('no', { status: 413 });
  if (request.method === 'POST') await request.text();
  return new Response('hello');
};

function endlessStream(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(64 * 1024);
  return new ReadableStream({ pull: (stream) => stream.enqueue(chunk) });
}

/** A client that never closes its side, and reads only if `reads` is set. */
function stubborn(
  t: TestContext,
  { port }: HttpListener,
  bytes: string,
  options: { reads?: boolean; from?: string } = {},
): Socket {
  const { reads = true, from } = options;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, localAddress: from });
  socket.on('error', () => {}).on('connect', () => bytes && socket.write(bytes));
  t.after(() => socket.destroy());
  return reads ? socket.resume() : socket.pause();
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

const head = (line: string, ...fields: string[]): string =>
  [line, 'Host: a', ...fields, '', ''].join('\r\n');

it('HTTP_TIMEOUTS match the documented values', () => {
  assert.deepEqual(HTTP_TIMEOUTS, {
    handshake: 10_000,
    headers: 10_000,
    request: 120_000,
    idle: 65_000,
    linger: 2_000,
    stall: 60_000,
    response: 1_800_000,
    checkEvery: 2_000,
  });
});

const UPLOAD = head('POST / HTTP/1.1', 'Content-Length: 100');
const STUBBORN: [name: string, bytes: string, reads: boolean][] = [
  ['nothing', '', true],
  ['empty lines only', '\r\n\r\n', true],
  ['a partial header', 'GET / HTTP/1.1\r\nHost: a\r\nX: ', true],
  ['a partial header, and does not read', 'GET / HTTP/1.1\r\nHost: a\r\nX: ', false],
  ['nonsense', 'nonsense\r\n\r\n', true],
  ['an endless header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}`, true],
  ['half a body', `${UPLOAD}half`, true],
  ['half a chunked body', `${head('POST / HTTP/1.1', 'Transfer-Encoding: chunked')}5\r\nhe`, true],
  ['an invalid chunk', `${head('POST / HTTP/1.1', 'Transfer-Encoding: chunked')}zz\r\n`, true],
  ['half a body that is refused', UPLOAD.replace('/', '/refuse'), true],
  [
    'half a body with an unknown Expect',
    head('POST / HTTP/1.1', 'Content-Length: 9', 'Expect: foo'),
    true,
  ],
  ['a request', GET, true],
  ['a request and an empty line', `${GET}\r\n`, true],
  ['a request and half of another', `${GET}GET / HT`, true],
  ['a request with Connection: close', head('GET / HTTP/1.1', 'Connection: close'), true],
  ['a request for an upgrade', head('GET / HTTP/1.1', 'Connection: upgrade', 'Upgrade: h2c'), true],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', true],
  ['a request, and does not read the large response', head('GET /big HTTP/1.1'), false],
  ['the same with Connection: close', head('GET /big HTTP/1.1', 'Connection: close'), false],
  ['the same with HTTP/1.0', 'GET /big HTTP/1.0\r\n\r\n', false],
  ['a request, and does not read the stream', head('GET /stream HTTP/1.1'), false],
  ['many requests, and reads no response', head('GET /big HTTP/1.1').repeat(20), false],
  [
    'a request and nonsense, and does not read',
    `${head('GET /big HTTP/1.1')}nonsense\r\n\r\n`,
    false,
  ],
];

describe('HTTP server closes the connection of a client that stays and sends', {
  timeout: 30_000,
  concurrency: true,
}, () => {
  for (const [name, bytes, reads] of STUBBORN)
    it(name, async (t) => {
      const listener = await listen(t, { fetch: serve, timeouts: SHORT });
      const socket = stubborn(t, listener, bytes, { reads });
      await once(socket, 'connect');
      await until(() => listener.connections() === 1);
      await until(() => listener.connections() === 0);
    });
});

const pair = await makeCertificate('a.example', Date.now());

describe('HTTPS server closes the connection of a client that stays and', {
  timeout: 30_000,
  concurrency: true,
}, () => {
  for (const [name, bytes] of [
    ['sends nothing', ''],
    ['sends half a handshake', '\x16\x03\x01\x02\x00\x01'],
    ['speaks plain HTTP', GET],
  ] as const)
    it(name, async (t) => {
      const listener = await listen(t, { fetch: serve, timeouts: SHORT, tls: pair });
      const socket = stubborn(t, listener, bytes);
      await once(socket, 'connect');
      await until(() => listener.connections() === 1);
      await until(() => listener.connections() === 0);
    });

  for (const [name, bytes, reads] of STUBBORN)
    it(`sends, after the handshake, ${name}`, async (t) => {
      const listener = await listen(t, { fetch: serve, timeouts: SHORT, tls: pair });
      const tcp = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
      t.after(() => tcp.destroy());
      const secure = connectTls({ socket: tcp, rejectUnauthorized: false });
      secure.on('error', () => {});
      await once(secure, 'secureConnect');
      if (bytes) secure.write(bytes);
      if (reads) secure.resume();
      else tcp.pause();
      await until(() => listener.connections() === 1);
      await until(() => listener.connections() === 0);
    });
});

it('HTTP server ends a response that takes too long', { timeout }, async (t) => {
  const timeouts = { ...SHORT, response: 200 };
  const listener = await listen(t, { fetch: serve, timeouts });
  assert.equal(await talk(t, listener, head('GET /silent HTTP/1.1')).reply, '');
});

it('HTTP server lets a client read slowly for longer than the stall timeout', {
  timeout,
}, async (t) => {
  const timeouts = { ...SHORT, stall: 500 };
  const listener = await listen(t, { fetch: serve, timeouts });
  const { socket, reply } = talk(t, listener, head('GET /big HTTP/1.1', 'Connection: close'));
  // 20 MiB per second, so that the response takes three times the timeout.
  const started = performance.now();
  let read = 0;
  socket.on('data', (chunk) => {
    read += chunk.length;
    const aheadMs = read / 20_000 - (performance.now() - started);
    if (aheadMs < 10) return;
    socket.pause();
    setTimeout(() => socket.resume(), aheadMs);
  });
  const text = await reply;
  assert.ok(text.length > BIG_BYTES, `${text.length} bytes`);
  assert.ok(performance.now() - started > 2 * timeouts.stall);
});

it('HTTP server delivers a rejection to a client that keeps sending', { timeout }, async (t) => {
  const listener = await listen(t, { timeouts: { ...SHORT, linger: 500 } });
  const { socket, reply } = talk(t, listener, 'nonsense\r\n\r\n');
  socket.on('data', () => socket.write('more\r\n'));
  assert.match(await reply, /^HTTP\/1\.1 400 Bad Request\r\n/);
});

// Limits.

/** The lines of the log. */
function recordingLog() {
  const lines: string[] = [];
  const record = (message: string, fields?: object) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { ...silentLog, warn: record, info: record };
  return { log, lines };
}

const PATIENT = { headers: 60_000, request: 60_000, idle: 60_000 };

async function limited(
  t: TestContext,
  total: number,
  perClient: number,
  more?: Partial<HttpOptions>,
) {
  const { log, lines } = recordingLog();
  const limits = { total, perClient };
  const listener = await listen(t, { fetch: serve, timeouts: PATIENT, limits, log, ...more });
  return { listener, lines };
}

/** The response to a GET request on a new connection that the client closes. */
function get(
  t: TestContext,
  { port }: HttpListener,
  path = '/',
  from?: string,
  ...fields: string[]
) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  t.after(() => socket.destroy());
  socket.on('connect', () =>
    socket.write(head(`GET ${path} HTTP/1.1`, 'Connection: close', ...fields)),
  );
  return readAll(socket);
}

describe('HTTP server at its connection limit', { timeout }, () => {
  it('closes the connection that has been idle longest, and serves the new one', async (t) => {
    const { listener, lines } = await limited(t, 3, 10);
    const idle = [];
    for (let i = 0; i < 3; i++) {
      idle.push(talk(t, listener, i === 1 ? GET : 'GET /'));
      await until(() => listener.connections() === i + 1);
    }
    await once(idle[1]!.socket, 'data');
    assert.match(await get(t, listener), /hello$/);
    assert.equal(await idle[0]!.reply, '');
    assert.equal(listener.isLimitReached(), true);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('connection limit')),
      [
        'connection limit reached: idle connections are closed, or new ones refused {"listener":"http","limit":3}',
      ],
    );
  });

  it('closes slow uploads and downloads before it refuses connections', async (t) => {
    const { listener } = await limited(t, 2, 10);
    const upload = talk(t, listener, `${UPLOAD}half`);
    await until(() => listener.connections() === 1);
    const download = stubborn(t, listener, head('GET /big HTTP/1.1'), { reads: false });
    await once(download, 'readable');
    for (let i = 0; i < 3; i++) assert.match(await get(t, listener), /hello$/);
    assert.equal(await upload.reply, '');
  });

  it('answers 503 while all connections have running requests', async (t) => {
    let running = 0;
    const fetch: Fetch = async (request, env) => {
      if (request.url.endsWith('/silent')) running++;
      return serve(request, env);
    };
    const { listener } = await limited(t, 2, 10, { fetch });
    const busy = [0, 1].map(() => talk(t, listener, head('GET /silent HTTP/1.1')));
    await until(() => running === 2);
    const refusal = await get(t, listener);
    assert.match(refusal, /^HTTP\/1\.1 503 /);
    assert.match(refusal, /\r\nRetry-After: 5\r\n/);
    const problem = JSON.parse(refusal.split('\r\n\r\n')[1]!);
    assert.deepEqual([problem.code, problem.status], ['unavailable', 503]);
    busy[0]!.socket.destroy();
    await until(() => listener.connections() === 1);
    assert.match(await get(t, listener), /hello$/);
  });

  it('holds only a few refused connections that stay open', async (t) => {
    const { listener } = await limited(t, 1, 1, { timeouts: { ...PATIENT, linger: 60_000 } });
    stubborn(t, listener, 'GET /');
    await until(() => listener.connections() === 1);
    let [answered, ended] = [0, 0];
    for (let i = 0; i < 100; i++)
      stubborn(t, listener, '')
        .on('data', () => answered++)
        .on('end', () => ended++);
    await until(() => ended === 100);
    assert.equal(answered, 32, 'the others were closed at once');
    assert.equal(listener.connections(), 1);
  });

  it('closes the connection over HTTPS', async (t) => {
    const { listener } = await limited(t, 10, 1, { tls: pair });
    stubborn(t, listener, '');
    await until(() => listener.connections() === 1);
    assert.equal(await talk(t, listener).reply, '');
  });
});

describe('HTTP server with a limit per client', { timeout }, () => {
  it('answers 503 to that client only', async (t) => {
    const { listener, lines } = await limited(t, 10, 2);
    for (let i = 1; i <= 2; i++) {
      stubborn(t, listener, 'GET /');
      await until(() => listener.connections() === i);
    }
    assert.match(await get(t, listener), /^HTTP\/1\.1 503 /);
    assert.match(await get(t, listener, '/', '127.0.0.2'), /hello$/);
    assert.equal(listener.isLimitReached(), false, 'other clients are not affected');
    assert.match(
      lines.join('\n'),
      /limit per client reached.*"limit":2,"client_ip":"127\.0\.0\.1"/,
    );
  });

  it('limits the running requests of clients behind a trusted proxy', async (t) => {
    const trustedProxies = [parseNetwork('127.0.0.1')];
    const { listener } = await limited(t, 10, 2, { trustedProxies });
    const from = (client: string, path = '/') =>
      get(t, listener, path, undefined, `X-Forwarded-For: ${client}`);
    for (let i = 1; i <= 2; i++) {
      void from(`2001:db8::${i}`, '/silent').catch(() => {});
      await until(() => listener.connections() === i);
    }
    let refusal = '';
    while (!refusal.startsWith('HTTP/1.1 503')) refusal = await from('2001:db8::ffff');
    assert.match(refusal, /\r\nRetry-After: 5\r\n/);
    assert.match(await from('2001:db8:0:1::1'), /hello$/);
    assert.match(await from('192.0.2.1'), /hello$/);
    assert.match(await get(t, listener), /hello$/, 'a request of the proxy itself');
  });
});

describe("HTTP server with responses that clients don't read", { timeout }, () => {
  /** Opens clients that read nothing, one after another, each once the response of the last one began. */
  async function openIdle(t: TestContext, listener: HttpListener, froms: string[]) {
    const sockets: Socket[] = [];
    for (const from of froms) {
      const socket = stubborn(t, listener, head('GET /held HTTP/1.1'), { reads: false, from });
      await once(socket, 'readable');
      sockets.push(socket);
      // The response is complete for the server in a later turn.
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    }
    return sockets;
  }

  it('closes the oldest beyond 64 MB, and serves others', async (t) => {
    const { listener, lines } = await limited(t, 20, 10);
    const sockets = await openIdle(t, listener, Array(5).fill('127.0.0.1'));
    await until(() => listener.connections() === 2);
    for (const socket of sockets.slice(3)) {
      socket.resume();
      await until(() => socket.bytesRead > HELD_BYTES);
    }
    assert.match(await get(t, listener, '/', '127.0.0.2'), /hello$/);
    const closed = lines.filter((line) => line.includes('reads too slowly'));
    assert.deepEqual(
      closed,
      Array(3).fill('closed a connection whose client reads too slowly {"client_ip":"127.0.0.1"}'),
    );
  });

  it('closes those of the client with most waiting, not of others', async (t) => {
    const { listener, lines } = await limited(t, 20, 10);
    await openIdle(t, listener, ['127.0.0.3', '127.0.0.1', '127.0.0.1', '127.0.0.1']);
    await until(() => listener.connections() === 2);
    for (const line of lines.filter((line) => line.includes('reads too slowly')))
      assert.match(line, /"127\.0\.0\.1"/);
  });

  it('forgets responses that were read, or whose clients left', async (t) => {
    const { listener, lines } = await limited(t, 20, 10);
    for (let i = 0; i < 4; i++) {
      const text = await get(t, listener, '/held');
      assert.ok(text.length > HELD_BYTES);
      const [left] = await openIdle(t, listener, ['127.0.0.1']);
      left!.destroy();
      await until(() => listener.connections() === 0);
    }
    await openIdle(t, listener, ['127.0.0.1', '127.0.0.1']);
    assert.equal(listener.connections(), 2);
    assert.deepEqual(lines, []);
  });

  it('makes no response before the client has read the earlier ones of its connection', async (t) => {
    const paths: string[] = [];
    const { listener, lines } = await limited(t, 20, 10, {
      fetch(request) {
        paths.push(new URL(request.url).pathname);
        return serve(request);
      },
    });
    const requests = head('GET /held HTTP/1.1').repeat(2);
    const socket = stubborn(t, listener, requests, { reads: false });
    await once(socket, 'readable');
    assert.match(await get(t, listener), /hello$/);
    assert.deepEqual([paths, lines], [['/held', '/'], []]);
    socket.resume();
    await until(() => socket.bytesRead > 2 * HELD_BYTES);
    assert.equal(paths.length, 3);
  });
});

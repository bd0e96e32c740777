/** The server below the router: timeouts, TLS, and shutdown. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Fetch } from '../../src/http/router.ts';
import type { HttpListener } from '../../src/http/server.ts';
import { makeCertificate } from '../../src/lib/certificates.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { GET, LONG, listen, readAll, talk } from './listener.ts';

/** The status and problem document of a response. */
function problemIn(text: string): [number, Record<string, unknown>] {
  const [head, body] = text.split('\r\n\r\n') as [string, string];
  assert.match(head, /\r\nContent-Type: application\/problem\+json\r\n/);
  return [Number(head.split(' ')[1]), JSON.parse(body)];
}

describe('HTTP server with a slow client', () => {
  const timeouts = { headers: 60, request: 120, idle: 60, checkEvery: 20 };

  it('answers 408 when the headers do not end', async (t) => {
    const { reply } = talk(t, await listen(t, { timeouts }), 'GET / HTTP/1.1\r\nHost: a\r\nX: ');
    const [status, { object, code }] = problemIn(await reply);
    assert.deepEqual([status, object, code], [408, 'error', 'malformed_request']);
  });

  it('answers 408 when the body does not end and fails the request', async (t) => {
    const ended = Promise.withResolvers<unknown>();
    const fetch: Fetch = async (request) => {
      await request.text().catch(ended.resolve);
      return new Response('');
    };
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf';
    const { reply } = talk(t, await listen(t, { fetch, timeouts }), head);
    assert.equal(problemIn(await reply)[0], 408);
    assert.ok((await ended.promise) instanceof Error);
  });

  it('closes an idle connection', async (t) => {
    const { reply } = talk(t, await listen(t, { timeouts }), GET);
    assert.match(await reply, /^HTTP\/1\.1 200 OK\r\n[\s\S]*hello$/);
  });
});

it('HTTP server answers an unknown Expect header with 417 and logs it', async (t) => {
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, info: (_, fields) => void lines.push(fields) };
  const request = 'GET / HTTP/1.1\r\nHost: a\r\nExpect: foo\r\nConnection: close\r\n\r\n';
  const text = await talk(t, await listen(t, { log }), request).reply;
  const [status, { status: told, code, request_id }] = problemIn(text);
  assert.deepEqual([status, told, code, request_id], [417, 417, 'malformed_request', 'req_1']);
  assert.match(text, /\r\nX-Request-Id: req_1\r\n/);
  assert.match(text, /\r\nx-content-type-options: nosniff\r\n/);
  assert.deepEqual(lines, [{ request_id: 'req_1', status: 417 }]);
});

it('HTTP server answers Expect: 100-continue with 100', async (t) => {
  const fetch: Fetch = async (request) => new Response(`got ${await request.text()}`);
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n';
  const { reply } = talk(t, await listen(t, { fetch }), `${head}Expect: 100-continue\r\n\r\nhi`);
  assert.match(await reply, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*got hi/);
});

describe('HTTP server with malformed requests', () => {
  const cases: [name: string, bytes: string, status: number][] = [
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['an endless header', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    [
      'two Content-Length headers',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
    ],
    [
      'Content-Length with chunked encoding',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
  ];
  for (const [name, bytes, expected] of cases)
    it(`answers ${name} with ${expected} as a problem document`, async (t) => {
      const [status, { status: told }] = problemIn(await talk(t, await listen(t), bytes).reply);
      assert.deepEqual([status, told], [expected, expected]);
    });

  it('answers a Host that is not a valid address with 400, although the library accepts it', async (t) => {
    const fetch: Fetch = async (request) => new Response(new URL(request.url).host);
    for (const host of [
      '999.999.999.999',
      '99999999999999999999.0.0.1',
      '0x1ffffffff',
      '1.2.3.4.5.6.7.8',
    ]) {
      const bytes = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const reply = await talk(t, await listen(t, { fetch }), bytes).reply;
      assert.match(reply, /^HTTP\/1\.1 400 [\s\S]*"malformed_request"/, host);
    }
  });

  it('answers no Host, or more than one, with 400, and closes the connection', async (t) => {
    let handled = 0;
    const fetch: Fetch = async () => {
      handled += 1;
      return new Response('hello');
    };
    const listener = await listen(t, { fetch });
    const same = ['Host: a', 'Host: a'];
    for (const hosts of [[], same, ['Host: a', 'X: y', 'HOST: b'], ['host: a', 'host:']]) {
      const bytes = ['GET / HTTP/1.1', ...hosts, '', 'GET / HTTP/1.1', 'Host: a', '', ''];
      const reply = await talk(t, listener, bytes.join('\r\n')).reply;
      assert.match(reply, /^HTTP\/1\.1 400 [\s\S]*\r\nConnection: close/, hosts.join());
      assert.match(reply, /one Host header field.*"malformed_request"/);
      assert.equal(reply.match(/HTTP\/1\.1/g)!.length, 1);
    }
    assert.equal(handled, 0);
    const old = await talk(t, listener, 'GET / HTTP/1.0\r\n\r\n').reply;
    assert.match(old, /^HTTP\/1\.1 200 /);
  });

  it('does not write an error into a response in progress', async (t) => {
    const fetch: Fetch = async () =>
      new Response(new ReadableStream({ start: (body) => body.enqueue(Buffer.from('first')) }));
    const { socket, reply } = talk(t, await listen(t, { fetch }), GET);
    await once(socket, 'data');
    socket.write('nonsense\r\n\r\n');
    const text = await reply;
    assert.match(text, /^HTTP\/1\.1 200 OK/);
    assert.doesNotMatch(text, /400|problem/);
  });
});

it('HTTP server answers 500 without details when a handler fails, and logs it', async (t) => {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_, fields) => void errors.push(String(fields?.fault)) };
  const listener = await listen(t, { log, fetch: () => Promise.reject(new Error('s3cret')) });
  const response = await fetch(`http://127.0.0.1:${listener.port}/`);
  const text = await response.text();
  assert.deepEqual([response.status, response.headers.get('x-request-id')], [500, 'req_1']);
  assert.equal(JSON.parse(text).code, 'internal_error');
  assert.ok(!text.includes('s3cret'));
  assert.deepEqual(errors, ['Error: s3cret']);
});

it('HTTP server fails to start when the port is in use', async (t) => {
  const { port } = await listen(t);
  await assert.rejects(listen(t, { port }), { code: 'EADDRINUSE' });
});

describe('HTTP server shutdown', { timeout: 10_000 }, () => {
  /** A server with a pending response to a received request. */
  async function withRunningRequest(t: TestContext) {
    const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const listener = await listen(t, {
      async fetch() {
        begun.resolve();
        await answer.promise;
        return new Response('late');
      },
    });
    const { reply, socket } = talk(t, listener, GET);
    await begun.promise;
    return { listener, reply, socket, answer: answer.resolve };
  }

  it('waits for a running request and accepts no further ones', async (t) => {
    const { listener, reply, answer } = await withRunningRequest(t);
    let closed = false;
    const closing = listener.close(LONG).then(() => {
      closed = true;
    });
    await assert.rejects(once(connect(listener.port, '127.0.0.1'), 'connect'), {
      code: 'ECONNREFUSED',
    });
    assert.equal(closed, false);
    answer();
    assert.match(await reply, /late$/);
    await closing;
  });

  it('cuts off requests that do not finish in time', async (t) => {
    const { listener, reply } = await withRunningRequest(t);
    await listener.close(20);
    assert.equal(await reply, '');
  });

  it('does not wait for idle connections', async (t) => {
    const listener = await listen(t);
    const { reply, socket } = talk(t, listener, GET);
    await once(socket, 'data');
    const silent = talk(t, listener);
    await once(silent.socket, 'connect');
    await listener.close(LONG);
    assert.match(await reply, /hello$/);
    assert.equal(await silent.reply, '');
  });
});

// HTTPS: the certificate, TLS versions, and shutdown.

const first = await makeCertificate('a.example', Date.now());
const second = await makeCertificate('b.example', Date.now());

async function shakeHands({ port }: HttpListener, options: ConnectionOptions = {}) {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket.on('error', () => {});
}

/** The host name in the certificate of a new connection, and the response to a request on it. */
async function ask(listener: HttpListener, options?: ConnectionOptions) {
  const socket = await shakeHands(listener, options);
  const { subject } = socket.getPeerCertificate();
  const protocol = socket.getProtocol();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  return { name: subject.CN, protocol, text: await readAll(socket) };
}

it('HTTPS server uses the given certificate and rejects plain HTTP', async (t) => {
  const listener = await listen(t, { tls: first });
  const { name, text } = await ask(listener);
  assert.equal(name, 'a.example');
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n[\s\S]*hello$/);
  assert.equal(await talk(t, listener, GET).reply, '');
});

it('HTTPS server updateTls uses a new certificate and ignores invalid ones', async (t) => {
  const listener = await listen(t, { tls: first });
  listener.updateTls(second);
  assert.equal((await ask(listener)).name, 'b.example');
  const bad = [
    { cert: 'x', key: 'x' },
    { cert: first.cert, key: second.key },
    { cert: '', key: '' },
  ];
  for (const pair of bad) assert.throws(() => listener.updateTls(pair));
  assert.equal((await ask(listener)).name, 'b.example');
});

it('HTTPS server rejects TLS below 1.2, also after updateTls', async (t) => {
  const listener = await listen(t, { tls: first });
  const old: ConnectionOptions = {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  };
  await assert.rejects(ask(listener, old));
  listener.updateTls(second);
  await assert.rejects(ask(listener, old));
  assert.equal((await ask(listener, { maxVersion: 'TLSv1.2' })).protocol, 'TLSv1.2');
});

it('HTTPS server fails to start with an invalid key pair', async (t) => {
  await assert.rejects(listen(t, { tls: { cert: 'x', key: 'x' } }));
});

it('HTTPS server shutdown does not wait for idle connections', {
  timeout: 10_000,
}, async (t) => {
  const listener = await listen(t, { tls: first });
  const silent = talk(t, listener);
  await once(silent.socket, 'connect');
  await shakeHands(listener);
  await listener.close(LONG);
  assert.equal(await silent.reply, '');
});

it('HTTPS server shutdown cuts off stalled handshakes', { timeout: 10_000 }, async (t) => {
  const listener = await listen(t, { tls: first });
  // An incomplete TLS record. The server has read it once another handshake is complete.
  const { reply } = talk(t, listener, '\x16\x03\x01\x02\x00\x01');
  await shakeHands(listener);
  await listener.close(20);
  assert.equal(await reply, '');
});

it('updateTls has no effect on a plain HTTP server', async (t) => {
  const listener = await listen(t);
  listener.updateTls({ cert: 'x', key: 'x' });
  assert.match(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text(), /hello/);
});

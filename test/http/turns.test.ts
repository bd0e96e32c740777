/** Pipelined requests: those of one connection wait for each other, and other connections have their turn in between. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { it, type TestContext } from 'node:test';
import type { Fetch } from '../../src/http/router.ts';
import type { HttpListener } from '../../src/http/server.ts';
import { listen, readAll, talk } from './listener.ts';

const get = (path: string, fields = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;
const last = (path: string): string => get(path, 'Connection: close\r\n');
const pathOf = (request: Request): string => new URL(request.url).pathname;
const bodiesIn = (reply: string): string[] =>
  reply.match(/(?<=\r\n\r\n).*?(?=HTTP\/1\.1|$)/gs)!.filter((text) => text !== '');

async function open(t: TestContext, { port }: HttpListener): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

it('HTTP server handles one request of a connection at a time, in order, and answers all', async (t) => {
  let running = 0;
  let most = 0;
  const fetch: Fetch = async (request) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return new Response(pathOf(request));
  };
  const count = 600;
  const paths = Array.from({ length: count }, (_, i) => `/${i}`);
  const requests = paths.map((path, i) => (i === count - 1 ? last(path) : get(path))).join('');
  const { reply } = talk(t, await listen(t, { fetch }), requests);
  assert.deepEqual(bodiesIn(await reply), paths);
  assert.equal(most, 1);
});

it('HTTP server answers another connection before the pipelined requests of a stranger', async (t) => {
  const order: string[] = [];
  const started = Promise.withResolvers<void>();
  const listener = await listen(t, {
    async fetch(request) {
      const path = pathOf(request);
      order.push(path);
      started.resolve();
      // The work of one request, in which nothing else runs.
      for (const end = performance.now() + 2; performance.now() < end; );
      return new Response('x');
    },
  });
  const [stranger, other] = await Promise.all([open(t, listener), open(t, listener)]);
  stranger.resume().write(get('/stranger').repeat(300));
  await started.promise;
  for (let i = 0; i < 3; i++) {
    other.write(get('/other'));
    await once(other, 'data');
  }
  const before = order.slice(0, order.lastIndexOf('/other'));
  const strangers = before.filter((path) => path === '/stranger').length;
  assert.ok(strangers < 50, `${strangers} requests of the stranger came first`);
});

it('HTTP server closes a connection with thousands of requests that wait, and answers others', async (t) => {
  const gate = Promise.withResolvers<void>();
  const listener = await listen(t, {
    async fetch(request) {
      if (pathOf(request) === '/slow') await gate.promise;
      return new Response('x');
    },
  });
  const [stranger, other] = await Promise.all([open(t, listener), open(t, listener)]);
  const closed = once(stranger, 'close');
  // In one piece of 64 KiB, so that all are read at once.
  stranger.resume().write(get('/slow') + 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(2000));
  await closed;
  other.write(get('/other'));
  await once(other, 'data');
  gate.resolve();
});

it('HTTP server stops reading a connection whose requests wait, and reads on afterwards', async (t) => {
  const gate = Promise.withResolvers<void>();
  let handled = 0;
  const listener = await listen(t, {
    async fetch() {
      handled += 1;
      await gate.promise;
      return new Response('x');
    },
  });
  const socket = await open(t, listener);
  // 40 MB, more than the buffers of the system hold.
  const count = 5000;
  socket.write(get('/', `X: ${'x'.repeat(8000)}\r\n`).repeat(count - 1) + last('/'));
  // Until the system takes no more.
  for (let sent = -1; socket.writableLength !== sent; ) {
    sent = socket.writableLength;
    for (let i = 0; i < 100; i++) await new Promise(setImmediate);
  }
  assert.ok(socket.writableLength > 0);
  assert.equal(handled, 1);
  gate.resolve();
  const reply = await readAll(socket);
  assert.equal(reply.match(/HTTP\/1\.1 200 OK/g)!.length, count);
  assert.equal(handled, count);
});

it('HTTP server drops waiting requests of a closed connection', async (t) => {
  const gate = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const handled: string[] = [];
  const listener = await listen(t, {
    async fetch(request) {
      handled.push(pathOf(request));
      request.signal.addEventListener('abort', () => gone.resolve());
      await gate.promise;
      return new Response('x');
    },
  });
  const socket = await open(t, listener);
  socket.write(get('/1') + get('/2') + get('/3'));
  while (handled.length === 0) await new Promise(setImmediate);
  socket.destroy();
  await gone.promise;
  gate.resolve();
  const next = await open(t, listener);
  next.write(get('/next'));
  await once(next, 'data');
  assert.deepEqual(handled, ['/1', '/next']);
});

it('HTTP server reads the body of a request that waited for its turn', async (t) => {
  const size = 300_000;
  const fetch: Fetch = async (request) => {
    await new Promise(setImmediate);
    return new Response(`${(await request.text()).length}`);
  };
  const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`;
  const { reply } = talk(
    t,
    await listen(t, { fetch }),
    get('/').repeat(40) + post + get('/').repeat(40) + post + last('/'),
  );
  const zeros = Array<string>(40).fill('0');
  assert.deepEqual(bodiesIn(await reply), [...zeros, `${size}`, ...zeros, `${size}`, '0']);
});

/** A server on loopback without a router, and clients that send raw bytes. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { Fetch } from '../../src/http/router.ts';
import { type HttpListener, type HttpOptions, startHttp } from '../../src/http/server.ts';
import { silentLog } from '../../src/lib/log.ts';

const hello: Fetch = async () => new Response('hello');
/** Longer than any of these tests, in milliseconds. */
export const LONG = 60_000;

export async function listen(
  t: TestContext,
  options: Partial<HttpOptions> = {},
): Promise<HttpListener> {
  const listener = await startHttp({
    host: '127.0.0.1',
    port: 0,
    fetch: hello,
    log: silentLog,
    newId: (prefix) => `${prefix}_1`,
    ...options,
  });
  t.after(() => listener.close(0));
  return listener;
}

/** Sends these bytes and returns all bytes received until the connection closes. */
export function talk(t: TestContext, { port }: HttpListener, first = '') {
  const socket = connect(port, '127.0.0.1', () => socket.write(first));
  t.after(() => socket.destroy());
  return { socket, reply: readAll(socket) };
}

export async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  return text;
}

export const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** Listeners go on after the process has run out of file handles. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { spawn } from '../../scripts/programs.ts';

const CHILD = fileURLToPath(new URL('./accept-child.ts', import.meta.url));

async function startChild(t: TestContext): Promise<{ http: number; smtp: number }> {
  const command = [process.execPath, '--import', 'tsx', CHILD];
  const child = spawn('sh', ['-c', 'ulimit -n 128; exec "$@"', 'sh', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stdout), 'line');
  return JSON.parse(line);
}

function open(t: TestContext, port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  t.after(() => socket.destroy());
  return socket;
}

/** The first data received, or an empty string if the connection is closed or reset before any. */
async function firstData(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (data) => resolve(String(data)));
    socket.once('close', () => resolve(''));
  });
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

test('Listeners accept connections again after EMFILE', { timeout: 30_000 }, async (t) => {
  const ports = await startChild(t);
  const sockets: Socket[] = [];
  for (let i = 0; i < 300; i++) {
    const socket = open(t, i % 2 === 0 ? ports.http : ports.smtp);
    sockets.push(socket);
    await once(socket, 'connect');
  }
  for (const socket of sockets) socket.destroy();
  for (const [port, first, expected] of [
    [ports.http, GET, /hello$/],
    [ports.smtp, '', /^220 /],
  ] as const) {
    let reply = '';
    // The server may need a moment to notice that the others were closed.
    while (!expected.test(reply)) {
      const socket = open(t, port);
      socket.write(first);
      reply = await firstData(socket);
    }
    assert.match(reply, expected);
  }
});

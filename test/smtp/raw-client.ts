/** An SMTP client that sends exact bytes and reads every reply. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';

export interface RawClient {
  socket: Socket;
  /** The next complete reply, its lines joined by LF; empty after the connection is closed. */
  reply(): Promise<string>;
  /** Writes a line and checks the code of the reply. */
  say(line: string, code: number): Promise<string>;
  /** Resolves when the bytes are sent. */
  write(bytes: string | Buffer): Promise<void>;
  /** Resolves when the server has closed the connection. */
  closed: Promise<unknown>;
  /** `behind` is sent in one write with the command. */
  startTls(options?: ConnectionOptions, behind?: string): Promise<TLSSocket>;
}

/** Connects and reads the greeting, or sends `before` without reading it. */
export async function connectTo(
  t: TestContext,
  port: number,
  before?: string | Buffer,
): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  const client = talk(socket);
  if (before === undefined) assert.match(await client.reply(), /^220 /);
  else await client.write(before);
  return client;
}

function talk(first: Socket): RawClient {
  let text = '';
  let closed = false;
  let wake = () => {};
  const listenTo = (socket: Socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      wake();
    });
    return new Promise<void>((resolve) => {
      socket.on('close', () => {
        closed = true;
        wake();
        resolve();
      });
    });
  };
  const client: RawClient = {
    socket: first,
    closed: listenTo(first),
    async reply() {
      for (;;) {
        const whole = /^(?:\d{3}-[^\n]*\n)*\d{3} [^\n]*\n/.exec(text)?.[0];
        if (whole) {
          text = text.slice(whole.length);
          return whole.replaceAll('\r\n', '\n').trimEnd();
        }
        if (closed) return '';
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async say(line, code) {
      await client.write(`${line}\r\n`);
      const reply = await client.reply();
      assert.equal(reply.slice(0, 3), String(code), `${line} → ${reply}`);
      return reply;
    },
    write: (bytes) =>
      new Promise((resolve) => {
        client.socket.write(bytes, 'latin1', () => resolve());
      }),
    async startTls(options = {}, behind = '') {
      await client.say(`STARTTLS${behind}`, 220);
      client.socket.removeAllListeners('data');
      const secure = connectTls({ socket: client.socket, rejectUnauthorized: false, ...options });
      await once(secure, 'secureConnect');
      client.socket = secure;
      client.closed = listenTo(secure);
      return secure;
    },
  };
  return client;
}

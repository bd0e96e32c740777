/** Messages durably accepted by SMTP, compared with appending the same bytes to a file with fsync. */

import { once } from 'node:events';
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startChild } from './child.ts';
import { measureInTurns, median, ROUNDS, rate, ratio } from './measure.ts';
import { benchMail } from './message.ts';

const COUNT = 400;
const CONNECTIONS = 8;

interface Ready {
  smtp: number;
  tests: { token: string }[];
}

export async function benchSmtp() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const raw = Buffer.from((await benchMail()).input.raw);
  const child = await startChild<Ready>('service-child.mjs', [
    folder,
    String(COUNT * (ROUNDS + 1)),
  ]);
  const tokens = child.ready.tests.map(({ token }) => token);
  try {
    const rates = await measureInTurns({
      append: () => rate(COUNT, () => append(join(folder, 'plain'), raw)),
      smtp: () => {
        const unused = tokens.splice(0, COUNT);
        return sendAll([child.ready.smtp], unused, raw);
      },
    });
    return {
      message_bytes: raw.byteLength,
      connections: CONNECTIONS,
      append_fsync_per_second: Math.round(median(rates.append)),
      smtp_accepted_per_second: Math.round(median(rates.smtp)),
      smtp_over_append: ratio(rates.smtp, rates.append),
    };
  } finally {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function append(path: string, raw: Buffer): void {
  const file = openSync(path, 'a');
  for (let i = 0; i < COUNT; i++) {
    writeSync(file, raw);
    fsyncSync(file);
  }
  closeSync(file);
}

/**
 * Sends a message to each token, with the connections divided among the ports. Measures the rate without
 * connection setup: connections are open before the clock starts.
 */
export async function sendAll(ports: number[], tokens: string[], raw: Buffer): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, i) => openClient(ports[i % ports.length]!)),
  );
  const result = await rate(tokens.length, () =>
    Promise.all(
      clients.map(async (client) => {
        for (let token = tokens.pop(); token; token = tokens.pop())
          await client.send(`${token}@bench.example`, raw);
      }),
    ),
  );
  for (const client of clients) client.close();
  return result;
}

/** A connection that sends messages one after the other. */
export async function openClient(port: number) {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  const lines = createInterface(socket)[Symbol.asyncIterator]();
  const expectReply = async (expected: string) => {
    for (;;) {
      const { value } = await lines.next();
      if (!value?.startsWith(expected)) throw new Error(`expected ${expected}, got ${value}`);
      if (value[3] === ' ') return;
    }
  };
  await once(socket, 'connect');
  await expectReply('220');
  socket.write('EHLO mail.example.com\r\n');
  await expectReply('250');
  const end = Buffer.from('.\r\n');
  return {
    async send(to: string, raw: Buffer) {
      // Pipelined (RFC 2920): replies come in order.
      socket.write(`MAIL FROM:<someone@example.com>\r\nRCPT TO:<${to}>\r\nDATA\r\n`);
      await expectReply('250');
      await expectReply('250');
      await expectReply('354');
      socket.write(Buffer.concat([raw, end]));
      await expectReply('250');
    },
    close: () => socket.end('QUIT\r\n'),
  };
}

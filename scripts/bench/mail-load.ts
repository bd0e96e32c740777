/** Sends messages at a constant rate, each from a new sender domain, and measures their analysis. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type SigningKey, signMessage } from '../../test/helpers/signer.ts';
import { type Api, call } from './api-load.ts';
import { SELECTOR, sendingDomain } from './watching-records.ts';

export interface MailLoad {
  /** Stops, waits for the last results, and resolves with the milliseconds from receipt to result. */
  stop(): Promise<number[]>;
}

interface Test {
  id: string;
  address: string;
  status: string;
  received_at: string;
  completed_at: string;
}

const RESULT_TIMEOUT_MS = 60_000;

/** `first`: the number of the first sender; two loads must not share sender numbers. */
export function startMailLoad(
  api: Api & { smtp: number },
  { first, everyMs, key }: { first: number; everyMs: number; key: SigningKey },
): MailLoad {
  const tests: Promise<Test>[] = [];
  let stopped = false;
  const loop = (async () => {
    for (let sender = first; !stopped; sender++) {
      tests.push(sendOne(api, sender, key));
      await pause(everyMs);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await loop;
      // One after another: each opens a connection, and one client may have a hundred.
      const times: number[] = [];
      for (const test of tests) times.push(await waitForResult(api, await test));
      return times;
    },
  };
}

async function sendOne(api: Api & { smtp: number }, sender: number, key: SigningKey) {
  const test = await call<Test>(api, { method: 'POST', path: '/v1/tests', body: {} });
  const domain = sendingDomain(sender);
  const raw = await signMessage(messageOf(domain), { domain, selector: SELECTOR, key });
  const client = `9.9.9.${1 + (sender % 250)}`;
  const socket = connect(api.smtp, '127.0.0.1');
  const lines = createInterface(socket)[Symbol.asyncIterator]();
  const send = async (text: string | Buffer, expected: string) => {
    if (text !== '') socket.write(text);
    for (let line = ''; line[3] !== ' '; ) {
      line = (await lines.next()).value ?? '';
      if (!line.startsWith(expected)) throw new Error(`expected ${expected}, got ${line}`);
    }
  };
  await once(socket, 'connect');
  await send(`PROXY TCP4 ${client} 127.0.0.1 40000 25\r\n`, '220');
  await send(`EHLO mail.${domain}\r\n`, '250');
  await send(`MAIL FROM:<someone@${domain}>\r\n`, '250');
  await send(`RCPT TO:<${test.address}>\r\n`, '250');
  await send('DATA\r\n', '354');
  await send(Buffer.concat([raw, Buffer.from('.\r\n')]), '250');
  socket.end('QUIT\r\n');
  return test;
}

async function waitForResult(api: Api, { id }: Test): Promise<number> {
  for (
    const end = performance.now() + RESULT_TIMEOUT_MS;
    performance.now() < end;
    await pause(100)
  ) {
    const test = await call<Test>(api, { method: 'GET', path: `/v1/tests/${id}` });
    if (test.status === 'failed') throw new Error(`The analysis of ${id} failed`);
    if (test.status === 'completed')
      return Date.parse(test.completed_at) - Date.parse(test.received_at);
  }
  throw new Error(`The analysis of ${id} did not complete in time`);
}

const messageOf = (domain: string): string =>
  [
    `From: Someone <someone@${domain}>`,
    'To: other@example.net',
    'Subject: The message of the benchmark',
    'Date: Sat, 21 Nov 2026 10:00:00 +0000',
    `Message-ID: <1@${domain}>`,
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    '',
    ...Array.from(
      { length: 60 },
      () => '<p>A paragraph of some text that goes on for a while.</p>',
    ),
    '',
  ].join('\n');

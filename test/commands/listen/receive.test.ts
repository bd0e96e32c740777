/** What is forwarded to a program that does not answer as it should: it is told, at once, and gives nothing away. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createReceiver, forward } from '../../../src/commands/listen/receive.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const EVENT = { object: 'event', id: 'evt_1', type: 'test.failed', data: {} };
const BODY = Buffer.from(JSON.stringify(EVENT));

/** The address of a program that says this to whatever comes, and hangs up. */
async function answering(t: TestContext, text: string): Promise<URL> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(text));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/own`);
}

test('forward rejects responses with an invalid or missing status', {
  timeout: 10_000,
}, async (t) => {
  const cases: [text: string, error: RegExp][] = [
    [
      'HTTP/1.1 101 Switching Protocols\r\n\r\n',
      /^it responded with status 101, which is not a final response$/,
    ],
    [
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n',
      /^it responded with status 101, /,
    ],
    ['HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n', /^it responded with status 99, /],
    ['HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n', /^it responded with status 600, /],
    ['HTTP/1.1 100 Continue\r\n\r\n', /^ECONNRESET$/],
    ['', /^ECONNRESET$/],
  ];
  for (const [text, error] of cases) {
    const outcome = await forward(await answering(t, text), {}, BODY);
    assert.match('error' in outcome ? outcome.error : JSON.stringify(outcome), error, text);
  }
  const good = await forward(
    await answering(t, 'HTTP/1.1 299 Fine\r\nContent-Length: 2\r\n\r\nok'),
    {},
    BODY,
  );
  assert.deepEqual('reply' in good && [good.reply.status, String(good.reply.body)], [299, 'ok']);
});

test('The listen receiver hides the forward URL from callers and its credentials from output', async (t) => {
  const forwardTo = await answering(t, '');
  forwardTo.username = 'user';
  forwardTo.password = 'geheim';
  forwardTo.search = '?token=geheim';
  const receive = createReceiver({ clock: systemClock, secret: null, forwardTo, status: 200 });
  const { receipt, reply } = await receive({ method: 'POST', headers: {}, body: BODY });
  assert.deepEqual([reply.status, reply.body], [502, 'your program did not respond\n']);
  assert.equal(receipt.fault, `http://${forwardTo.host}/own did not respond: ECONNRESET`);
});

/** Responses to signed messages that no client should believe. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { DnsServerError } from '../../../src/dns-changes/server.ts';
import { rfc2136 } from '../../../src/dns-changes/servers/rfc2136.ts';
import { signMessage } from '../../../src/net/dns-update/tsig.ts';
import { loopbackContext, startBind, TEST_KEY, type TestNameServer } from '../../helpers/bind.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';

const SETTINGS = {
  key_name: TEST_KEY.name,
  key_algorithm: TEST_KEY.algorithm,
  key_secret: TEST_KEY.secret,
};
const KEY = {
  name: TEST_KEY.name,
  algorithm: 'hmac-sha256' as const,
  secret: Buffer.from(TEST_KEY.secret, 'base64'),
};

/** A server of the kind `rfc2136` behind this handler of connections. */
async function openBehind(t: TestContext, handle: (socket: Socket) => void, signal?: AbortSignal) {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    handle(socket);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const { port } = listener.address() as AddressInfo;
  const settings = { ...SETTINGS, server: `127.0.0.1:${port}` };
  return rfc2136.open(settings, { ...loopbackContext(), ...(signal && { signal }) });
}

/** Answers each message with the bytes that `respond` makes of it. */
const answering = (respond: (query: Buffer) => Buffer | null) => (socket: Socket) =>
  socket.on('data', (data) => {
    const reply = respond(data.subarray(2));
    if (reply === null) return socket.destroy();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(reply.length);
    socket.write(Buffer.concat([length, reply]));
  });

/** The head of the query as a response without records. */
function responseTo(query: Buffer): Buffer {
  const head = Buffer.from(query.subarray(0, 12));
  head[2]! |= 0x84;
  head.fill(0, 4, 12);
  return head;
}

const HOSTILE: [string, (query: Buffer) => Buffer | null][] = [
  ['no response', () => null],
  ['an empty message', () => Buffer.alloc(0)],
  ['a few bytes', () => Buffer.from('hello')],
  ['a response without a signature', responseTo],
  ['the query itself', (query) => query],
  [
    'a response that is signed for no request',
    (query) => signMessage(responseTo(query), KEY, Date.now()).bytes,
  ],
  [
    'a response to another message',
    (query) => {
      const reply = responseTo(query);
      reply[0]! ^= 1;
      return reply;
    },
  ],
  [
    'records that end early',
    (query) => {
      const reply = responseTo(query);
      reply.writeUInt16BE(65_535, 10);
      return reply;
    },
  ],
  [
    'a name that refers to itself',
    (query) => {
      const reply = responseTo(query);
      reply[11] = 1;
      return Buffer.concat([
        reply,
        Buffer.from([0xc0, 12, 0, 250, 0, 255, 0, 0, 0, 0, 0, 2, 0xc0, 12]),
      ]);
    },
  ],
];

for (const [what, respond] of HOSTILE)
  test(`the answer to a signed query is not believed: ${what}`, async (t) => {
    const server = await openBehind(t, answering(respond));
    await assert.rejects(server.read('example.com', 'example.com', 'TXT'), DnsServerError);
    await assert.rejects(server.zoneOf('example.com'), DnsServerError);
  });

test('a name server that never answers is given up', async (t) => {
  const controller = new AbortController();
  const server = await openBehind(t, () => controller.abort(), controller.signal);
  await assert.rejects(server.zoneOf('example.com'), { problem: 'timeout', mayHaveChanged: false });
});

const bindOptions = { skip: skipUnlessInstalled('named') };

test('a changed byte in a response of BIND is noticed', bindOptions, async (t) => {
  const running = await startBind(t, {
    zones: { 'example.com': { 'a.example.com': { TXT: ['x'] } } },
  });
  let at = 0;
  const server = await openBehind(t, (socket) => {
    const upstream = connect(running.address);
    upstream.on('error', () => {});
    socket.pipe(upstream);
    upstream.on('data', (data) => {
      if (2 + at < data.length) data[2 + at]! ^= 1;
      socket.write(data);
    });
  });
  let noticed = 0;
  for (at = 0; at < 160; at += 1)
    try {
      const { values } = await server.read('example.com', 'a.example.com', 'TXT');
      // Parts of the signature’s own record mean nothing, and neither does a byte after the end.
      assert.deepEqual(values, ['x'], `byte ${at}`);
    } catch (error) {
      assert.ok(error instanceof DnsServerError, String(error));
      noticed += 1;
    }
  assert.ok(noticed > 90, `${noticed}`);
});

/** Hands everything on to BIND, and what `respond` makes of each response back. */
const relaying =
  (
    running: TestNameServer,
    respond: (response: Buffer, isUpdate: boolean, socket: Socket) => void,
  ) =>
  (socket: Socket) => {
    const upstream = connect(running.address);
    upstream.on('error', () => {});
    let isUpdate = false;
    socket.on('data', (data) => {
      // An update without changes only asks.
      isUpdate = (data[4]! & 0x78) === 0x28 && data.readUInt16BE(2 + 8) > 0;
      upstream.write(data);
    });
    upstream.on('data', (data) => respond(data, isUpdate, socket));
  };

test(
  'an update is made although the server fails right after its response',
  bindOptions,
  async (t) => {
    const running = await startBind(t, { zones: { 'example.com': {} } });
    let isMade = false;
    const server = await openBehind(
      t,
      relaying(running, (response, isUpdate, socket) => {
        if (isMade) return socket.destroy();
        isMade = isUpdate;
        socket.write(response);
      }),
    );
    const before = { name: 'a.example.com', type: 'TXT', values: [], ttl: 3600 };
    await server.replace('example.com', before, { ...before, values: ['x'] });
    await assert.rejects(server.read('example.com', 'a.example.com', 'TXT'), DnsServerError);
  },
);

test('an unsigned refusal of an update proves nothing', bindOptions, async (t) => {
  const running = await startBind(t, { zones: { 'example.com': {} } });
  const server = await openBehind(
    t,
    relaying(running, (response, isUpdate, socket) => {
      if (!isUpdate) return socket.write(response);
      const refusal = Buffer.alloc(14);
      refusal.writeUInt16BE(12);
      response.copy(refusal, 2, 2, 4);
      refusal[4] = 0xa8;
      refusal[5] = 5;
      return socket.write(refusal);
    }),
  );
  const before = { name: 'a.example.com', type: 'TXT', values: [], ttl: 3600 };
  await assert.rejects(server.replace('example.com', before, { ...before, values: ['x'] }), {
    problem: 'refused',
    mayHaveChanged: true,
  });
});

test('an update whose response is lost may have been made', bindOptions, async (t) => {
  const running = await startBind(t, { zones: { 'example.com': {} } });
  const server = await openBehind(
    t,
    relaying(running, (response, isUpdate, socket) =>
      isUpdate ? socket.destroy() : socket.write(response),
    ),
  );
  const before = { name: 'a.example.com', type: 'TXT', values: [], ttl: 3600 };
  const after = { ...before, values: ['x'] };
  await assert.rejects(server.replace('example.com', before, after), {
    problem: 'unreachable',
    mayHaveChanged: true,
  });
  assert.deepEqual((await server.read('example.com', 'a.example.com', 'TXT')).values, ['x']);
});

/** The webhook client against real HTTPS servers on loopback: well-behaved, hostile and forbidden ones. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as openRequest, type RequestListener } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { parseNetwork } from '../../../src/lib/addresses.ts';
import { makeCertificate } from '../../../src/lib/certificates.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import type { Connect, Dial, WebFailureReason } from '../../../src/net/guarded-connection.ts';
import { createPoster, KeepAliveAgent, type PosterOptions } from '../../../src/net/http/poster.ts';
import type { PostOutcome } from '../../../src/net/http/web.ts';
import { dialTo, startCanary, startRaw } from '../canary.ts';

const DAY = 86_400_000;
const KiB = 1024;
const HOST = 'hook.example.com';
const SITE = await makeCertificate(HOST, Date.now());

const resolver = zoneResolver({
  [HOST]: { A: ['127.0.0.1'] },
  'public.example.com': { A: ['1.2.3.4'] },
  'six.example.com': { AAAA: ['::1'] },
  'private.example.com': { A: ['10.0.0.1'], AAAA: ['fd00::1'] },
  'broken.example.com': { fails: 'servfail' },
});

/** Creates a client that reaches loopback and trusts the certificate above; closed after the test. */
function makePoster(t: TestContext, options: Partial<PosterOptions> = {}) {
  const allowNetworks = [parseNetwork('127.0.0.1/32')];
  const poster = createPoster({ resolver, allowNetworks, ca: [SITE.cert], ...options });
  t.after(() => poster.close());
  const post = async (
    url: string,
    { headers = {}, body = '{}' }: { headers?: Record<string, string>; body?: string } = {},
  ): Promise<PostOutcome> => {
    const outcome = await poster.post({ url, headers, body });
    assert.ok(outcome, 'the poster is open');
    if (outcome.failure) {
      assert.match(outcome.failure.detail, /^[a-z].+[^.]$/, 'a clause');
      assert.doesNotMatch(outcome.failure.detail, /\d+\.\d+\.\d+/, 'no addresses');
    }
    return outcome;
  };
  return { poster, post };
}

const at = (port: number, path = '/') => `https://${HOST}:${port}${path}`;
const textOf = ({ response }: PostOutcome) => Buffer.from(response?.body ?? []).toString();
const summary = ({ response, failure }: PostOutcome) => failure?.reason ?? response?.code;

/** How a server ends a connection. */
type Way = 'end' | 'destroy' | 'reset';
const WAYS: Way[] = ['end', 'destroy', 'reset'];

interface TlsServer {
  port: number;
  connections: number;
  open: Set<Socket>;
  /** Resolves when at most this many connections are open; rejects after 2 s. */
  left(count: number): Promise<void>;
}

/** Starts a TLS server that passes each connection to `serve`. */
async function startTlsServer(
  t: TestContext,
  talk: (socket: Socket, number: number, leave: (way: Way) => void) => void,
): Promise<TlsServer> {
  const open = new Set<Socket>();
  // The TCP sockets below TLS by client port: only these can be reset.
  const beneath = new Map<number | undefined, Socket>();
  const server = createTlsServer(SITE, (socket) => {
    it.connections += 1;
    open.add(socket.on('close', () => open.delete(socket)));
    socket.on('error', () => {}).resume();
    const plain = beneath.get(socket.remotePort);
    talk(socket, it.connections, (way) => {
      if (way === 'reset') plain?.resetAndDestroy();
      else socket[way]();
    });
  });
  server.on('connection', (socket: Socket) => beneath.set(socket.remotePort, socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const it: TlsServer = {
    port: (server.address() as AddressInfo).port,
    connections: 0,
    open,
    async left(count) {
      const late = AbortSignal.timeout(30_000);
      const aborted = once(late, 'abort');
      while (open.size > count) {
        late.throwIfAborted();
        const closed = [...open].map((socket) => new Promise((done) => socket.on('close', done)));
        await Promise.race([aborted, ...closed]);
      }
    },
  };
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return it;
}

/** Calls back for each request; the requests in these tests arrive in one piece. */
const eachRequest = (socket: Socket, answer: (number: number) => void) => {
  let number = 0;
  socket.on('data', () => {
    number += 1;
    answer(number);
  });
};

/** Writes the piece repeatedly until the connection closes. */
function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.on('close', () => clearInterval(timer));
}

/** Writes as fast as the client reads. */
function pour(socket: Socket, piece: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

const OK = 'HTTP/1.1 200 OK\r\n';
const EMPTY = `${OK}Content-Length: 0\r\n\r\n`;

test('Webhook client sends method, headers and body and returns the response', async (t) => {
  let received = '';
  const canary = await startCanary(
    t,
    (request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => {
        received += text;
      });
      request.on('end', () => {
        response.setHeader('X-Two', ['a', 'b']).setHeader('__proto__', 'x');
        response.writeHead(202, { 'Content-Type': 'text/plain' }).end('thänks');
      });
    },
    SITE,
  );
  const { post } = makePoster(t);
  const url = at(canary.port, '/a%20b?c=ä');
  const headers = {
    'Content-Type': 'application/json',
    'user-agent': 'test',
    'X-Service-Event-ID': 'evt_1',
    HOST: 'other.example.com',
    Connection: 'close',
    'content-length': '1',
    'Accept-Encoding': 'gzip',
  };
  const outcome = await post(url, { headers, body: '{"ä":"€"}' });
  assert.equal(outcome.failure, null);
  assert.equal(outcome.response?.code, 202);
  assert.equal(outcome.response.headers['content-type'], 'text/plain');
  assert.equal(outcome.response.headers['x-two'], 'a, b');
  assert.equal(Object.getOwnPropertyDescriptor(outcome.response.headers, '__proto__')?.value, 'x');
  assert.equal(textOf(outcome), 'thänks');
  assert.equal(received, '{"ä":"€"}');
  assert.deepEqual(canary.requests, ['POST /a%20b?c=%C3%A4']);
  assert.deepEqual(canary.headers[0], {
    host: `${HOST}:${canary.port}`,
    'content-type': 'application/json',
    'user-agent': 'test',
    'x-service-event-id': 'evt_1',
    'accept-encoding': 'identity',
    'content-length': '12',
    connection: 'keep-alive',
  });
});

test('Webhook client sends a thousand requests over one keep-alive connection', async (t) => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const canary = await startCanary(t, undefined, SITE);
  let lookups = 0;
  const counting: Resolver = (name, type) => {
    lookups += 1;
    return resolver(name, type);
  };
  const { post } = makePoster(t, { resolver: counting });
  for (let i = 0; i < 1000; i++) assert.equal(summary(await post(at(canary.port))), 200);
  assert.equal(canary.requests.length, 1000);
  assert.equal(canary.connections, 1);
  assert.equal(lookups, 2, 'reused connections are not looked up');
  assert.deepEqual(warnings, []);
});

test('Webhook client keeps at most ten connections per host', async (t) => {
  const server = await startTlsServer(t, (socket) =>
    eachRequest(socket, () => socket.write(EMPTY)),
  );
  const { post } = makePoster(t);
  const all = await Promise.all(Array.from({ length: 13 }, () => post(at(server.port))));
  assert.deepEqual(new Set(all.map(summary)), new Set([200]));
  assert.equal(server.connections, 13);
  await server.left(10);
  assert.equal(server.open.size, 10);
  await Promise.all(Array.from({ length: 10 }, () => post(at(server.port))));
  assert.equal(server.connections, 13, 'idle connections are reused');
});

test('Webhook client keeps at most 200 connections in total', async (t) => {
  const server = await startRaw(t, (socket) => eachRequest(socket, () => socket.write(EMPTY)));
  const to: Connect = async () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    return { status: 'connected', socket };
  };
  const connections = new KeepAliveAgent(to, 5000, 4000);
  t.after(() => connections.destroy());
  const ask = async (host: string) => {
    const options = { agent: connections, host, port: 1, deadline: new AbortController().signal };
    const request = openRequest(options).end();
    const [response] = await once(request, 'response');
    response.resume();
    await once(request, 'close');
  };
  for (let i = 0; i < 203; i++) await ask(`${i}.example.com`);
  assert.equal(Object.keys(connections.freeSockets).length, 200);
});

test('Webhook client does not keep a connection opened after the deadline', async (t) => {
  const server = await startRaw(t, () => {});
  const controller = new AbortController();
  const late: Connect = async () => {
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    controller.abort();
    return { status: 'connected', socket };
  };
  const connections = new KeepAliveAgent(late, 5000, 4000);
  t.after(() => connections.destroy());
  const deadline = controller.signal;
  const options = { agent: connections, host: HOST, port: 1, deadline };
  const [error] = await once(openRequest(options).end(), 'error');
  assert.match(String(error), /in time/);
  await server.clientClosed();
});

test('Webhook client reuses the most recently used connection', async (t) => {
  const used: number[] = [];
  let waiting: (() => void)[] = [];
  const server = await startTlsServer(t, (socket, number) =>
    eachRequest(socket, () => {
      used.push(number);
      waiting.push(() => socket.write(EMPTY));
      if (waiting.length === 2 || used.length > 2) for (const answer of waiting.splice(0)) answer();
    }),
  );
  const { post } = makePoster(t);
  const second = () => post(at(server.port));
  await Promise.all([second(), second()]);
  waiting = [];
  await post(at(server.port));
  await post(at(server.port));
  await post(at(server.port));
  assert.equal(new Set(used.slice(2)).size, 1);
});

test('Webhook client does not share connections between hosts or ports', async (t) => {
  const other = await makeCertificate('public.example.com', Date.now());
  const canary = await startCanary(t, undefined, SITE);
  const second = await startCanary(t, undefined, other);
  const ca = [SITE.cert, other.cert];
  const { dial } = dialTo(second.port);
  const reach: Dial = (address, port) =>
    address === '1.2.3.4' ? dial(address, port) : connect(port, address);
  const { post } = makePoster(t, { ca, dial: reach });
  for (let i = 0; i < 2; i++) {
    assert.equal(summary(await post(at(canary.port))), 200);
    assert.equal(summary(await post(`https://public.example.com:${canary.port}/`)), 200);
    assert.equal(summary(await post(at(second.port))), 'tls');
  }
  assert.equal(canary.connections, 1);
  assert.equal(second.requests.length, 2);
});

test('Webhook client does not reuse connections the response closes', async (t) => {
  for (const head of [
    `${OK}Connection: close\r\nContent-Length: 0\r\n\r\n`,
    'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
    `${OK}Keep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n`,
  ]) {
    const server = await startTlsServer(t, (socket) =>
      eachRequest(socket, () => socket.write(head)),
    );
    const { post } = makePoster(t);
    for (let i = 0; i < 2; i++) assert.equal(summary(await post(at(server.port))), 200);
    assert.equal(server.connections, 2, head);
    await server.left(0);
  }
});

test('Webhook client reads a body that ends with the connection', async (t) => {
  const server = await startTlsServer(t, (socket) =>
    eachRequest(socket, () => socket.end(`${OK}\r\nall of it`)),
  );
  const { post } = makePoster(t);
  for (let i = 0; i < 2; i++) {
    const outcome = await post(at(server.port));
    assert.deepEqual([summary(outcome), textOf(outcome)], [200, 'all of it']);
  }
  assert.equal(server.connections, 2);
});

test('Webhook client closes idle connections without limiting responses', async (t) => {
  const server = await startTlsServer(t, (socket) =>
    eachRequest(socket, (number) => setTimeout(() => socket.write(EMPTY), number === 2 ? 60 : 0)),
  );
  const { post } = makePoster(t, { idleMs: 20 });
  assert.equal(summary(await post(at(server.port))), 200);
  assert.equal(summary(await post(at(server.port))), 200);
  assert.equal(server.connections, 1);
  await server.left(0);
  assert.equal(summary(await post(at(server.port))), 200);
  assert.equal(server.connections, 2);
});

test('Webhook client tolerates idle connections closed by the server', async (t) => {
  for (const way of WAYS) {
    const server = await startTlsServer(t, (socket, _, leave) =>
      eachRequest(socket, () => socket.write(EMPTY, () => setImmediate(leave, way))),
    );
    const { post } = makePoster(t);
    for (let i = 0; i < 4; i++) {
      assert.equal(summary(await post(at(server.port))), 200, way);
      await server.left(0);
      // Lets the close notification of the server arrive.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(server.connections, 4);
  }
});

for (const way of WAYS)
  test(`Webhook client reports a kept connection ended by ${way} as failure without retry`, async (t) => {
    let asked = 0;
    const server = await startTlsServer(t, (socket, connection, leave) =>
      eachRequest(socket, (number) => {
        asked += 1;
        if (connection === 1 && number === 2) leave(way);
        else socket.write(EMPTY);
      }),
    );
    const { post } = makePoster(t);
    assert.equal(summary(await post(at(server.port))), 200);
    assert.equal(summary(await post(at(server.port))), 'connection');
    assert.equal(asked, 2);
    assert.equal(summary(await post(at(server.port))), 200);
    assert.equal(server.connections, 2);
  });

test('Webhook client reports a closed new connection as failure', async (t) => {
  const server = await startTlsServer(t, (socket, connection) =>
    eachRequest(socket, (number) =>
      number + connection === 2 ? socket.write(EMPTY) : socket.destroy(),
    ),
  );
  const { post } = makePoster(t);
  assert.equal(summary(await post(at(server.port))), 200);
  assert.equal(summary(await post(at(server.port))), 'connection', 'the kept one');
  assert.equal(server.connections, 1);
  assert.equal(summary(await post(at(server.port))), 'connection');
  assert.equal(server.connections, 2);
});

test('Webhook client reports a reused connection closed mid-response as failed', async (t) => {
  for (const [start, code] of [
    ['HTT', undefined],
    ['HTTP/1.1 100 Continue\r\n\r\n', undefined],
    [`${OK}Content-Length: 9\r\n\r\nx`, 200],
  ] as const) {
    const server = await startTlsServer(t, (socket) =>
      eachRequest(socket, (number) => (number === 1 ? socket.write(EMPTY) : socket.end(start))),
    );
    const { post } = makePoster(t);
    await post(at(server.port));
    const outcome = await post(at(server.port));
    assert.equal(outcome.failure?.reason, 'connection', start);
    assert.equal(outcome.response?.code, code);
    assert.equal(server.connections, 1);
  }
});

test('Webhook client discards unsolicited responses', async (t) => {
  const stale = `${OK}Content-Length: 5\r\n\r\nstale`;
  const talks: ((socket: Socket) => void)[] = [
    (socket) => socket.write(EMPTY + stale),
    (socket) => socket.write(EMPTY, () => setImmediate(() => socket.write(stale))),
    (socket) => socket.write(`${EMPTY}x`),
  ];
  for (const talk of talks) {
    const server = await startTlsServer(t, (socket) => eachRequest(socket, () => talk(socket)));
    const { post } = makePoster(t, { timeoutMs: 2000 });
    for (let i = 0; i < 2; i++) {
      assert.notEqual(textOf(await post(at(server.port))), 'stale');
      await server.left(0);
    }
    assert.equal(server.connections, 2);
  }
});

test('Webhook client returns redirects without following them', async (t) => {
  const canary = await startCanary(
    t,
    (_, response) => response.writeHead(307, { Location: at(canary.port, '/else') }).end(),
    SITE,
  );
  const { post } = makePoster(t);
  const { response, failure } = await post(at(canary.port));
  assert.deepEqual([response?.code, failure], [307, null]);
  assert.equal(response?.headers.location, at(canary.port, '/else'));
  assert.deepEqual(canary.requests, ['POST /']);
});

test('Webhook client accepts responses without body', async (t) => {
  for (const head of [
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 100000\r\n\r\n',
    EMPTY,
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(3) +
      EMPTY,
  ]) {
    const server = await startTlsServer(t, (socket) =>
      eachRequest(socket, () => socket.write(head)),
    );
    const { post } = makePoster(t);
    const code = head.endsWith(EMPTY) ? 200 : Number(head.slice(9, 12));
    for (let i = 0; i < 2; i++) {
      const outcome = await post(at(server.port));
      assert.deepEqual([summary(outcome), textOf(outcome)], [code, '']);
    }
    assert.equal(server.connections, 1);
  }
});

const answerWith =
  (octets: number, declared: boolean): RequestListener =>
  (_, response) => {
    if (declared) response.setHeader('Content-Length', octets);
    response.on('error', () => {});
    response.write('a'.repeat(octets - 1));
    response.end('z');
  };

test('Webhook client reads 64 KiB of a response; a longer one is complete as far as it is read', async (t) => {
  for (const [octets, declared, connections] of [
    [64 * KiB, true, 1],
    [64 * KiB, false, 1],
    [64 * KiB + 1, true, 2],
    [500 * KiB, true, 2],
    [64 * KiB + 1, false, 2],
    [500 * KiB, false, 2],
  ] as const) {
    const canary = await startCanary(t, answerWith(octets, declared), SITE);
    const { post, poster } = makePoster(t);
    for (let i = 0; i < 2; i++) {
      const outcome = await post(at(canary.port));
      assert.equal(outcome.failure, null, String(octets));
      assert.equal(outcome.response?.code, 200);
      assert.equal(
        outcome.response.headers['content-length'],
        declared ? String(octets) : undefined,
      );
      assert.equal(outcome.response.body.length, 64 * KiB);
      assert.equal(outcome.response.body.at(-1), (octets === 64 * KiB ? 'z' : 'a').charCodeAt(0));
    }
    assert.equal(canary.connections, connections);
    poster.close();
    await canary.clientClosed();
  }
});

const HOSTILE: [
  name: string,
  talk: (socket: Socket, leave: (way: Way) => void) => void,
  reason: WebFailureReason,
  answer?: [code: number, body: RegExp],
][] = [
  ['never responds', () => {}, 'timeout'],
  [
    'sends its header byte by byte',
    (socket) => {
      socket.write(OK);
      drip(socket, 'a: b\r\n', 10);
    },
    'timeout',
  ],
  [
    'sends its body byte by byte',
    (socket) => {
      socket.write(`${OK}\r\n`);
      drip(socket, 'x', 10);
    },
    'timeout',
    [200, /^x+$/],
  ],
  [
    'sends an unfinished body',
    (socket) => socket.write('HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nx'),
    'timeout',
    [500, /^x$/],
  ],
  [
    'declares a long body and does not send it',
    (socket) => socket.write(`${OK}Content-Length: 999999999\r\n\r\nxy`),
    'timeout',
    [200, /^xy$/],
  ],
  [
    'sends endless 1xx responses slowly',
    (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', 10),
    'timeout',
  ],
  [
    'sends endless 1xx responses fast',
    (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
    'protocol',
  ],
  [
    'sends endless header fields',
    (socket) => {
      socket.write(OK);
      pour(socket, 'a: b\r\n'.repeat(1000));
    },
    'too_large',
  ],
  [
    'sends endless trailers',
    (socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n`);
      pour(socket, 'a: b\r\n'.repeat(1000));
    },
    'too_large',
    [200, /^x$/],
  ],
  ['speaks SSH', (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'), 'protocol'],
  ['speaks nonsense', (socket) => socket.write('\0\xff\n\n\r\r'), 'protocol'],
  [
    'sends conflicting lengths',
    (socket) => socket.write(`${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nxx`),
    'protocol',
  ],
  [
    'switches protocols',
    (socket) => socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    'protocol',
  ],
  [
    'switches protocols without naming one',
    (socket) => socket.write('HTTP/1.1 101 Switching\r\n\r\n'),
    'protocol',
  ],
  ['closes at once', (socket) => socket.end(), 'connection'],
  ['resets the connection', (_, leave) => leave('reset'), 'connection'],
  ['closes within its header', (socket) => socket.end(`${OK}a: b`), 'connection'],
  [
    'closes within its body',
    (socket) => socket.end(`${OK}Content-Length: 9\r\n\r\nx`),
    'connection',
    [200, /^x$/],
  ],
  [
    'resets the connection within its body',
    (socket, leave) => socket.write(`${OK}\r\nx`, () => setTimeout(leave, 10, 'reset')),
    'connection',
    [200, /^x$/],
  ],
];

for (const [name, head, piece] of [
  ['body', '', 'x'.repeat(10_000)],
  ['stream of one-byte chunks', 'Transfer-Encoding: chunked\r\n', '1\r\nx\r\n'.repeat(2000)],
] as const)
  test(`Webhook client: of an endless ${name}, 64 KiB are read without a failure`, async (t) => {
    const server = await startTlsServer(t, (socket) =>
      eachRequest(socket, () => {
        socket.write(`${OK}${head}\r\n`);
        pour(socket, piece);
      }),
    );
    const outcome = await makePoster(t, { timeoutMs: 30_000 }).post(at(server.port));
    assert.equal(outcome.failure, null);
    assert.match(textOf(outcome), /^x{65536}$/);
    await server.left(0);
  });

/** How long an ordinary request takes on a new connection, which shows the load of the machine. */
async function timeOrdinaryRequest(t: TestContext): Promise<number> {
  const server = await startTlsServer(t, (socket) =>
    eachRequest(socket, () => socket.write(`${OK}Content-Length: 0\r\n\r\n`)),
  );
  const start = performance.now();
  await makePoster(t).post(at(server.port));
  return performance.now() - start;
}

for (const [name, talk, reason, answer] of HOSTILE)
  test(`Webhook client: a server that ${name} fails with ${reason}`, async (t) => {
    const server = await startTlsServer(t, (socket, _, leave) =>
      eachRequest(socket, () => talk(socket, leave)),
    );
    // What the server sends first must arrive in time.
    const shortMs = Math.max(300, 20 * (await timeOrdinaryRequest(t)));
    const timeoutMs = reason === 'timeout' ? shortMs : 30_000;
    const { post } = makePoster(t, { timeoutMs });
    const start = performance.now();
    const outcome = await post(at(server.port));
    assert.ok(performance.now() - start < shortMs + 20_000, 'in time');
    assert.equal(outcome.failure?.reason, reason, outcome.failure?.detail);
    assert.equal(outcome.response?.code, answer?.[0]);
    if (answer) assert.match(textOf(outcome), answer[1]);
    await server.left(0);
    assert.equal(server.connections, 1);
  });

test('Webhook client stops reading 10 MB of headers early', async (t) => {
  const piece = 'x'.repeat(10_000);
  let left = 1000;
  const server = await startTlsServer(t, (socket) => {
    const more = () => {
      while (left > 0 && !socket.destroyed && socket.write(piece)) left -= 1;
    };
    socket.on('drain', more);
    eachRequest(socket, () => socket.write(`${OK}a: `, more));
  });
  const { post } = makePoster(t);
  const outcome = await post(at(server.port));
  assert.deepEqual([outcome.response, outcome.failure?.reason], [null, 'too_large']);
  await server.left(0);
  assert.ok(left > 0, 'the client read everything');
});

test('Webhook client closes the connection when the response comes before the full request is read', async (t) => {
  const server = await startTlsServer(t, (socket) => {
    socket.once('data', () => {
      socket.pause().write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig');
    });
  });
  const { post } = makePoster(t);
  const outcome = await post(at(server.port), { body: 'x'.repeat(20_000_000) });
  assert.deepEqual([summary(outcome), textOf(outcome)], [413, 'big']);
  for (const socket of server.open) socket.resume();
  await server.left(0);
});

const OTHER = await makeCertificate('other.example.com', Date.now());
const OLD = await makeCertificate(HOST, Date.now() - 4000 * DAY);
const EARLY = await makeCertificate(HOST, Date.now() + 4 * DAY);
const OLD_TLS = {
  minVersion: 'TLSv1',
  maxVersion: 'TLSv1.1',
  ciphers: 'DEFAULT@SECLEVEL=0',
} as const;

const TLS: [string, Parameters<typeof startCanary>[2], string[], RegExp][] = [
  ['for another name', OTHER, [OTHER.cert], /for a different name/],
  ['that has expired', OLD, [OLD.cert], /has expired/],
  ['not yet valid', EARLY, [EARLY.cert], /not valid yet/],
  ['that is self-signed', SITE, [], /self-signed/],
  ['of another authority', SITE, [OTHER.cert], /self-signed/],
  ['below TLS 1.2', { ...SITE, ...OLD_TLS }, [SITE.cert], /does not support TLS 1\.2/],
];

for (const [name, tls, ca, says] of TLS)
  test(`Webhook client rejects a TLS certificate or connection ${name}`, async (t) => {
    const canary = await startCanary(t, undefined, tls);
    const { post } = makePoster(t, { ca });
    const { response, failure } = await post(at(canary.port));
    assert.deepEqual([response, failure?.reason], [null, 'tls']);
    assert.match(failure?.detail ?? '', says);
    assert.deepEqual(canary.requests, []);
    await canary.clientClosed();
  });

test('Webhook client reports plain HTTP as tls failure and a stalled handshake as timeout', async (t) => {
  const plain = await startCanary(t);
  assert.equal(summary(await makePoster(t).post(at(plain.port))), 'tls');
  const silent = await startRaw(t, () => {});
  const { post } = makePoster(t, { timeoutMs: 100 });
  assert.equal(summary(await post(at(silent.port))), 'timeout');
  await silent.clientClosed();
});

test('Webhook client reports lookup, connection and dialer failures', async (t) => {
  const never: Dial = () => new Socket();
  const { post } = makePoster(t, { dial: () => connect(1, '127.0.0.1') });
  assert.equal(summary(await post('https://none.example.com/')), 'no_such_name');
  assert.equal(summary(await post('https://broken.example.com/')), 'dns');
  assert.equal(summary(await post('https://public.example.com/')), 'connection');
  const slow = makePoster(t, { dial: never, timeoutMs: 20 });
  assert.equal(summary(await slow.post('https://public.example.com/')), 'timeout');
  const silent = makePoster(t, { resolver: () => new Promise(() => {}), timeoutMs: 20 });
  assert.equal(summary(await silent.post('https://public.example.com/')), 'timeout');
  const broken = makePoster(t, { resolver: () => Promise.reject(new Error('no')) });
  assert.equal(summary(await broken.post('https://public.example.com/')), 'connection');
  const full = makePoster(t, {
    dial: () => {
      throw new Error('no socket left');
    },
  });
  assert.equal(summary(await full.post('https://public.example.com/')), 'connection');
});

test('Webhook client connects to special addresses only in allowed networks', async (t) => {
  const canary = await startCanary(t, undefined, SITE);
  const shut = makePoster(t, { allowNetworks: [] });
  const { dial, dialed } = dialTo(canary.port);
  const elsewhere = makePoster(t, { allowNetworks: [parseNetwork('127.0.0.2/32')], dial });
  for (const host of [
    HOST,
    'private.example.com',
    'six.example.com',
    '127.0.0.1',
    '2130706433',
    '10.0.0.1',
    '192.168.1.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[fe80::1]',
  ])
    for (const { post } of [shut, elsewhere]) {
      const outcome = await post(`https://${host}:${canary.port}/`);
      assert.deepEqual([outcome.response, summary(outcome)], [null, 'forbidden_address'], host);
    }
  assert.deepEqual(dialed, []);
  assert.equal(canary.connections, 0);
});

test('Webhook client never connects to cloud metadata addresses', async (t) => {
  const { dial, dialed } = dialTo(1);
  const allowNetworks = ['0.0.0.0/0', '::/0'].map(parseNetwork);
  const { post } = makePoster(t, { allowNetworks, dial });
  for (const host of ['169.254.169.254', '100.100.100.200', '[fd00:ec2::254]', '168.63.129.16'])
    assert.equal(summary(await post(`https://${host}/`)), 'forbidden_address', host);
  assert.deepEqual(dialed, []);
});

test('Webhook client looks up the name for each new connection', async (t) => {
  const closing: RequestListener = (_, response) => response.setHeader('Connection', 'close').end();
  const canary = await startCanary(t, closing, SITE);
  const { dial, dialed } = dialTo(canary.port);
  let address = '1.2.3.4';
  const moving: Resolver = async (_, type) =>
    type === 'A'
      ? { status: 'found', records: [address], ttl: 3600, authenticated: false }
      : { status: 'nodata' };
  const { post } = makePoster(t, { resolver: moving, dial, allowNetworks: [] });
  assert.equal(summary(await post(at(443))), 200);
  address = '4.3.2.1';
  assert.equal(summary(await post(at(443))), 200);
  for (address of ['127.0.0.1', '10.0.0.1', '169.254.169.254'])
    assert.equal(summary(await post(at(443))), 'forbidden_address');
  assert.deepEqual(dialed, ['1.2.3.4 443', '4.3.2.1 443']);
});

test('Webhook client rejects invalid URLs', async (t) => {
  const { dial, dialed } = dialTo(1);
  const { post } = makePoster(t, { dial });
  for (const url of [
    '',
    'public.example.com',
    'ftp://public.example.com/',
    'https://',
    'https://user:secret@public.example.com/',
    'https://user@public.example.com/',
    'https://public.example.com/#part',
    'https://public.example.com/?a#',
    'https://public.example.com:0/',
    'https://public.example.com:22/',
    'https://public.example.com:6667/',
    'https://public.example.com:65536/',
    `https://public.example.com/${'a'.repeat(8192)}`,
  ])
    assert.equal(summary(await post(url)), 'bad_url', url.slice(0, 60));
  assert.deepEqual(dialed, []);
});

test('Webhook client reports an invalid header field as failure', async (t) => {
  const { post } = makePoster(t, { dial: () => assert.fail('nothing is dialed') });
  const outcome = await post('https://public.example.com/', { headers: { a: 'b\r\nc: d' } });
  assert.equal(summary(outcome), 'connection');
});

test('Webhook client ignores proxy environment variables', async (t) => {
  const canary = await startCanary(t, undefined, SITE);
  const proxy = await startRaw(t, (socket) => socket.end());
  const names = ['HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  t.after(() => {
    for (const name of names) delete process.env[name];
  });
  for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
  process.env.NODE_USE_ENV_PROXY = '1';
  assert.equal(summary(await makePoster(t).post(at(canary.port))), 200);
  assert.equal(proxy.connections, 0);
});

test('Closing the webhook client ends all connections and starts none', async (t) => {
  const { promise: bodyBegun, resolve: begin } = Promise.withResolvers<void>();
  const server = await startTlsServer(t, (socket, connection) =>
    eachRequest(socket, () => {
      if (connection <= 2) socket.write(EMPTY);
      else if (connection === 4) socket.write(`${OK}\r\nx`, () => begin());
    }),
  );
  const silent = await startRaw(t, () => {});
  const stuck: Resolver = (name, type) =>
    name === 'stuck.example.com' ? new Promise(() => {}) : resolver(name, type);
  const never: Dial = (address, port) => (port === 9999 ? new Socket() : connect(port, address));
  const { poster, post } = makePoster(t, { resolver: stuck, dial: never });
  await Promise.all([post(at(server.port)), post(at(server.port))]);
  const request = (url: string) => poster.post({ url, headers: {}, body: '{}' });
  const busy = [request(at(server.port)), request(at(server.port))];
  const fresh = [
    request(at(server.port)),
    request(at(server.port)),
    request('https://stuck.example.com/'),
    request(at(9999)),
    request(at(silent.port)),
  ];
  await bodyBegun;
  await Promise.all(busy);
  assert.equal(server.open.size, 4);
  poster.close();
  assert.deepEqual(await Promise.all(fresh), [null, null, null, null, null]);
  await Promise.all([server.left(0), silent.clientClosed()]);
  assert.equal(await request(at(server.port)), null);
  assert.equal(await request('http://no.example.com/'), null);
  assert.equal(server.connections, 4);
  poster.close();
});

const PLAIN_RULE = /^http:\/\/ is only for hosts in private networks .*WEBHOOK_ALLOW_NETWORKS/;

test('Webhook client uses http where all addresses of the host are in allowed private networks', async (t) => {
  const canary = await startCanary(t, (_, response) => response.end('at home'));
  const allowNetworks = ['127.0.0.0/8', '10.0.0.0/8', 'fd00::/8', '203.0.113.0/24', '1.2.3.0/24'];
  const zone = zoneResolver({
    'home.lan': { A: ['10.0.0.1'], AAAA: ['fd00::1'] },
    'mixed.example': { A: ['10.0.0.1', '1.2.3.4'] },
    'mixed6.example': { A: ['10.0.0.1'], AAAA: ['2606:4700::1111'] },
    'other.lan': { A: ['192.168.1.1'] },
    'public.example': { A: ['1.2.3.4'] },
    'metadata.lan': { A: ['169.254.169.254'] },
  });
  const { dial, dialed } = dialTo(canary.port);
  const { post } = makePoster(t, {
    resolver: zone,
    dial,
    allowNetworks: allowNetworks.map(parseNetwork),
  });
  const taken = await post('http://home.lan:8080/message?token=AbC');
  assert.equal(textOf(taken), 'at home', JSON.stringify(taken));
  assert.equal(summary(await post('http://10.9.9.9/')), 200);
  assert.deepEqual(canary.requests, ['POST /message?token=AbC', 'POST /']);
  const before = dialed.length;
  // Not even in an allowed network may it be public: the internet is no network at home.
  for (const host of [
    'mixed.example',
    'mixed6.example',
    'other.lan',
    'public.example',
    'metadata.lan',
    '1.2.3.4',
    '192.168.1.1',
    '[::ffff:10.0.0.1]',
  ]) {
    const { failure } = await post(`http://${host}/`);
    assert.equal(failure?.reason, 'forbidden_address', host);
    assert.match(failure!.detail, PLAIN_RULE, host);
  }
  assert.equal(dialed.length, before, 'nothing is dialed');
});

test('Webhook client shares no connection between http and https, and repeats no request in the clear', async (t) => {
  const plain = await startCanary(t, (_, response) => response.end('plain'));
  const { post } = makePoster(t);
  const url = `http://${HOST}:${plain.port}/`;
  assert.equal(textOf(await post(url)), 'plain');
  assert.equal(textOf(await post(url)), 'plain');
  assert.equal(plain.connections, 1, 'kept for the same scheme');
  assert.equal(summary(await post(at(plain.port))), 'tls');
  assert.equal(plain.requests.length, 2);
});

test('Webhook client refuses http to a host that has moved to a public address meanwhile', async (t) => {
  const canary = await startCanary(t, (_, response) =>
    response.setHeader('Connection', 'close').end(),
  );
  let address = '127.0.0.1';
  const moving: Resolver = (name, type) => zoneResolver({ [HOST]: { A: [address] } })(name, type);
  const { post } = makePoster(t, { resolver: moving });
  const url = `http://${HOST}:${canary.port}/`;
  assert.equal(summary(await post(url)), 200);
  address = '1.2.3.4';
  assert.equal(summary(await post(url)), 'forbidden_address');
});

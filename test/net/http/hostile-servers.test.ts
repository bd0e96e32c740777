/** The guarded HTTP client against slow, endless and non-HTTP servers: each request ends in time. */

import assert from 'node:assert/strict';
import { connect, Socket } from 'node:net';
import { test } from 'node:test';
import { parseNetwork } from '../../../src/lib/addresses.ts';
import { makeCertificate } from '../../../src/lib/certificates.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import type { Dial, WebFailureReason } from '../../../src/net/guarded-connection.ts';
import { createWebClient } from '../../../src/net/http/client.ts';
import type { WebRequest, WebResult } from '../../../src/net/http/web.ts';
import { dialTo, startCanary, startRaw } from '../canary.ts';

const resolver = zoneResolver({
  'site.example.com': { A: ['1.2.3.4'] },
  'many.example.com': { A: ['1.0.0.1', '1.0.0.2', '1.0.0.3', '1.0.0.4', '1.0.0.5', '1.0.0.6'] },
});
const options = { resolver, allowNetworks: [parseNetwork('127.0.0.0/8')] };
const web = createWebClient(options);

/** For servers that must time out. */
const SHORT_MS = 250;
/** For the others: only a request that hangs takes so long, on a busy machine too. */
const LONG_MS = 30_000;

async function ask(request: Partial<WebRequest> & { url: string }, client = web) {
  const start = performance.now();
  const answer = await client({ method: 'GET', timeoutMs: LONG_MS, ...request });
  assert.ok(performance.now() - start < LONG_MS, 'in time');
  if (answer.status === 'failed') {
    assert.match(answer.detail, /^[a-z].+[^.]$/, 'a clause');
    assert.doesNotMatch(answer.detail, /\d+\.\d+\.\d+/, 'no addresses');
  }
  return answer;
}

const outcome = (answer: WebResult) => (answer.status === 'answered' ? answer.code : answer.reason);

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
const HOSTILE: [name: string, talk: (socket: Socket) => void, reason: WebFailureReason][] = [
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
  ],
  [
    'sends an unfinished body',
    (socket) => {
      socket.write(`${OK}Content-Length: 10\r\n\r\nx`);
    },
    'timeout',
  ],
  [
    'sends endless 1xx responses',
    (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', 1),
    'timeout',
  ],
  [
    'sends an endless body',
    (socket) => {
      socket.write(`${OK}\r\n`);
      pour(socket, 'x'.repeat(10_000));
    },
    'too_large',
  ],
  [
    'sends endless chunks',
    (socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      pour(socket, `2710\r\n${'x'.repeat(10_000)}\r\n`);
    },
    'too_large',
  ],
  [
    'declares a huge body',
    (socket) => {
      socket.write(`${OK}Content-Length: 999999999999\r\n\r\n`);
    },
    'too_large',
  ],
  [
    'sends one huge header field',
    (socket) => {
      socket.write(`${OK}a: `);
      pour(socket, 'x'.repeat(10_000));
    },
    'too_large',
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
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`);
      pour(socket, 'a: b\r\n'.repeat(1000));
    },
    'too_large',
  ],
  ['speaks SSH', (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'), 'protocol'],
  ['speaks SMTP', (socket) => socket.end('220 mx.example.com ESMTP\r\n'), 'protocol'],
  ['speaks nonsense', (socket) => socket.write('\0\xff\n\n\r\r'), 'protocol'],
  [
    'sends conflicting lengths',
    (socket) => {
      socket.write(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`);
    },
    'protocol',
  ],
  [
    'switches protocols',
    (socket) => {
      socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    },
    'protocol',
  ],
  ['closes at once', (socket) => socket.end(), 'connection'],
  ['resets the connection', (socket) => socket.resetAndDestroy(), 'connection'],
  ['closes within its header', (socket) => socket.end(`${OK}a: b`), 'connection'],
  [
    'closes within its body',
    (socket) => socket.end(`${OK}Content-Length: 9\r\n\r\nx`),
    'connection',
  ],
];

for (const [name, talk, reason] of HOSTILE)
  test(`HTTP client: a server that ${name} fails with ${reason}`, async (t) => {
    const server = await startRaw(t, talk);
    const timeoutMs = reason === 'timeout' ? SHORT_MS : LONG_MS;
    const answer = await ask({ url: `http://127.0.0.1:${server.port}/`, timeoutMs });
    assert.equal(outcome(answer), reason, JSON.stringify(answer));
    await server.clientClosed();
    assert.equal(server.connections, 1);
  });

test('HTTP client reads a body up to the limit and rejects one byte more', async (t) => {
  const canary = await startCanary(t, (request, response) => {
    response.end('x'.repeat(Number(request.url!.slice(1))));
  });
  const get = (octets: number) =>
    ask({ url: `http://127.0.0.1:${canary.port}/${octets}`, maxBytes: 1000 });
  assert.equal(outcome(await get(1000)), 200);
  assert.equal(outcome(await get(1001)), 'too_large');
  await canary.clientClosed();
});

test('HTTP client ignores any body of a HEAD response', async (t) => {
  for (const body of ['', 'x'.repeat(5), 'HTTP/1.1 500 No\r\n\r\n']) {
    const server = await startRaw(t, (socket) => {
      socket.write(`${OK}Content-Length: 999999999\r\n\r\n${body}`);
    });
    const url = `http://127.0.0.1:${server.port}/`;
    assert.equal(outcome(await ask({ method: 'HEAD', url })), 200);
    await server.clientClosed();
  }
});

test('HTTP client reports a refused connection', async () => {
  const refused: Dial = () => connect(1, '127.0.0.1');
  const url = 'http://site.example.com/';
  const answer = await ask({ url }, createWebClient({ resolver, dial: refused }));
  assert.ok(answer.status === 'failed');
  assert.equal(answer.reason, 'connection');
  assert.match(answer.detail, /refused/);
});

test('HTTP client tries several addresses of a name within the timeout', async (t) => {
  const canary = await startCanary(t);
  const toCanary = dialTo(canary.port).dial;
  const askBy = async (ways: Dial[]) => {
    const dialed: string[] = [];
    const dial: Dial = (address, port) => {
      dialed.push(address);
      return (ways[dialed.length - 1] ?? never)(address, port);
    };
    const answer = await ask(
      { url: 'http://many.example.com/' },
      createWebClient({ resolver, dial }),
    );
    return [outcome(answer), dialed.length];
  };
  const refused: Dial = () => connect(1, '127.0.0.1');
  // A socket that never connects, as if its packets were lost: the time for this address passes.
  const never: Dial = () => {
    setImmediate(() => t.mock.timers.tick(LONG_MS / 5));
    return new Socket();
  };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  assert.deepEqual(await askBy([refused, never, toCanary]), [200, 3]);
  assert.deepEqual(await askBy([never, never, never, toCanary]), [200, 4]);
  assert.deepEqual(await askBy([refused, refused, refused, refused, toCanary]), ['connection', 4]);
  // The last address may use the rest of the time, which is two parts of it.
  const last: Dial = (...address) => {
    setImmediate(() => t.mock.timers.tick(LONG_MS / 5));
    return never(...address);
  };
  assert.deepEqual(await askBy([never, never, never, last, toCanary]), ['timeout', 4]);
});

test('HTTP client times out on a DNS lookup without answer', async () => {
  const silent: Resolver = () => new Promise(() => {});
  const client = createWebClient({ resolver: silent });
  const request = { url: 'http://site.example.com/', timeoutMs: SHORT_MS };
  assert.equal(outcome(await ask(request, client)), 'timeout');
});

test('HTTP client reports a throwing resolver or dialer as connection failure', async () => {
  const broken = createWebClient({ resolver: () => Promise.reject(new Error('no')) });
  assert.equal(outcome(await ask({ url: 'http://site.example.com/' }, broken)), 'connection');
  const dial = () => {
    throw new Error('no socket left');
  };
  const full = createWebClient({ resolver, dial });
  assert.equal(outcome(await ask({ url: 'http://site.example.com/' }, full)), 'connection');
});

const DAY = 86_400_000;
const SITE = await makeCertificate('site.example.com', Date.now());
const OTHER = await makeCertificate('other.example.com', Date.now());
const OLD = await makeCertificate('site.example.com', Date.now() - 4000 * DAY);
const EARLY = await makeCertificate('site.example.com', Date.now() + 4 * DAY);

const TLS: [string, Parameters<typeof startCanary>[2], string[], RegExp][] = [
  ['for another name', OTHER, [OTHER.cert], /for a different name/],
  ['that has expired', OLD, [OLD.cert], /has expired/],
  ['not yet valid', EARLY, [EARLY.cert], /not valid yet/],
  ['that is self-signed', SITE, [], /self-signed/],
  ['of another authority', SITE, [OTHER.cert], /self-signed/],
];
const OLD_TLS = {
  minVersion: 'TLSv1',
  maxVersion: 'TLSv1.1',
  ciphers: 'DEFAULT@SECLEVEL=0',
} as const;

for (const [name, tls, ca, says] of [
  ...TLS,
  [
    'below TLS 1.2',
    { ...SITE, ...OLD_TLS },
    [SITE.cert],
    /does not support TLS 1\.2/,
  ] as (typeof TLS)[number],
])
  test(`HTTP client rejects a TLS certificate or connection ${name}`, async (t) => {
    const canary = await startCanary(t, undefined, tls);
    const { dial } = dialTo(canary.port);
    const request = { url: 'https://site.example.com/' };
    const answer = await ask(request, createWebClient({ resolver, dial, ca }));
    assert.ok(answer.status === 'failed');
    assert.equal(answer.reason, 'tls');
    assert.match(answer.detail, says);
    assert.deepEqual(canary.requests, []);
    await canary.clientClosed();
  });

test('NODE_TLS_REJECT_UNAUTHORIZED does not disable certificate verification', async (t) => {
  t.after(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const canary = await startCanary(t, undefined, SITE);
  const { dial } = dialTo(canary.port);
  const request = { url: 'https://site.example.com/' };
  assert.equal(outcome(await ask(request, createWebClient({ resolver, dial }))), 'tls');
});

test('HTTP client ignores proxy environment variables', async (t) => {
  const canary = await startCanary(t);
  const proxy = await startRaw(t, (socket) => socket.end());
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  t.after(() => {
    for (const name of names) delete process.env[name];
  });
  for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
  process.env.NODE_USE_ENV_PROXY = '1';
  assert.equal(outcome(await ask({ url: `http://127.0.0.1:${canary.port}/` })), 200);
  assert.equal(proxy.connections, 0);
});

test('HTTP client reports http and https used on the wrong port', async (t) => {
  const plain = await startCanary(t);
  const secure = await startCanary(t, undefined, SITE);
  const tls = await ask({ url: `https://127.0.0.1:${plain.port}/` });
  assert.equal(outcome(tls), 'tls');
  const protocol = await ask({ url: `http://127.0.0.1:${secure.port}/` });
  assert.ok(['protocol', 'connection'].includes(String(outcome(protocol))));
  await Promise.all([plain.clientClosed(), secure.clientClosed()]);
});

test('HTTP client handles TLS handshakes that stall or are cut off', async (t) => {
  const silent = await startRaw(t, () => {});
  const stalled = { url: `https://127.0.0.1:${silent.port}/`, timeoutMs: SHORT_MS };
  assert.equal(outcome(await ask(stalled)), 'timeout');
  const cutting = await startRaw(t, (socket) => socket.end());
  assert.equal(outcome(await ask({ url: `https://127.0.0.1:${cutting.port}/` })), 'tls');
  await Promise.all([silent.clientClosed(), cutting.clientClosed()]);
});

/** The guarded HTTP client against a canary on loopback, which only allowed requests may reach. */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { parseNetwork } from '../../../src/lib/addresses.ts';
import { makeCertificate } from '../../../src/lib/certificates.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { createWebClient } from '../../../src/net/http/client.ts';
import type { WebResult } from '../../../src/net/http/web.ts';
import { dialTo, startCanary } from '../canary.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'].map(parseNetwork);
const SITE = await makeCertificate('site.example.com', Date.now());

const zone: Zone = {
  'site.example.com': { A: ['1.2.3.4'] },
  'six.example.com': { AAAA: ['2606:4700::1'] },
  'both.example.com': { A: ['1.2.3.4'], AAAA: ['2606:4700::1'] },
  'alias.example.com': { CNAME: ['site.example.com'] },
  'mail.example.com': { MX: ['10 mx.example.com'] },
  'broken.example.com': { fails: 'servfail' },
  'private.example.com': { A: ['10.0.0.1'], AAAA: ['::1'] },
  'mixed.example.com': { A: ['1.2.3.4', '127.0.0.1'], AAAA: ['::1'] },
  'mixed-late.example.com': { A: ['127.0.0.1', '1.2.3.4'] },
  localhost: { A: ['127.0.0.1'], AAAA: ['::1'] },
  'mapped.example.com': { AAAA: ['::ffff:127.0.0.1'] },
};
const resolver = zoneResolver(zone);

const outcome = (answer: WebResult) => (answer.status === 'answered' ? answer.code : answer.reason);

/** Every notation of this host or its network in a URL, with the expected failure. */
const SHUT_HOSTS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.255.0.1',
  '0177.0.0.1',
  '0x7f000001',
  '0x7f.1',
  '2130706433',
  '017700000001',
  '127.1',
  '0',
  '0.0.0.0',
  '%31%32%37.0.0.1',
  '①②⑦.⓪.⓪.①',
  'localhost',
  'LOCALHOST.',
  'private.example.com',
  'mapped.example.com',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.0.1',
  '169.254.169.254',
  '100.100.100.200',
  '100.64.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::1]',
  '[2001::1]',
  '[2001:db8::1]',
  '[fe80::1]',
  '[fd00:ec2::254]',
];

test('HTTP client blocks every notation of special addresses', async (t) => {
  const canary = await startCanary(t);
  const { dial, dialed } = dialTo(canary.port);
  const web = createWebClient({ resolver, dial });
  for (const host of SHUT_HOSTS)
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${canary.port}/`;
      assert.equal(outcome(await web({ method: 'HEAD', url })), 'forbidden_address', url);
    }
  assert.deepEqual(dialed, []);
  assert.equal(canary.connections, 0);
});

// With the real dialer: those that would reach this host.
test('HTTP client blocks every notation of loopback with the real dialer', async (t) => {
  const canary = await startCanary(t);
  const loopback = SHUT_HOSTS.filter((host) => /1\.?\]?$|^0|2130706433|⓪|localhost|::/i.test(host));
  const mine = loopback.filter(
    (host) => !/^(?:10|172|192|169|198|\[fe80|\[fd00|\[2|\[64)/.test(host),
  );
  assert.ok(mine.length > 15);
  const shut = createWebClient({ resolver });
  for (const host of mine) {
    const url = `http://${host}:${canary.port}/`;
    assert.equal(outcome(await shut({ method: 'GET', url })), 'forbidden_address', url);
  }
  assert.equal(canary.connections, 0);
});

test('HTTP client reaches an allowed network in every notation', async (t) => {
  const canary = await startCanary(t);
  const web = createWebClient({ resolver, allowNetworks: LOOPBACK });
  const hosts = ['127.0.0.1', '0177.0.0.1', '0x7f000001', '2130706433', '127.1', 'localhost'];
  for (const host of hosts) {
    const url = `http://${host}:${canary.port}/path?query#fragment`;
    const answer = await web({ method: 'GET', url });
    assert.equal(answer.status === 'answered' && Buffer.from(answer.body).toString(), 'sings', url);
  }
  assert.deepEqual(new Set(canary.requests), new Set(['GET /path?query']));
  assert.equal(canary.connections, hosts.length, 'one connection per request');
  for (const host of ['[::ffff:127.0.0.1]', '[::127.0.0.1]', '0.0.0.0', '[::]']) {
    const url = `http://${host}:${canary.port}/`;
    assert.equal(outcome(await web({ method: 'GET', url })), 'forbidden_address', url);
  }
  assert.equal(canary.connections, hosts.length);
  await canary.clientClosed();
});

test('HTTP client dials checked public addresses, IPv4 first', async (t) => {
  const canary = await startCanary(t);
  const cases: [string, string[]][] = [
    ['http://site.example.com/', ['1.2.3.4 80']],
    ['http://SITE.example.com.:8080/', ['1.2.3.4 8080']],
    ['http://alias.example.com/', ['1.2.3.4 80']],
    ['http://six.example.com/', ['2606:4700::1 80']],
    ['http://both.example.com/', ['1.2.3.4 80']],
    ['http://1.2.3.4/', ['1.2.3.4 80']],
    ['http://[2606:4700::1]/', ['2606:4700::1 80']],
  ];
  for (const [url, expected] of cases) {
    const { dial, dialed } = dialTo(canary.port);
    const answer = await createWebClient({ resolver, dial })({ method: 'HEAD', url });
    assert.equal(outcome(answer), 200, url);
    assert.deepEqual(dialed, expected, url);
  }
});

test('HTTP client uses only the public addresses of a mixed name', async (t) => {
  const canary = await startCanary(t);
  const { dial, dialed } = dialTo(canary.port);
  const dead: string[] = [];
  const refusing: typeof dial = (address, port) => {
    dead.push(address);
    const socket = connect(port, '127.0.0.1');
    return socket.destroy(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  };
  for (const name of ['mixed', 'mixed-late']) {
    const url = `http://${name}.example.com:${canary.port}/`;
    const refused = await createWebClient({ resolver, dial: refusing })({ method: 'HEAD', url });
    assert.equal(outcome(refused), 'connection', 'private addresses are not tried');
    assert.equal(outcome(await createWebClient({ resolver, dial })({ method: 'HEAD', url })), 200);
  }
  assert.deepEqual(dead, ['1.2.3.4', '1.2.3.4']);
  assert.deepEqual(dialed, [`1.2.3.4 ${canary.port}`, `1.2.3.4 ${canary.port}`]);
});

test('HTTP client is not fooled by DNS rebinding between requests', async (t) => {
  const canary = await startCanary(t);
  let lookups = 0;
  const rebinding: Resolver = async (_, type) => {
    if (type !== 'A') return { status: 'nodata' };
    lookups += 1;
    const records = [lookups === 1 ? '1.2.3.4' : '127.0.0.1'];
    return { status: 'found', records, ttl: 0, authenticated: false };
  };
  const { dial, dialed } = dialTo(canary.port);
  const web = createWebClient({ resolver: rebinding, dial });
  const url = `http://rebind.example.com:${canary.port}/`;
  assert.equal(outcome(await web({ method: 'HEAD', url })), 200);
  assert.equal(lookups, 1, 'dials the checked address without a second lookup');
  assert.equal(outcome(await web({ method: 'HEAD', url })), 'forbidden_address');
  assert.deepEqual(dialed, [`1.2.3.4 ${canary.port}`]);
});

test('HTTP client sends nothing on a socket connected to a private address', async (t) => {
  const canary = await startCanary(t);
  const dial = () => connect(canary.port, '127.0.0.1');
  const answer = await createWebClient({ resolver, dial })({
    method: 'HEAD',
    url: 'http://site.example.com/',
  });
  assert.equal(outcome(answer), 'forbidden_address');
  assert.deepEqual(canary.requests, []);
  await canary.clientClosed();
});

test('HTTP client reaches its own public address only on web ports', async (t) => {
  const canary = await startCanary(t);
  const { dial, dialed } = dialTo(canary.port);
  const web = createWebClient({ resolver, dial, ownAddresses: () => ['127.0.0.1', '1.2.3.4'] });
  const ask = async (url: string) => outcome(await web({ method: 'HEAD', url }));
  assert.equal(await ask('http://site.example.com:9200/'), 'forbidden_address');
  assert.equal(await ask('http://site.example.com/'), 200);
  assert.deepEqual(dialed, ['1.2.3.4 80']);
});

test('HTTP client returns redirects without following them', async (t) => {
  const canary = await startCanary(t, (_, response) => {
    response.writeHead(302, { Location: `http://127.0.0.1:${canary.port}/inside` }).end();
  });
  const { dial } = dialTo(canary.port);
  const answer = await createWebClient({ resolver, dial })({
    method: 'GET',
    url: 'http://site.example.com/',
  });
  assert.equal(outcome(answer), 302);
  assert.deepEqual(canary.requests, ['GET /']);
});

const BAD_URLS = [
  '',
  'example.com',
  '//example.com/',
  'ftp://site.example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://',
  'http://exa mple.com/',
  'http://[::1',
  'http://256.256.256.256/',
  'http://a%00b.example.com/',
  'http://user:secret@site.example.com/',
  'http://user@site.example.com/',
  'http://site.example.com:0/',
  'http://site.example.com:22/',
  'http://site.example.com:25/',
  'http://site.example.com:6667/',
  'http://site.example.com:65536/',
  `http://site.example.com/${'a'.repeat(8192)}`,
];

test('HTTP client rejects invalid URLs, credentials and unsafe ports', async (t) => {
  const canary = await startCanary(t);
  const { dial, dialed } = dialTo(canary.port);
  const web = createWebClient({ resolver, dial });
  for (const url of BAD_URLS)
    assert.equal(outcome(await web({ method: 'HEAD', url })), 'bad_url', url.slice(0, 60));
  assert.deepEqual(dialed, []);
});

test('HTTP client reports missing names and failed lookups', async () => {
  const web = createWebClient({ resolver, dial: () => assert.fail('nothing is dialed') });
  const ask = async (host: string) =>
    outcome(await web({ method: 'HEAD', url: `http://${host}/` }));
  assert.equal(await ask('none.example.com'), 'no_such_name');
  assert.equal(await ask('mail.example.com'), 'no_such_name');
  assert.equal(await ask('broken.example.com'), 'dns');
});

test('HTTP client sends no cookies, credentials or identifying headers', async (t) => {
  const canary = await startCanary(t, (_, response) => {
    response.setHeader('Set-Cookie', 'a=1').end();
  });
  const { dial } = dialTo(canary.port);
  const web = createWebClient({ resolver, dial });
  const url = 'http://site.example.com:8080/a%20b?c=%C3%A4#d';
  for (let i = 0; i < 2; i++) await web({ method: 'HEAD', url });
  assert.deepEqual(canary.requests, ['HEAD /a%20b?c=%C3%A4', 'HEAD /a%20b?c=%C3%A4']);
  assert.equal(canary.connections, 2);
  assert.deepEqual(canary.headers[1], {
    host: 'site.example.com:8080',
    'user-agent': 'deliverability/1 (+link check)',
    accept: '*/*',
    'accept-encoding': 'identity',
    connection: 'close',
  });
});

test('HTTP client returns status, lower-case headers and body', async (t) => {
  const canary = await startCanary(t, (_, response) => {
    response.setHeader('X-Two', ['a', 'b']).setHeader('__proto__', 'x');
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('gone');
  });
  const web = createWebClient({ resolver, allowNetworks: LOOPBACK });
  const url = `http://127.0.0.1:${canary.port}/`;
  const answer = await web({ method: 'GET', url });
  assert.ok(answer.status === 'answered');
  assert.equal(answer.code, 404);
  assert.equal(answer.headers['content-type'], 'text/plain');
  assert.equal(answer.headers['x-two'], 'a, b');
  assert.deepEqual(Object.getOwnPropertyDescriptor(answer.headers, '__proto__')?.value, 'x');
  assert.equal(Buffer.from(answer.body).toString(), 'gone');
  const head = await web({ method: 'HEAD', url });
  assert.ok(head.status === 'answered');
  assert.equal(head.body.length, 0);
});

test('HTTP client limits concurrent requests; waiting ones can time out', async (t) => {
  const answers: (() => void)[] = [];
  let waiting = Promise.withResolvers<void>();
  const canary = await startCanary(t, (_, response) => {
    answers.push(() => response.end());
    waiting.resolve();
  });
  const web = createWebClient({ resolver, allowNetworks: LOOPBACK, maxInFlight: 1 });
  const url = `http://127.0.0.1:${canary.port}/`;
  const both = [web({ method: 'HEAD', url }), web({ method: 'HEAD', url })];
  await waiting.promise;
  assert.equal(canary.connections, 1);
  const late = await web({ method: 'HEAD', url, timeoutMs: 20 });
  assert.equal(outcome(late), 'timeout');
  waiting = Promise.withResolvers();
  answers[0]!();
  await waiting.promise;
  answers[1]!();
  assert.deepEqual((await Promise.all(both)).map(outcome), [200, 200]);
  assert.equal(canary.connections, 2);
});

test('HTTP client verifies TLS certificates by authority and name', async (t) => {
  const canary = await startCanary(t, undefined, SITE);
  const { dial, dialed } = dialTo(canary.port);
  const web = createWebClient({ resolver, dial, ca: [SITE.cert] });
  const answer = await web({ method: 'GET', url: 'https://site.example.com./' });
  assert.ok(answer.status === 'answered');
  assert.equal(Buffer.from(answer.body).toString(), 'sings');
  assert.deepEqual(dialed, ['1.2.3.4 443']);
  await canary.clientClosed();
});

test('HTTP client verifies TLS certificates for IP addresses', async (t) => {
  const pair = await makeCertificate('127.0.0.1', Date.now());
  const canary = await startCanary(t, undefined, pair);
  const ask = async (ca: string) => {
    const web = createWebClient({ resolver, allowNetworks: LOOPBACK, ca: [ca] });
    return outcome(await web({ method: 'HEAD', url: `https://127.0.0.1:${canary.port}/` }));
  };
  assert.equal(await ask(pair.cert), 200);
  assert.equal(await ask(SITE.cert), 'tls');
  await canary.clientClosed();
});

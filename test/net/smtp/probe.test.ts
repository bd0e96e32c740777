/** The STARTTLS probe, against a real server on loopback and misbehaving ones. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { issueCertificate, makeAuthority, makeCertificate } from '../../../src/lib/certificates.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import {
  createMailTlsProbe,
  type MailTlsResult,
  type ProbeOptions,
  withPort25CircuitBreaker,
} from '../../../src/net/smtp/probe.ts';
import { testClock } from '../../helpers/clock.ts';
import { dialTo, startRaw } from '../canary.ts';

const HOST = 'mx.example.com';
const RESOLVER = zoneResolver({
  [HOST]: { A: ['1.2.3.4'] },
  'two.example.com': { A: ['1.2.3.4'], AAAA: ['2606:4700::1'] },
  'private.example.com': { A: ['10.0.0.1'] },
  'silent.example.com': { fails: 'timeout' },
});
const PAIR = await makeCertificate(HOST, Date.now());
const HELLO = ['220 mx.example.com ESMTP', '250-mx.example.com\r\n250-SIZE 1000\r\n250 STARTTLS'];

/** Starts a real server and returns its port. */
async function startServer(t: TestContext, options: SMTPServerOptions = {}): Promise<number> {
  const server = new SMTPServer({ ...PAIR, authOptional: true, logger: false, ...options });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.after(() => new Promise<void>((resolve) => server.close(resolve)));
  return (server.server.address() as AddressInfo).port;
}

const probe = (port: number, host = HOST, options: Partial<ProbeOptions> = {}) =>
  createMailTlsProbe({
    resolver: RESOLVER,
    helo: 'probe.example.org',
    dial: dialTo(port).dial,
    ...options,
  })(host);

test('STARTTLS probe reports TLS version and a trusted certificate', async (t) => {
  const port = await startServer(t);
  const { dial, dialed } = dialTo(port);
  const found = await probe(port, HOST, { dial, ca: [PAIR.cert] });
  assert.ok(found.status === 'tls', JSON.stringify(found));
  assert.equal(found.version, 'TLSv1.3');
  const { valid, problem, names, issuer } = found.certificate;
  assert.deepEqual([valid, problem, names, issuer], [true, null, [HOST], `CN=${HOST}`]);
  assert.deepEqual(dialed, ['1.2.3.4 25']);
});

test('STARTTLS probe returns the chain that the server sent, for DANE', async (t) => {
  const authorityName = 'ca.example.com';
  const authority = await makeAuthority(authorityName, Date.now());
  const request = { names: [HOST] as [string], authority, authorityName, now: Date.now() };
  const leaf = await issueCertificate({ ...request, lifetime: 7 * 86_400_000 });
  const port = await startServer(t, { key: leaf.key, cert: leaf.cert + authority.cert });
  const found = await probe(port);
  assert.ok(found.status === 'tls', JSON.stringify(found));
  const expected = [leaf.cert, authority.cert].map((pem) => new X509Certificate(pem));
  assert.deepEqual(
    found.chain?.map(({ der }) => Buffer.from(der).toString('hex')),
    expected.map(({ raw }) => raw.toString('hex')),
  );
  assert.deepEqual(
    found.chain?.map(({ publicKey }) => Buffer.from(publicKey).toString('hex')),
    expected.map((one) => one.publicKey.export({ type: 'spki', format: 'der' }).toString('hex')),
  );
});

test('STARTTLS probe reports self-signed, mismatched and expired certificates', async (t) => {
  const problem = async (port: number, options: Partial<ProbeOptions> = {}, host = HOST) => {
    const found = await probe(port, host, options);
    return found.status === 'tls' ? found.certificate.problem : found.status;
  };
  const port = await startServer(t);
  assert.equal(await problem(port), 'the certificate is self-signed');
  const other = await problem(port, { ca: [PAIR.cert] }, 'two.example.com');
  assert.equal(other, 'the certificate is for a different name');
  const old = await makeCertificate(HOST, Date.UTC(2000, 0, 1));
  const expired = await startServer(t, { ...old });
  assert.equal(await problem(expired, { ca: [old.cert] }), 'the certificate has expired');
});

test('STARTTLS probe reports outdated TLS versions', async (t) => {
  const port = await startServer(t, {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT:@SECLEVEL=0',
  });
  const found = await probe(port);
  assert.equal(found.status === 'tls' && found.version, 'TLSv1.1');
});

test('STARTTLS probe reports a server without STARTTLS', async (t) => {
  const port = await startServer(t, { hideSTARTTLS: true });
  assert.deepEqual(await probe(port), { status: 'no_starttls' });
});

test('STARTTLS probe sends only EHLO and QUIT', async (t) => {
  let said = '';
  const answer = saying('220 hello', '250 hello');
  const { port, clientClosed } = await startRaw(t, (socket) => {
    socket.on('data', (chunk) => {
      said += chunk;
    });
    answer(socket);
  });
  assert.equal((await probe(port)).status, 'no_starttls');
  await clientClosed();
  assert.equal(said, 'EHLO probe.example.org\r\nQUIT\r\n');
});

/** Sends the texts in turn: the first at once, each other one after a line from the client. */
const saying =
  (...texts: string[]) =>
  (socket: Socket) => {
    const say = () => {
      const text = texts.shift();
      if (text !== undefined) socket.write(`${text}\r\n`);
    };
    say();
    socket.on('data', say);
  };

test('STARTTLS probe reports rejecting and malformed servers as unknown or broken', async (t) => {
  const cases: [status: string, detail: RegExp, talk: (socket: Socket) => void][] = [
    ['unknown', /^the server replied 554 no service here$/, saying('554 no service here')],
    ['unknown', /^the server replied 421 a b$/, saying('421-a\r\n421 b')],
    ['unknown', /^the server replied 550 no$/, saying('220 hello', '550 no')],
    ['unknown', /sent no SMTP greeting/, saying('HTTP/1.1 400 Bad Request')],
    ['unknown', /sent no SMTP greeting/, (socket) => socket.end()],
    ['unknown', /sent no SMTP greeting/, (socket) => socket.end('x'.repeat(20_000))],
    ['unknown', /did not respond to EHLO/, saying('220 hello', 'hello')],
    ['broken', /^the server replied 454 not now$/, saying(...HELLO, '454 not now')],
    ['unknown', /^the server replied 421 bye$/, saying(...HELLO, '421 bye')],
    ['broken', /handshake failed/, saying(...HELLO, '220 go', 'this is no TLS')],
    ['broken', /before TLS starts/, saying(...HELLO, '220 go\r\n250 injected')],
  ];
  for (const [status, detail, talk] of cases) {
    const { port, clientClosed } = await startRaw(t, talk);
    const found = await probe(port);
    assert.equal(found.status, status, detail.source);
    assert.match('detail' in found ? found.detail : '', detail);
    await clientClosed();
  }
});

test('STARTTLS probe times out on silence at any step and closes the connection', async (t) => {
  for (const texts of [[], HELLO.slice(0, 1), HELLO, [...HELLO, '220 go']]) {
    const { port, clientClosed } = await startRaw(t, saying(...texts));
    const found = await probe(port, HOST, { timeoutMs: 300 });
    assert.equal(found.status, 'unknown', texts.join());
    await clientClosed();
  }
});

test('STARTTLS probe reports unreachable servers and never dials special addresses', async (t) => {
  const { port } = await startRaw(t, () => {});
  const { dial, dialed } = dialTo(port);
  assert.equal((await probe(port, 'private.example.com', { dial })).status, 'forbidden');
  assert.equal((await probe(port, '127.0.0.1', { dial })).status, 'forbidden');
  assert.equal((await probe(port, 'none.example.com', { dial })).status, 'unknown');
  assert.equal((await probe(port, 'silent.example.com', { dial })).status, 'unknown');
  const ownAddresses = () => ['1.2.3.4'];
  assert.equal((await probe(port, HOST, { dial, ownAddresses })).status, 'forbidden');
  assert.deepEqual(dialed, []);
  // Nothing listens on a port that has just been released.
  const server = new SMTPServer({ logger: false }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const free = (server.address() as AddressInfo).port;
  await new Promise((resolve) => server.close(resolve));
  const refused = await probe(free, 'two.example.com');
  assert.deepEqual(refused, {
    status: 'unreachable',
    silent: false,
    detail: 'the server refused the connection',
  });
});

// If all mail servers are silent, the probe stops waiting for further ones.

const SILENT: MailTlsResult = {
  status: 'unreachable',
  silent: true,
  detail: 'no response in time',
};
const REFUSED: MailTlsResult = {
  status: 'unreachable',
  silent: false,
  detail: 'the server refused the connection',
};
const MINUTE = 60_000;

function start(answers: () => MailTlsResult) {
  const clock = testClock();
  const asked: string[] = [];
  const probe = withPort25CircuitBreaker(async (host) => {
    asked.push(host);
    return answers();
  }, clock);
  return { clock, asked, probe };
}

test('Port 25 circuit breaker opens for ten minutes after five silent servers', async () => {
  const { clock, asked, probe } = start(() => SILENT);
  for (let n = 0; n < 8; n++) assert.equal((await probe(`mx${n}.example`)).status, 'unreachable');
  assert.equal(asked.length, 5);
  const skipped = await probe('mx9.example');
  assert.match('detail' in skipped ? skipped.detail : '', /block outgoing connections to port 25/);
  clock.advance(10 * MINUTE);
  await probe('mx10.example');
  await probe('mx11.example');
  assert.deepEqual(asked.slice(5), ['mx10.example']);
});

test('Port 25 circuit breaker ignores repeats of one server and mixed results', async () => {
  const { asked, probe } = start(() => SILENT);
  for (let n = 0; n < 12; n++) await probe('mx.example');
  assert.equal(asked.length, 12);
  let n = 0;
  const mixed = start(() => (++n % 4 === 0 ? REFUSED : SILENT));
  for (let i = 0; i < 12; i++) await mixed.probe(`mx${i}.example`);
  assert.equal(mixed.asked.length, 12);
});

test('Port 25 circuit breaker closes on the first response and survives clock changes', async () => {
  let answer: MailTlsResult = SILENT;
  const { clock, asked, probe } = start(() => answer);
  for (let n = 0; n < 6; n++) await probe(`mx${n}.example`);
  clock.advance(-MINUTE);
  answer = { status: 'no_starttls' };
  assert.equal((await probe('mx6.example')).status, 'no_starttls');
  answer = SILENT;
  await probe('mx7.example');
  await probe('mx8.example');
  assert.deepEqual(asked.slice(5), ['mx6.example', 'mx7.example', 'mx8.example']);
});

import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { it, type TestContext } from 'node:test';
import { type ConnectionOptions, connect, createServer } from 'node:tls';
import {
  issueCertificate,
  type KeyPair,
  makeAuthority,
  makeCertificate,
} from '../../src/lib/certificates.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 0, 0);
const DAY = 86_400_000;

it('makeCertificate issues a self-signed certificate valid for ten years', async () => {
  const { key, cert } = await makeCertificate('mx.example.com', NOW);
  const certificate = new X509Certificate(cert);
  assert.equal(certificate.subject, 'CN=mx.example.com');
  assert.equal(certificate.issuer, certificate.subject);
  assert.equal(certificate.checkHost('mx.example.com'), 'mx.example.com');
  assert.equal(certificate.checkHost('other.example.com'), undefined);
  assert.equal(certificate.ca, false);
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.ok(certificate.verify(certificate.publicKey));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(key)));
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.modulusLength, 2048);
  assert.equal(certificate.validFromDate.toISOString(), '2026-11-20T10:00:00.000Z');
  assert.equal(certificate.validToDate.toISOString(), '2036-11-20T10:00:00.000Z');
});

it('makeCertificate encodes IP addresses, long names and years after 2049 correctly', async () => {
  const address = new X509Certificate((await makeCertificate('2001:db8::1', NOW)).cert);
  assert.equal(address.checkIP('2001:db8::1'), '2001:db8::1');

  const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.example`;
  const later = new X509Certificate((await makeCertificate(name, Date.UTC(2045, 0, 2))).cert);
  assert.equal(later.checkHost(name), name);
  assert.equal(later.validFromDate.getUTCFullYear(), 2045);
  assert.equal(later.validToDate.toISOString(), '2055-01-02T00:00:00.000Z');
});

it('makeCertificate uses a unique serial number and key each time', async () => {
  const [one, two] = await Promise.all([makeCertificate('a', NOW), makeCertificate('a', NOW)]);
  assert.notEqual(one.key, two.key);
  const serial = (cert: string) => new X509Certificate(cert).serialNumber;
  assert.notEqual(serial(one.cert), serial(two.cert));
});

const issueBy = (
  authority: KeyPair,
  names: [string, ...string[]],
  now = NOW,
  lifetime = 90 * DAY,
) => issueCertificate({ names, authority, authorityName: 'An authority', now, lifetime });

it('makeAuthority creates a CA; issueCertificate issues non-CA certificates', async () => {
  const authority = await makeAuthority('An authority', NOW);
  const root = new X509Certificate(authority.cert);
  assert.equal(root.ca, true);
  assert.equal(root.subject, 'CN=An authority');
  assert.ok(root.checkIssued(root) && root.verify(root.publicKey));
  assert.ok(root.checkPrivateKey(createPrivateKey(authority.key)));
  const pair = await issueBy(authority, ['a.example', '127.0.0.1', '::1']);
  const issued = new X509Certificate(pair.cert);
  assert.equal(issued.ca, false);
  assert.equal(issued.subject, 'CN=a.example');
  assert.ok(issued.checkIssued(root) && issued.verify(root.publicKey));
  assert.ok(issued.checkPrivateKey(createPrivateKey(pair.key)));
  assert.equal(issued.checkHost('a.example'), 'a.example');
  assert.equal(issued.checkHost('b.example'), undefined);
  assert.equal(issued.checkIP('::1'), '::1');
  assert.equal(issued.validFromDate.getTime(), NOW - DAY);
  assert.equal(issued.validToDate.getTime(), NOW + 89 * DAY);
});

/** The error code of a handshake with a server that has this pair; null on success. */
async function handshakeError(
  t: TestContext,
  pair: KeyPair,
  options: ConnectionOptions,
): Promise<string | null> {
  const server = createServer(pair, (socket) => void socket.on('error', () => {}).resume());
  server.on('tlsClientError', () => {});
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', ...options });
  t.after(() => socket.destroy());
  return once(socket, 'secureConnect').then(
    () => null,
    (error) => error.code,
  );
}

it('TLS clients accept an issued certificate only for its names, CA and validity', async (t) => {
  const now = Date.now();
  const [authority, other] = await Promise.all([
    makeAuthority('An authority', now),
    makeAuthority('An authority', now),
  ]);
  const ca = authority.cert;
  const pair = await issueBy(authority, ['a.example', '127.0.0.1'], now);
  const errorWith = (options: ConnectionOptions) => handshakeError(t, pair, options);
  assert.equal(await errorWith({ ca, servername: 'a.example' }), null);
  assert.equal(await errorWith({ ca }), null, 'by IP address');
  assert.equal(await errorWith({ ca: [other.cert, ca] }), null, 'two CAs with the same name');
  assert.equal(await errorWith({ ca, servername: 'b.example' }), 'ERR_TLS_CERT_ALTNAME_INVALID');
  assert.notEqual(await errorWith({ ca: other.cert }), null, 'another CA with the same name');
  assert.notEqual(await errorWith({}), null, 'unknown CA');
  const expired = await issueBy(authority, ['127.0.0.1'], now - 100 * DAY);
  assert.equal(await handshakeError(t, expired, { ca }), 'CERT_HAS_EXPIRED');
});

it('TLS clients reject a certificate signed by an issued non-CA certificate', async (t) => {
  const now = Date.now();
  const authority = await makeAuthority('An authority', now);
  const middle = await issueBy(authority, ['127.0.0.1'], now);
  const { key, cert } = await issueCertificate({
    names: ['127.0.0.1'],
    authority: middle,
    authorityName: '127.0.0.1',
    now,
    lifetime: DAY * 2,
  });
  const chain = { key, cert: cert + middle.cert };
  assert.notEqual(await handshakeError(t, chain, { ca: authority.cert }), null);
});

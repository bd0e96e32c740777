import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { it } from 'node:test';
import { makeCertificate } from '../../src/smtp/certificate.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 0, 0);

it('a certificate is self-signed, for its name, for ten years', async () => {
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

it('an address, a long name and a far year are written as the standard wants them', async () => {
  const address = new X509Certificate((await makeCertificate('2001:db8::1', NOW)).cert);
  assert.equal(address.checkIP('2001:db8::1'), '2001:db8::1');

  const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.example`;
  const later = new X509Certificate((await makeCertificate(name, Date.UTC(2045, 0, 2))).cert);
  assert.equal(later.checkHost(name), name);
  assert.equal(later.validFromDate.getUTCFullYear(), 2045);
  assert.equal(later.validToDate.toISOString(), '2055-01-02T00:00:00.000Z');
});

it('no two certificates have one serial number or key', async () => {
  const [one, two] = await Promise.all([makeCertificate('a', NOW), makeCertificate('a', NOW)]);
  assert.notEqual(one.key, two.key);
  const serial = (cert: string) => new X509Certificate(cert).serialNumber;
  assert.notEqual(serial(one.cert), serial(two.cert));
});

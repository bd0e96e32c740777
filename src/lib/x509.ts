/** The parts of an X.509 certificate (RFC 5280) as DER, put together and signed. */

import { hash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import {
  bits,
  bool,
  type Der,
  element,
  integer,
  nothing,
  octets,
  oid,
  sequence,
  set,
  time,
  utf8,
} from './der.ts';

const DAY = 86_400_000;
const LONGEST_COMMON_NAME = 64;

/** What a certificate says; the lifetime is in milliseconds, from a day before `now` (clocks differ). */
interface Certificate {
  subject: string;
  publicKey: KeyObject;
  issuer: string;
  issuerKey: KeyObject;
  now: number;
  lifetime: number;
  extensions: Der[];
}

/** In PEM. RFC 5280 §4.1. */
export function certify(certificate: Certificate): string {
  const { subject, publicKey, issuer, issuerKey, now, lifetime, extensions } = certificate;
  const algorithm = signatureAlgorithm(issuerKey);
  const body = sequence(
    element(0xa0, integer(Buffer.of(2))), // version 3
    integer(serialNumber()),
    algorithm,
    holder(issuer),
    sequence(time(now - DAY), time(now - DAY + lifetime)),
    holder(subject),
    spki(publicKey),
    element(0xa3, sequence(...extensions)),
  );
  return pem(sequence(body, algorithm, bits(sign('sha256', body, issuerKey))));
}

/** With SHA-256. */
function signatureAlgorithm({ asymmetricKeyType }: KeyObject): Der {
  return asymmetricKeyType === 'ec'
    ? sequence(oid('1.2.840.10045.4.3.2'))
    : sequence(oid('1.2.840.113549.1.1.11'), nothing());
}

/** Random, positive, and always of the same length. */
function serialNumber(): Buffer {
  const serial = randomBytes(16);
  serial[0] = 0x40 | (serial[0]! & 0x3f);
  return serial;
}

const holder = (name: string): Der =>
  sequence(set(sequence(oid('2.5.4.3'), utf8(name.slice(0, LONGEST_COMMON_NAME)))));

const extension = (id: string, value: Der, critical = false): Der =>
  sequence(oid(id), ...(critical ? [bool(true)] : []), octets(value));

/** No authority, but a TLS server (§4.2.1.9, §4.2.1.3, §4.2.1.12). */
export function serverUse(usages: Usage[]): Der[] {
  return [
    extension('2.5.29.19', sequence(), true),
    keyUsage(...usages),
    extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'))),
  ];
}

/** The bits of KeyUsage, counted from the most significant one (§4.2.1.3). */
const USAGE_BITS = { digitalSignature: 0, keyEncipherment: 2, keyCertSign: 5, cRLSign: 6 };
type Usage = keyof typeof USAGE_BITS;

function keyUsage(...usages: Usage[]): Der {
  const numbers = usages.map((usage) => USAGE_BITS[usage]);
  const octet = numbers.reduce((sum, number) => sum | (0x80 >> number), 0);
  return extension('2.5.29.15', bits(Buffer.of(octet), 7 - Math.max(...numbers)), true);
}

/** §4.2.1.6. */
export function subjectNames(names: string[]): Der {
  const each = names.map((name) =>
    isIP(name)
      ? element(0x87, Buffer.from(ipaddr.parse(name).toByteArray()))
      : element(0x82, Buffer.from(name, 'latin1')),
  );
  return extension('2.5.29.17', sequence(...each));
}

/** An authority of servers, and of no other authority. */
export const authorityUse = (): Der[] => [
  extension('2.5.29.19', sequence(bool(true), integer(Buffer.of(0))), true),
  keyUsage('keyCertSign', 'cRLSign'),
];

/** By which a chain is found where two authorities have one name (§4.2.1.2, and §4.2.1.1 of the issuer). */
export const keyIdentifier = (key: KeyObject): Der => extension('2.5.29.14', octets(keyId(key)));
export const issuerIdentifier = (key: KeyObject): Der =>
  extension('2.5.29.35', sequence(element(0x80, keyId(key))));

/** Any that is the same for the same key will do. */
const keyId = (key: KeyObject): Buffer => hash('sha256', spki(key), 'buffer').subarray(0, 20);

const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

function pem(certificate: Der): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

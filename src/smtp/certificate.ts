/** A self-signed certificate for STARTTLS, as it is made at the first start. */

import { generateKeyPair, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
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
import type { KeyPair } from './protocol.ts';

const DAY = 86_400_000;
const LIFETIME = 3653 * DAY;
const LONGEST_COMMON_NAME = 64;

const SHA256_WITH_RSA = sequence(oid('1.2.840.113549.1.1.11'), nothing());

/**
 * A key and a certificate for `name` (a host name or an address), in PEM, good for ten years from
 * a day before `now` (clocks differ). RSA of 2048 bits, because senders with old TLS know nothing
 * else, and they are to be heard too.
 */
export async function makeCertificate(name: string, now: number): Promise<KeyPair> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const body = certificateBody(name, now, publicKey);
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, SHA256_WITH_RSA, bits(signature));
  return { key: privateKey, cert: pem('CERTIFICATE', certificate) };
}

/** TBSCertificate, RFC 5280 §4.1. */
function certificateBody(name: string, now: number, publicKey: Buffer): Der {
  const serial = randomBytes(16);
  serial[0] = 0x40 | (serial[0]! & 0x3f);
  const commonName = sequence(oid('2.5.4.3'), utf8(name.slice(0, LONGEST_COMMON_NAME)));
  const holder = sequence(set(commonName));
  return sequence(
    element(0xa0, integer(Buffer.of(2))), // version 3
    integer(serial),
    SHA256_WITH_RSA,
    holder, // the issuer
    sequence(time(now - DAY), time(now - DAY + LIFETIME)),
    holder, // the subject
    publicKey,
    element(0xa3, extensions(name)),
  );
}

/** RFC 5280 §4.2.1: no authority; for signatures and the key exchange of a TLS server; its name. */
function extensions(name: string): Der {
  const subject = isIP(name)
    ? element(0x87, Buffer.from(ipaddr.parse(name).toByteArray()))
    : element(0x82, Buffer.from(name, 'latin1'));
  return sequence(
    sequence(oid('2.5.29.19'), bool(true), octets(sequence())),
    sequence(oid('2.5.29.15'), bool(true), octets(bits(Buffer.of(0xa0), 5))),
    sequence(oid('2.5.29.37'), octets(sequence(oid('1.3.6.1.5.5.7.3.1')))),
    sequence(oid('2.5.29.17'), octets(sequence(subject))),
  );
}

function pem(label: string, der: Der): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

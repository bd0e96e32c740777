/**
 * Creates X.509 certificates: self-signed ones, certificate authorities, and certificates that an
 * authority issues.
 *
 * Why not a library: @peculiar/x509 would save 110 lines here. It costs 14 MB of memory, 80 ms at the
 * first start, twenty packages and a global `Reflect` polyfill. It also forces a newer version of the
 * parser that mailauth uses for BIMI certificates.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  hash,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';
import { DAY_MS } from './durations.ts';

/** PEM. */
export interface KeyPair {
  key: string;
  cert: string;
}

const TEN_YEARS_MS = 3653 * DAY_MS;

const generateKeys = promisify(generateKeyPair);

/**
 * A key and a self-signed certificate for a host name or IP address. It is valid for ten years from a
 * day before `now`, because clocks differ. RSA with 2048 bits, because senders with old TLS
 * implementations support nothing else.
 */
export async function makeCertificate(name: string, now: number): Promise<KeyPair> {
  const keys = await generateKeys('rsa', { modulusLength: 2048 });
  return selfSigned(name, keys, now, [
    ...serverExtensions(['digitalSignature', 'keyEncipherment']),
    subjectNames([name]),
  ]);
}

/** A certificate authority that can issue server certificates but no other authorities; valid for ten years. */
export async function makeAuthority(name: string, now: number): Promise<KeyPair> {
  const keys = await generateKeys('ec', { namedCurve: 'P-256' });
  return selfSigned(name, keys, now, [...authorityExtensions(), keyIdentifier(keys.publicKey)]);
}

interface Keys {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

function selfSigned(name: string, keys: Keys, now: number, extensions: Buffer[]): KeyPair {
  const { publicKey, privateKey: issuerKey } = keys;
  const names = { subject: name, issuer: name };
  const fields = { ...names, publicKey, issuerKey, now, lifetime: TEN_YEARS_MS, extensions };
  return { key: toPem(issuerKey), cert: encodeCertificate(fields) };
}

interface ServerCertificateRequest {
  /** Host names and IP addresses; the first is the common name. */
  names: [string, ...string[]];
  /** The result of `makeAuthority`, and the name passed to it. */
  authority: KeyPair;
  authorityName: string;
  now: number;
  /** Milliseconds, from a day before `now`. */
  lifetime: number;
}

/** A new key for a server, and a certificate for its names issued by the authority. */
export async function issueCertificate(request: ServerCertificateRequest): Promise<KeyPair> {
  const { names, authority, authorityName, now, lifetime } = request;
  const { publicKey, privateKey } = await generateKeys('ec', { namedCurve: 'P-256' });
  const issuerKey = createPrivateKey(authority.key);
  const cert = encodeCertificate({
    subject: names[0],
    publicKey,
    issuer: authorityName,
    issuerKey,
    now,
    lifetime,
    extensions: [
      ...serverExtensions(['digitalSignature']),
      subjectNames(names),
      keyIdentifier(publicKey),
      issuerIdentifier(createPublicKey(issuerKey)),
    ],
  });
  return { key: toPem(privateKey), cert };
}

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

// An X.509 certificate (RFC 5280), encoded as DER and signed.

const MAX_COMMON_NAME_LENGTH = 64;

/**
 * The contents of a certificate. The lifetime in milliseconds starts a day before `now`, because
 * clocks differ.
 */
interface Certificate {
  subject: string;
  publicKey: KeyObject;
  issuer: string;
  issuerKey: KeyObject;
  now: number;
  lifetime: number;
  extensions: Der[];
}

/** The signed certificate in PEM (RFC 5280 §4.1). */
function encodeCertificate(certificate: Certificate): string {
  const { subject, publicKey, issuer, issuerKey, now, lifetime, extensions } = certificate;
  const algorithm = signatureAlgorithm(issuerKey);
  const body = derSequence(
    derElement(0xa0, derInteger(Buffer.of(2))), // version 3
    derInteger(serialNumber()),
    algorithm,
    distinguishedName(issuer),
    derSequence(derTime(now - DAY_MS), derTime(now - DAY_MS + lifetime)),
    distinguishedName(subject),
    spki(publicKey),
    derElement(0xa3, derSequence(...extensions)),
  );
  return pem(derSequence(body, algorithm, derBitString(sign('sha256', body, issuerKey))));
}

/** ECDSA or RSA, with SHA-256. */
function signatureAlgorithm({ asymmetricKeyType }: KeyObject): Der {
  return asymmetricKeyType === 'ec'
    ? derSequence(derOid('1.2.840.10045.4.3.2'))
    : derSequence(derOid('1.2.840.113549.1.1.11'), derNull());
}

/** Random and positive, with a fixed length. */
function serialNumber(): Buffer {
  const serial = randomBytes(16);
  serial[0] = 0x40 | (serial[0]! & 0x3f);
  return serial;
}

const distinguishedName = (name: string): Der =>
  derSequence(
    derSet(derSequence(derOid('2.5.4.3'), derUtf8String(name.slice(0, MAX_COMMON_NAME_LENGTH)))),
  );

const extension = (id: string, value: Der, critical = false): Der =>
  derSequence(derOid(id), ...(critical ? [derBoolean(true)] : []), derOctetString(value));

/** The extensions of a TLS server certificate (§4.2.1.9, §4.2.1.3, §4.2.1.12). */
function serverExtensions(usages: Usage[]): Der[] {
  return [
    extension('2.5.29.19', derSequence(), true),
    keyUsage(...usages),
    extension('2.5.29.37', derSequence(derOid('1.3.6.1.5.5.7.3.1'))),
  ];
}

/** The bits of KeyUsage, counted from the most significant one (§4.2.1.3). */
const USAGE_BITS = { digitalSignature: 0, keyEncipherment: 2, keyCertSign: 5, cRLSign: 6 };
type Usage = keyof typeof USAGE_BITS;

function keyUsage(...usages: Usage[]): Der {
  const numbers = usages.map((usage) => USAGE_BITS[usage]);
  const octet = numbers.reduce((sum, number) => sum | (0x80 >> number), 0);
  return extension('2.5.29.15', derBitString(Buffer.of(octet), 7 - Math.max(...numbers)), true);
}

/** Subject alternative names (§4.2.1.6). */
function subjectNames(names: string[]): Der {
  const encoded = names.map((name) =>
    isIP(name)
      ? derElement(0x87, Buffer.from(ipaddr.parse(name).toByteArray()))
      : derElement(0x82, Buffer.from(name, 'latin1')),
  );
  return extension('2.5.29.17', derSequence(...encoded));
}

/** The extensions of an authority that can issue server certificates only. */
const authorityExtensions = (): Der[] => [
  extension('2.5.29.19', derSequence(derBoolean(true), derInteger(Buffer.of(0))), true),
  keyUsage('keyCertSign', 'cRLSign'),
];

/** Key identifiers (§4.2.1.2, §4.2.1.1): they tell apart two authorities with the same name. */
const keyIdentifier = (key: KeyObject): Der => extension('2.5.29.14', derOctetString(keyId(key)));
const issuerIdentifier = (key: KeyObject): Der =>
  extension('2.5.29.35', derSequence(derElement(0x80, keyId(key))));

/** Any value derived from the key would do. */
const keyId = (key: KeyObject): Buffer => hash('sha256', spki(key), 'buffer').subarray(0, 20);

const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

function pem(certificate: Der): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

// The DER (X.690) types that a certificate needs.

export type Der = Buffer;

/** Encodes tag, length and contents. */
export function derElement(tag: number, ...contents: Uint8Array[]): Der {
  const body = Buffer.concat(contents);
  if (body.length < 128) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, body]);
}

export const derSequence = (...contents: Uint8Array[]): Der => derElement(0x30, ...contents);
export const derSet = (...contents: Uint8Array[]): Der => derElement(0x31, ...contents);
export const derOctetString = (...contents: Uint8Array[]): Der => derElement(0x04, ...contents);
export const derUtf8String = (text: string): Der => derElement(0x0c, Buffer.from(text));
export const derBoolean = (value: boolean): Der => derElement(0x01, Buffer.of(value ? 0xff : 0));
const derNull = (): Der => derElement(0x05);

/** A positive integer in big-endian bytes; the most significant bit must not be set. */
export const derInteger = (bytes: Uint8Array): Der => derElement(0x02, bytes);

/** `unused`: how many bits of the last byte are not part of the string. */
export const derBitString = (bytes: Uint8Array, unused = 0): Der =>
  derElement(0x03, Buffer.of(unused), bytes);

/** `dotted`: for example `2.5.4.3`. */
export function derOid(dotted: string): Der {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of others) {
    const groups = [arc & 0x7f];
    for (let rest = arc >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return derElement(0x06, Buffer.from(bytes));
}

/** UTCTime through 2049, GeneralizedTime from 2050 (RFC 5280 §4.1.2.5); to the second. */
export function derTime(ms: number): Der {
  const digits = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  return digits < '2050'
    ? derElement(0x17, Buffer.from(digits.slice(2)))
    : derElement(0x18, Buffer.from(digits));
}

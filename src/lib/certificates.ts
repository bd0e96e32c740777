/** Certificates of our own making: one that signs itself, or an authority and those that it signs. */

import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import {
  authorityUse,
  certify,
  issuerIdentifier,
  keyIdentifier,
  serverUse,
  subjectNames,
} from './x509.ts';

/** PEM. */
export interface KeyPair {
  key: string;
  cert: string;
}

const TEN_YEARS = 3653 * 86_400_000;

const makeKeys = promisify(generateKeyPair);

/**
 * A key and a certificate for `name` (a host name or an address), good for ten years from a day
 * before `now` (clocks differ). RSA of 2048 bits, because senders with old TLS know nothing else,
 * and they are to be heard too.
 */
export async function makeCertificate(name: string, now: number): Promise<KeyPair> {
  const keys = await makeKeys('rsa', { modulusLength: 2048 });
  return signedByItself(name, keys, now, [
    ...serverUse(['digitalSignature', 'keyEncipherment']),
    subjectNames([name]),
  ]);
}

/** An authority that signs the certificates of servers and no other authority; ten years as above. */
export async function makeAuthority(name: string, now: number): Promise<KeyPair> {
  const keys = await makeKeys('ec', { namedCurve: 'P-256' });
  return signedByItself(name, keys, now, [...authorityUse(), keyIdentifier(keys.publicKey)]);
}

interface Keys {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

function signedByItself(name: string, keys: Keys, now: number, extensions: Buffer[]): KeyPair {
  const { publicKey, privateKey: issuerKey } = keys;
  const names = { subject: name, issuer: name };
  const fields = { ...names, publicKey, issuerKey, now, lifetime: TEN_YEARS, extensions };
  return { key: toPem(issuerKey), cert: certify(fields) };
}

export interface ServerRequest {
  /** Host names and addresses; the first is the common name. */
  names: [string, ...string[]];
  /** What `makeAuthority` gave, and the name that it was given. */
  authority: KeyPair;
  authorityName: string;
  now: number;
  /** Milliseconds, from a day before `now`. */
  lifetime: number;
}

/** A key of its own for a server, and a certificate for its names that the authority has signed. */
export async function issueCertificate(request: ServerRequest): Promise<KeyPair> {
  const { names, authority, authorityName, now, lifetime } = request;
  const { publicKey, privateKey } = await makeKeys('ec', { namedCurve: 'P-256' });
  const issuerKey = createPrivateKey(authority.key);
  const cert = certify({
    subject: names[0],
    publicKey,
    issuer: authorityName,
    issuerKey,
    now,
    lifetime,
    extensions: [
      ...serverUse(['digitalSignature']),
      subjectNames(names),
      keyIdentifier(publicKey),
      issuerIdentifier(createPublicKey(issuerKey)),
    ],
  });
  return { key: toPem(privateKey), cert };
}

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

/** Makes valid and invalid certificates for BIMI logos, with their own certificate authority. */

import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  type Der,
  derBitString,
  derBoolean,
  derElement,
  derInteger,
  derOctetString,
  derOid,
  derSequence,
  derSet,
  derTime,
  derUtf8String,
} from '../../../src/lib/certificates.ts';
import { RECEIVED_AT } from '../../helpers/analysis.ts';

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = derSequence(derOid('1.2.840.10045.4.3.2'));

export interface MarkOptions {
  names?: string[];
  /** Days from the time of receipt. */
  from?: number;
  to?: number;
  markType?: string | null;
  usage?: string;
  /** null: no logotype extension. */
  logo?: string | null;
  /** The logotype extension contains no readable image. */
  emptyLogotype?: boolean;
  ca?: boolean;
}

interface Holder {
  name: Der;
  keys: { publicKey: KeyObject; privateKey: KeyObject };
}

export interface Authority extends Holder {
  pem: string;
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

const nameOf = (commonName: string, markType: string | null = null): Der =>
  derSequence(
    derSet(derSequence(derOid('2.5.4.3'), derUtf8String(commonName))),
    ...(markType === null
      ? []
      : [derSet(derSequence(derOid('1.3.6.1.4.1.53087.1.13'), derUtf8String(markType)))]),
  );

function certify(subject: Holder, issuer: Holder, options: MarkOptions, extensions: Der[]): string {
  const { from = -30, to = 300 } = options;
  const body = derSequence(
    derElement(0xa0, derInteger(Buffer.of(2))),
    derInteger(Buffer.from([0x10, Math.floor(Math.random() * 255), 7])),
    ECDSA_WITH_SHA256,
    issuer.name,
    derSequence(derTime(RECEIVED_AT + from * DAY_MS), derTime(RECEIVED_AT + to * DAY_MS)),
    subject.name,
    subject.keys.publicKey.export({ type: 'spki', format: 'der' }),
    derElement(0xa3, derSequence(...extensions)),
  );
  const signature = sign('sha256', body, issuer.keys.privateKey);
  return new X509Certificate(
    derSequence(body, ECDSA_WITH_SHA256, derBitString(signature)),
  ).toString();
}

const basicConstraints = (ca: boolean): Der =>
  derSequence(
    derOid('2.5.29.19'),
    derBoolean(true),
    derOctetString(ca ? derSequence(derBoolean(true)) : derSequence()),
  );

export function makeAuthority(name = 'Mark Authority', options: MarkOptions = {}): Authority {
  const holder = { name: nameOf(name), keys: newKeys() };
  return { ...holder, pem: certify(holder, holder, options, [basicConstraints(true)]) };
}

/** An authority certified by another one. */
export function makeIntermediate(issuer: Holder, options: MarkOptions = {}): Authority {
  const holder = { name: nameOf('Mark Intermediate'), keys: newKeys() };
  return { ...holder, pem: certify(holder, issuer, options, [basicConstraints(true)]) };
}

/** A mark certificate in PEM format; self-signed if `issuer` is null. */
export function makeMark(issuer: Holder | null, options: MarkOptions = {}): string {
  const { names = ['example.com'], markType = 'Registered Mark', logo = null } = options;
  const holder = { name: nameOf('Example Ltd', markType), keys: newKeys() };
  const alternative = names.map((name) => derElement(0x82, Buffer.from(name)));
  const extensions = [
    basicConstraints(options.ca ?? false),
    derSequence(
      derOid('2.5.29.37'),
      derOctetString(derSequence(derOid(options.usage ?? '1.3.6.1.5.5.7.3.31'))),
    ),
    derSequence(derOid('2.5.29.17'), derOctetString(derSequence(...alternative))),
  ];
  if (logo !== null || options.emptyLogotype)
    extensions.push(derSequence(derOid('1.3.6.1.5.5.7.1.12'), derOctetString(logotype(logo))));
  return certify(holder, issuer ?? holder, options, extensions);
}

/** LogotypeExtn with a direct subject logo, RFC 9399 §4.1. */
function logotype(logo: string | null): Der {
  const data = logo === null ? '' : gzipSync(logo).toString('base64');
  const uri = derElement(0x16, Buffer.from(`data:image/svg+xml;base64,${data}`));
  const hash = derSequence(
    derSequence(derOid('2.16.840.1.101.3.4.2.1')),
    derOctetString(Buffer.alloc(32)),
  );
  const details = derSequence(
    derElement(0x16, Buffer.from('image/svg+xml')),
    derSequence(hash),
    derSequence(logo === null ? derElement(0x16, Buffer.from('https://example.com/x')) : uri),
  );
  return derSequence(derElement(0xa2, derElement(0xa0, derSequence(derSequence(details)))));
}

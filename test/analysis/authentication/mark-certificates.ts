/** Makes certificates for BIMI logos, right ones and wrong ones, with an authority of their own. */

import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  bits,
  bool,
  type Der,
  element,
  integer,
  octets,
  oid,
  sequence,
  set,
  time,
  utf8,
} from '../../../src/lib/der.ts';
import { RECEIVED_AT } from '../../helpers/analysis.ts';

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

export interface MarkOptions {
  names?: string[];
  /** Days from the time of receipt. */
  from?: number;
  to?: number;
  markType?: string | null;
  usage?: string;
  /** Without it, no logotype extension. */
  logo?: string | null;
  /** The logotype holds no image that can be read. */
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
  sequence(
    set(sequence(oid('2.5.4.3'), utf8(commonName))),
    ...(markType === null ? [] : [set(sequence(oid('1.3.6.1.4.1.53087.1.13'), utf8(markType)))]),
  );

function certify(subject: Holder, issuer: Holder, options: MarkOptions, extensions: Der[]): string {
  const { from = -30, to = 300 } = options;
  const body = sequence(
    element(0xa0, integer(Buffer.of(2))),
    integer(Buffer.from([0x10, Math.floor(Math.random() * 255), 7])),
    ECDSA_WITH_SHA256,
    issuer.name,
    sequence(time(RECEIVED_AT + from * DAY_MS), time(RECEIVED_AT + to * DAY_MS)),
    subject.name,
    subject.keys.publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, issuer.keys.privateKey);
  return new X509Certificate(sequence(body, ECDSA_WITH_SHA256, bits(signature))).toString();
}

const basicConstraints = (ca: boolean): Der =>
  sequence(oid('2.5.29.19'), bool(true), octets(ca ? sequence(bool(true)) : sequence()));

export function makeAuthority(name = 'Mark Authority', options: MarkOptions = {}): Authority {
  const holder = { name: nameOf(name), keys: newKeys() };
  return { ...holder, pem: certify(holder, holder, options, [basicConstraints(true)]) };
}

/** An authority that another has certified. */
export function makeIntermediate(issuer: Holder, options: MarkOptions = {}): Authority {
  const holder = { name: nameOf('Mark Intermediate'), keys: newKeys() };
  return { ...holder, pem: certify(holder, issuer, options, [basicConstraints(true)]) };
}

/** The certificate of a mark in PEM; `issuer` null makes it self-signed. */
export function makeMark(issuer: Holder | null, options: MarkOptions = {}): string {
  const { names = ['example.com'], markType = 'Registered Mark', logo = null } = options;
  const holder = { name: nameOf('Example Ltd', markType), keys: newKeys() };
  const alternative = names.map((name) => element(0x82, Buffer.from(name)));
  const extensions = [
    basicConstraints(options.ca ?? false),
    sequence(oid('2.5.29.37'), octets(sequence(oid(options.usage ?? '1.3.6.1.5.5.7.3.31')))),
    sequence(oid('2.5.29.17'), octets(sequence(...alternative))),
  ];
  if (logo !== null || options.emptyLogotype)
    extensions.push(sequence(oid('1.3.6.1.5.5.7.1.12'), octets(logotype(logo))));
  return certify(holder, issuer ?? holder, options, extensions);
}

/** LogotypeExtn with a direct subject logo, RFC 9399 §4.1. */
function logotype(logo: string | null): Der {
  const data = logo === null ? '' : gzipSync(logo).toString('base64');
  const uri = element(0x16, Buffer.from(`data:image/svg+xml;base64,${data}`));
  const hash = sequence(sequence(oid('2.16.840.1.101.3.4.2.1')), octets(Buffer.alloc(32)));
  const details = sequence(
    element(0x16, Buffer.from('image/svg+xml')),
    sequence(hash),
    sequence(logo === null ? element(0x16, Buffer.from('https://example.com/x')) : uri),
  );
  return sequence(element(0xa2, element(0xa0, sequence(sequence(details)))));
}

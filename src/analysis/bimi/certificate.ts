/**
 * Evaluates the mark certificate of a BIMI logo: chain, validity period, purpose and names.
 *
 * Why not a library: Node verifies chains and signatures, but exposes neither the logotype extension
 * nor the mark type. @peculiar/x509 does, but takes 16 MB of memory in each analysis thread.
 */

import { X509Certificate } from 'node:crypto';
import { isoTime } from '../../lib/clock.ts';
import { unpackSvg } from './svg.ts';

const MAX_CERTIFICATES = 8;

const BIMI_KEY_USAGE = '1.3.6.1.5.5.7.3.31';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
/** RFC 9399: the logotype extension. */
const LOGOTYPE = '1.3.6.1.5.5.7.1.12';
/** Mark Certificate Requirements §7.1.4.2.2: the mark type in the subject. */
const MARK_TYPE = '1.3.6.1.4.1.53087.1.13';
const VERIFIED_MARK = /^(?:Registered Mark|Government Mark)$/i;

export interface MarkCertificate {
  /** Verified or common mark certificate; null without a mark type. */
  kind: 'VMC' | 'CMC' | null;
  /** "Registered Mark", "Prior Use Mark", … */
  markType: string | null;
  names: string[];
  issuer: string;
  /** ISO 8601. */
  validFrom: string;
  validTo: string;
  logotype: boolean;
  /** The embedded logo, decompressed; null if it cannot be read. */
  image: Uint8Array | null;
}

interface CertificateEvaluation {
  certificate: MarkCertificate | null;
  /** Full sentences. */
  problems: string[];
}

/**
 * The certificate must cover one of `names`. `now` is in milliseconds since the Unix epoch; null if unknown. `isOld`: it is
 * when the message arrived, so the certificate may be newer.
 */
export function evaluateCertificate(
  pem: Uint8Array,
  { names, now, isOld = false }: { names: string[]; now: number | null; isOld?: boolean },
): CertificateEvaluation {
  const chain = readChain(Buffer.from(pem).toString('latin1'));
  if (typeof chain === 'string') return { certificate: null, problems: [chain] };
  const leaf = chain[0]!;
  const certificate = describe(leaf);
  const problems = [
    ...chainProblems(chain),
    ...(now === null ? [] : timeProblems(chain, now, isOld)),
    ...purposeProblems(leaf, certificate),
  ];
  if (!certificate.names.some((name) => names.includes(name)))
    problems.push(`The certificate is not for ${names[0]}.`);
  return { certificate, problems };
}

/** The certificates in file order, at least one; or what is wrong with the file. */
function readChain(text: string): X509Certificate[] | string {
  const blocks = text.split('-----BEGIN CERTIFICATE-----', MAX_CERTIFICATES + 1).slice(1);
  if (blocks.length === 0) return 'The certificate is not in PEM format.';
  try {
    return blocks.map((block) => {
      const end = block.indexOf('-----END CERTIFICATE-----');
      return new X509Certificate(Buffer.from(end < 0 ? '' : block.slice(0, end), 'base64'));
    });
  } catch {
    return 'The certificate cannot be parsed.';
  }
}

function describe(leaf: X509Certificate): MarkCertificate {
  const alternativeNames = certificateExtension(leaf.raw, SUBJECT_ALTERNATIVE_NAME);
  const logotype = certificateExtension(leaf.raw, LOGOTYPE);
  const markType = subjectAttribute(leaf.raw, MARK_TYPE)?.slice(0, 100) ?? null;
  return {
    kind: markType === null ? null : VERIFIED_MARK.test(markType) ? 'VMC' : 'CMC',
    markType,
    names: alternativeNames ? dnsNames(alternativeNames).slice(0, 100) : [],
    issuer: (leaf.issuer ?? '').replaceAll('\n', ', ').slice(0, 300),
    validFrom: isoTime(leaf.validFromDate.getTime()),
    validTo: isoTime(leaf.validToDate.getTime()),
    logotype: logotype !== null,
    image: logotype && extractImage(logotype),
  };
}

/** The extension holds the logo as a compressed data URI (RFC 9399 §4.3, §7). */
function extractImage(logotype: Uint8Array): Uint8Array | null {
  const uri = findText(logotype, 'data:image/svg+xml');
  const comma = uri?.indexOf(',') ?? -1;
  if (!uri || comma < 0 || !uri.slice(0, comma).endsWith(';base64')) return null;
  return unpackSvg(Buffer.from(uri.slice(comma + 1), 'base64'));
}

/** The mark certificate must come first, and each further one must have issued the one before it. */
function chainProblems(chain: X509Certificate[]): string[] {
  const leaf = chain[0]!;
  if (leaf.ca) return ['The file starts with a CA certificate instead of the mark certificate.'];
  if (isIssuedBy(leaf, leaf))
    return ['The certificate is self-signed; it must be issued by a certificate authority.'];
  if (chain.length === 1)
    return ['The file does not include the certificate of the issuing authority.'];
  const inOrder = chain.every(
    (certificate, index) => index === 0 || isIssuedBy(chain[index - 1]!, certificate),
  );
  return inOrder
    ? []
    : ['The certificates in the file do not form a chain, or are in the wrong order.'];
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    // Node does not support the key type.
    return false;
  }
}

function timeProblems(chain: X509Certificate[], now: number, isOld: boolean): string[] {
  return chain.flatMap((certificate, index) => {
    const subject = index === 0 ? 'The certificate' : 'A certificate of the issuing authority';
    const from = certificate.validFromDate.getTime();
    const to = certificate.validToDate.getTime();
    if (now > to) return [`${subject} expired on ${isoTime(to).slice(0, 10)}.`];
    return now < from && !isOld
      ? [`${subject} is not valid before ${isoTime(from).slice(0, 10)}.`]
      : [];
  });
}

function purposeProblems(leaf: X509Certificate, { logotype }: MarkCertificate): string[] {
  const problems: string[] = [];
  // Node's `keyUsage` holds the extended key usages.
  if (!(leaf.keyUsage ?? []).includes(BIMI_KEY_USAGE))
    problems.push('The certificate is not for BIMI: its extended key usage does not include BIMI.');
  if (!logotype) problems.push('The certificate contains no logo (logotype extension).');
  return problems;
}

// DER: extensions and subject attributes, which Node does not expose (RFC 5280).

interface Element {
  tag: number;
  content: Uint8Array;
}

const INTEGER = 0x02;
const SEQUENCE = 0x30;
const EXTENSIONS = 0xa3;
const IA5_STRING = 0x16;

/**
 * The top-level elements of a DER encoding (X.690); an empty list for anything else. Certificates
 * have no tags above 30.
 */
function elementsOf(bytes: Uint8Array): Element[] {
  const elements: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const length = readLength(bytes, at + 1);
    if (length === null || (bytes[at]! & 0x1f) === 0x1f) return [];
    const end = length.start + length.octets;
    if (end > bytes.length) return [];
    elements.push({ tag: bytes[at]!, content: bytes.subarray(length.start, end) });
    at = end;
  }
  return elements;
}

/** A definite length in at most three octets, which is enough for any certificate. */
function readLength(bytes: Uint8Array, at: number): { start: number; octets: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  if (first < 0x80) return { start: at + 1, octets: first };
  const count = first & 0x7f;
  if (count === 0 || count > 3 || at + count >= bytes.length) return null;
  let octets = 0;
  for (let i = 1; i <= count; i++) octets = octets * 256 + bytes[at + i]!;
  return { start: at + 1 + count, octets };
}

/** An object identifier in dotted form: `2.5.29.17`. */
function readOid(content: Uint8Array): string {
  const arcs: number[] = [];
  let value = 0;
  for (const octet of content) {
    value = value * 128 + (octet & 0x7f);
    if (octet < 0x80) {
      arcs.push(value);
      value = 0;
    }
  }
  const [first = 0, ...rest] = arcs;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...rest].join('.');
}

/** The elements of TBSCertificate, without the optional version. */
function tbsElements(certificate: Uint8Array): Element[] {
  const [outer] = elementsOf(certificate);
  const [body] = outer ? elementsOf(outer.content) : [];
  const elements = body ? elementsOf(body.content) : [];
  return elements[0]?.tag === INTEGER ? elements : elements.slice(1);
}

/** The DER value of an extension; null if the certificate does not have it (§4.2). */
export function certificateExtension(certificate: Uint8Array, oid: string): Uint8Array | null {
  const extensions = tbsElements(certificate).find(({ tag }) => tag === EXTENSIONS);
  const [list] = extensions ? elementsOf(extensions.content) : [];
  for (const { content } of list ? elementsOf(list.content) : []) {
    const parts = elementsOf(content);
    // The critical flag is optional; the value always comes last.
    if (parts[0] && readOid(parts[0].content) === oid) return parts.at(-1)?.content ?? null;
  }
  return null;
}

/** The first subject attribute of this type, such as the mark type; null if there is none. */
function subjectAttribute(certificate: Uint8Array, oid: string): string | null {
  // After serial number, signature, issuer and validity.
  const subject = tbsElements(certificate)[4];
  for (const set of subject ? elementsOf(subject.content) : [])
    for (const { content } of elementsOf(set.content)) {
      const [type, value] = elementsOf(content);
      if (type && value && readOid(type.content) === oid)
        return Buffer.from(value.content).toString('utf8');
    }
  return null;
}

/** The DNS names of a subject alternative name (§4.2.1.6), in lower case. */
export function dnsNames(extension: Uint8Array): string[] {
  const [names] = elementsOf(extension);
  return (names ? elementsOf(names.content) : [])
    .filter(({ tag }) => tag === 0x82)
    .map(({ content }) => Buffer.from(content).toString('latin1').toLowerCase());
}

/** The first IA5String with this prefix in the nested elements; null if there is none. */
function findText(bytes: Uint8Array, prefix: string, depth = 0): string | null {
  if (depth > 16) return null;
  for (const { tag, content } of elementsOf(bytes)) {
    if (tag === IA5_STRING) {
      const text = Buffer.from(content).toString('latin1');
      if (text.startsWith(prefix)) return text;
    } else if (tag === SEQUENCE || (tag & 0xe0) === 0xa0) {
      const found = findText(content, prefix, depth + 1);
      if (found !== null) return found;
    }
  }
  return null;
}

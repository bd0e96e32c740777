/** Extracts and parses the DKIM-Signature fields of a message, and removes those beyond the limits. */

import { normalizeDomain } from '../../lib/domain-names.ts';
import { parseColonList, parseTagList } from '../dns/tag-list.ts';
import { LIMITS } from '../mime/message.ts';
import type { DkimSignature } from './outcome.ts';

/** More than any legitimate message has. Each may cost a DNS query and a verification. */
export const MAX_SIGNATURES = 10;

/** Longer signatures are ignored: each name in `h=` costs a search of the whole header. */
const MAX_SIGNATURE_BYTES = 8 * 1024;

// A field as mailauth reads it: a line without "name:" belongs to the field above, and a fold may
// precede the colon. If this differed from mailauth, signatures could evade the limits.
const FIELD_START = /(?<=^|\n)([\x21-\x39\x3b-\x7e]+)[ \t\r]*(?:\n[ \t\r]*)?:/g;

export interface SignatureFields {
  /** The values of the first signatures, unfolded (RFC 5322 §2.2.3). */
  values: string[];
  /** How many were removed. */
  ignoredCount: number;
  /** Those removed because there are more than `MAX_SIGNATURES`, not for their length. */
  overLimit: { count: number; isOwn: boolean };
  /** The message without the removed signatures; otherwise unchanged. */
  raw: Buffer;
  /** Bytes of the header block. */
  headerBytes: number;
  /** Lines within the first LIMITS.headerBytes of the header. */
  headerLines: number;
}

/**
 * Keeps `MAX_SIGNATURES`: those for which `isOwn` is true, then the first, which are the newest. Relays
 * add theirs on top. A signature that covers a removed one would no longer verify, but no mailer makes
 * such signatures.
 */
export function extractSignatures(
  message: Uint8Array,
  isOwn: (domain: string) => boolean = () => false,
): SignatureFields {
  const raw = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const headerBytes = headerEnd(raw);
  const block = raw.toString('latin1', 0, Math.min(headerBytes, LIMITS.headerBytes));
  const starts = [...block.matchAll(FIELD_START)];
  const signatures = starts.flatMap((match, index) =>
    match[1]!.toLowerCase() === 'dkim-signature'
      ? [
          {
            start: match.index,
            nameLength: match[0].length,
            end: starts[index + 1]?.index ?? block.length,
          },
        ]
      : [],
  );
  const textOf = ({ start, nameLength, end }: (typeof signatures)[0]) =>
    unfold(block.slice(start + nameLength, end));
  const readable = signatures.filter(({ start, end }) => end - start <= MAX_SIGNATURE_BYTES);
  const isOwnSignature = (signature: (typeof signatures)[0]) =>
    isOwn(domainOf(parseTagList(textOf(signature)).get('d')));
  const kept = readable.length <= MAX_SIGNATURES ? readable : preferOwn(readable, isOwnSignature);
  const beyond = readable.filter((signature) => !kept.includes(signature));
  const surplus = signatures.filter((signature) => !kept.includes(signature));
  return {
    values: kept.map(textOf),
    ignoredCount: surplus.length,
    overLimit: { count: beyond.length, isOwn: beyond.some(isOwnSignature) },
    raw: removeRanges(raw, surplus),
    headerBytes,
    headerLines: block.split('\n').length,
  };
}

/** The first signatures that fit the limit, own ones first, in the order of the message. */
function preferOwn<T>(signatures: T[], isOwn: (signature: T) => boolean): T[] {
  const [own, others] = [signatures.filter(isOwn), signatures.filter((one) => !isOwn(one))];
  const chosen = new Set([...own, ...others].slice(0, MAX_SIGNATURES));
  return signatures.filter((signature) => chosen.has(signature));
}

/** The offset of the empty line that ends the header; the length of the message without one. */
function headerEnd(raw: Buffer): number {
  if (raw[0] === 0x0a || (raw[0] === 0x0d && raw[1] === 0x0a)) return 0;
  const ends = ['\n\n', '\n\r\n'].map((end) => raw.indexOf(end)).filter((offset) => offset >= 0);
  return ends.length === 0 ? raw.length : Math.min(...ends) + 1;
}

function unfold(value: string): string {
  return Buffer.from(value.replace(/\r?\n/g, ''), 'latin1').toString('utf8').trim();
}

function removeRanges(raw: Buffer, ranges: { start: number; end: number }[]): Buffer {
  if (ranges.length === 0) return raw;
  const kept: Buffer[] = [];
  let offset = 0;
  for (const { start, end } of ranges) {
    kept.push(raw.subarray(offset, start));
    offset = end;
  }
  return Buffer.concat([...kept, raw.subarray(offset)]);
}

/** How far the signer's clock may be ahead of ours without a warning. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;

/**
 * Parses a DKIM-Signature field without verifying it (RFC 6376 §3.5). `position` counts from 1;
 * `receivedAt` is in milliseconds since the Unix epoch; without it, the times of the signature are not judged.
 */
export function readSignature(
  value: string,
  position: number,
  receivedAt: number | null,
): DkimSignature {
  const tags = parseTagList(value);
  const domain = domainOf(tags.get('d'));
  const selector = domainOf(tags.get('s'));
  const signedAt = secondsOf(tags.get('t'));
  const expiresAt = secondsOf(tags.get('x'));
  return {
    id: `signature-${position}`,
    domain,
    selector,
    identity: tags.get('i') ?? `@${domain}`,
    algorithm: (tags.get('a') ?? '').toLowerCase(),
    canonicalization: canonicalizationOf(tags.get('c')),
    bits: null,
    result: null,
    cause: null,
    reason: null,
    headers: parseColonList(tags.get('h')),
    bodyLengthLimit: numberOf(tags.get('l')),
    unsignedBodyBytes: null,
    signedAt,
    expiresAt,
    expired: expiresAt !== null && receivedAt !== null && expiresAt < receivedAt,
    testing: false,
    keyName: `${selector}._domainkey.${domain}`,
    keyRecord: null,
    keyTexts: [],
    keyType: null,
    warnings:
      signedAt !== null && receivedAt !== null && signedAt > receivedAt + MAX_CLOCK_SKEW_MS
        ? ['signed-in-the-future']
        : [],
  };
}

/** The value of `b=` as mailauth reports it, which identifies a signature. */
export function signatureValue(value: string): string {
  return parseTagList(value).get('b')?.replace(/\s+/g, '') ?? '';
}

function domainOf(name: string | undefined): string {
  return name === undefined ? '' : (normalizeDomain(name) ?? name.toLowerCase());
}

function canonicalizationOf(value: string | undefined): string {
  const [header, body] = (value ?? '').toLowerCase().split('/');
  return `${header?.trim() || 'simple'}/${body?.trim() || 'simple'}`;
}

function numberOf(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

function secondsOf(value: string | undefined): number | null {
  // RFC 6376 §3.5 allows twelve digits.
  return value !== undefined && /^\d{1,12}$/.test(value) ? Number(value) * 1000 : null;
}

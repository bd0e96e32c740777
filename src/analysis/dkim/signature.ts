/** Finds the DKIM-Signature fields in the octets of a message and cuts out those beyond the limit. */

import { normalizeDomain } from '../../lib/domain-names.ts';
import { parseColonList, parseTagList } from '../dns/tag-list.ts';
import { LIMITS } from '../mime/message.ts';
import type { DkimSignature } from './outcome.ts';

/** More signatures than any honest message has; each may cost a DNS question and a verification. */
export const MAX_SIGNATURES = 10;

/** A longer signature is ignored too: each name in its `h=` is looked for in the whole header. */
const MAX_SIGNATURE_OCTETS = 8 * 1024;

// A field as mailauth reads it: what does not look like "name:" belongs to the field above, and a
// fold may stand before the colon. Both must agree on what a signature is, or the limit is none.
const FIELD_START = /(?<=^|\n)([\x21-\x39\x3b-\x7e]+)[ \t\r]*(?:\n[ \t\r]*)?:/g;

export interface SignatureFields {
  /** The values of the first signatures, unfolded (RFC 5322 §2.2.3). */
  values: string[];
  /** How many more there are. */
  ignored: number;
  /** The message without those; the very same octets where nothing had to be cut. */
  raw: Buffer;
  /** Octets of the header block, and its lines as far as it was read. */
  headerBytes: number;
  headerLines: number;
}

/**
 * The first `MAX_SIGNATURES` from the top, which is the newest first; all other octets stay as they
 * are. (A signature that signs one which is cut would no longer verify: nobody sends that.)
 */
export function takeSignatures(message: Uint8Array): SignatureFields {
  const raw = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const headerBytes = headerEnd(raw);
  const block = raw.toString('latin1', 0, Math.min(headerBytes, LIMITS.headerBytes));
  const starts = [...block.matchAll(FIELD_START)];
  const signatures = starts.flatMap((match, index) =>
    match[1]!.toLowerCase() === 'dkim-signature'
      ? [
          {
            from: match.index,
            colon: match[0].length,
            to: starts[index + 1]?.index ?? block.length,
          },
        ]
      : [],
  );
  const taken = signatures
    .filter(({ from, to }) => to - from <= MAX_SIGNATURE_OCTETS)
    .slice(0, MAX_SIGNATURES);
  const values = taken.map(({ from, colon, to }) => unfold(block.slice(from + colon, to)));
  const surplus = signatures.filter((signature) => !taken.includes(signature));
  return {
    values,
    ignored: surplus.length,
    raw: cut(raw, surplus),
    headerBytes,
    headerLines: block.split('\n').length,
  };
}

/** Where the empty line begins that ends the header block; the whole message where there is none. */
function headerEnd(raw: Buffer): number {
  if (raw[0] === 0x0a || (raw[0] === 0x0d && raw[1] === 0x0a)) return 0;
  const ends = ['\n\n', '\n\r\n'].map((end) => raw.indexOf(end)).filter((at) => at >= 0);
  return ends.length === 0 ? raw.length : Math.min(...ends) + 1;
}

function unfold(value: string): string {
  return Buffer.from(value.replace(/\r?\n/g, ''), 'latin1').toString('utf8').trim();
}

function cut(raw: Buffer, ranges: { from: number; to: number }[]): Buffer {
  if (ranges.length === 0) return raw;
  const kept: Buffer[] = [];
  let at = 0;
  for (const { from, to } of ranges) {
    kept.push(raw.subarray(at, from));
    at = to;
  }
  return Buffer.concat([...kept, raw.subarray(at)]);
}

// Reads what one DKIM-Signature field says of itself, before anything is verified (RFC 6376 §3.5).

/** A clock of the signer may be ahead of ours by this much before it is worth a word. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** `position` counts from 1; `receivedAt` in milliseconds decides what has expired. */
export function readSignature(value: string, position: number, receivedAt: number): DkimSignature {
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
    underSized: null,
    signedAt,
    expiresAt,
    expired: expiresAt !== null && expiresAt < receivedAt,
    testing: false,
    keyName: `${selector}._domainkey.${domain}`,
    keyRecord: null,
    keyType: null,
    warnings:
      signedAt !== null && signedAt > receivedAt + CLOCK_SKEW_MS ? ['signed-in-the-future'] : [],
  };
}

/** The value of `b=` as mailauth reports it: what tells one signature from another. */
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

/** Why the answers of a signed zone do not validate (RFC 4035 §5), as far as its records say. Pure. */

import { createHash } from 'node:crypto';
import type { DnsSignature } from '../../net/dns/reply.ts';
import type { ZoneSecurity } from './zone-survey.ts';

/**
 * `expired`, `not_yet`: the period of its signatures. `unsigned`: it has no keys or no signatures, but its parent zone
 * says that it is signed. `wrong_ds`: no key matches. `wrong_key`: signed with a key that it does not publish.
 */
export type DnssecFault =
  /** `at`: in milliseconds since the Unix epoch; null if unknown. */
  | { cause: 'expired' | 'not_yet'; at: number | null }
  | { cause: 'unsigned' | 'wrong_ds' | 'wrong_key' };

/**
 * Null if the records show no fault, or if validators do not know their algorithms, and so accept the zone (RFC 6840 §5.2).
 * Without a time, periods are not judged.
 */
export function dnssecFault(
  security: ZoneSecurity,
  zone: string,
  now: number | null,
): DnssecFault | null {
  const ds = security.ds.map(parseDs).filter(isSupported);
  if (ds.length === 0) return null;
  const { keys: keyTexts, signatures, keySignatures } = security;
  const keys = keyTexts?.map(parseKey) ?? null;
  if (keys?.length === 0) return { cause: 'unsigned' };
  if (keys && !ds.some((one) => keys.some((key) => matches(one, key, zone))))
    return { cause: 'wrong_ds' };
  for (const list of [signatures, keySignatures]) {
    const fault = list && periodFault(list, now);
    if (fault) return fault;
  }
  if (signatures?.length === 0 || keySignatures?.length === 0) return { cause: 'unsigned' };
  const tags = keys?.map(keyTag);
  if (tags && signatures?.every(({ keyTag: tag }) => tag !== null && !tags.includes(tag)))
    return { cause: 'wrong_key' };
  return extendedFault(security.extended);
}

/** One valid signature is enough. */
function periodFault(signatures: DnsSignature[], now: number | null): DnssecFault | null {
  if (signatures.length === 0 || now === null) return null;
  const ends = signatures.map(({ until }) => until);
  if (ends.every((end) => end < now)) return { cause: 'expired', at: Math.max(...ends) };
  const starts = signatures.map(({ from }) => from);
  return starts.every((start) => start > now)
    ? { cause: 'not_yet', at: Math.min(...starts) }
    : null;
}

/** What the resolver says (RFC 8914 §4). */
function extendedFault(extended: string[]): DnssecFault | null {
  const codes = extended.map((text) => Number.parseInt(text, 10));
  if (codes.includes(7)) return { cause: 'expired', at: null };
  if (codes.includes(8)) return { cause: 'not_yet', at: null };
  if (codes.includes(9)) return { cause: 'wrong_ds' };
  return codes.includes(10) ? { cause: 'unsigned' } : null;
}

/** Those that validators support (RFC 8624 §3). */
const DIGESTS: Record<number, string> = { 1: 'sha1', 2: 'sha256', 4: 'sha384' };
const ALGORITHMS = [5, 7, 8, 10, 13, 14, 15, 16];

interface Ds {
  tag: number;
  algorithm: number;
  digestType: number;
  digest: string;
}

function parseDs(text: string): Ds {
  const [tag, algorithm, digestType, ...digest] = text.split(/\s+/);
  return {
    tag: Number(tag),
    algorithm: Number(algorithm),
    digestType: Number(digestType),
    digest: digest.join('').toLowerCase(),
  };
}

const isSupported = ({ algorithm, digestType }: Ds): boolean =>
  ALGORITHMS.includes(algorithm) && digestType in DIGESTS;

/** The key tags of DS records, for sentences. */
export const dsTags = (ds: string[]): string[] => [
  ...new Set(ds.map((text) => String(parseDs(text).tag))),
];

interface Key {
  algorithm: number;
  /** The data of the record (RFC 4034 §2.1). */
  data: Buffer;
}

function parseKey(text: string): Key {
  const [flags, protocol, algorithm, ...key] = text.split(/\s+/);
  const head = Buffer.alloc(4);
  head.writeUInt16BE(Number(flags) & 0xffff);
  head.writeUInt8(Number(protocol) & 0xff, 2);
  head.writeUInt8(Number(algorithm) & 0xff, 3);
  return {
    algorithm: Number(algorithm),
    data: Buffer.concat([head, Buffer.from(key.join(''), 'base64')]),
  };
}

/** The key tag (RFC 4034, appendix B). */
function keyTag({ data }: Key): number {
  let sum = 0;
  for (const [index, byte] of data.entries()) sum += index % 2 === 0 ? byte << 8 : byte;
  return (sum + ((sum >> 16) & 0xffff)) & 0xffff;
}

/** Whether a DS record is that of a key (RFC 4034 §5.1.4). */
function matches(ds: Ds, key: Key, zone: string): boolean {
  if (ds.algorithm !== key.algorithm || ds.tag !== keyTag(key)) return false;
  const labels = zone.split('.').map((label) => Buffer.from(label));
  const owner = Buffer.concat(
    [...labels, Buffer.alloc(0)].flatMap((label) => [Buffer.from([label.length]), label]),
  );
  const digest = createHash(DIGESTS[ds.digestType]!).update(owner).update(key.data).digest('hex');
  return digest === ds.digest;
}

/** Encodes DNS queries and parses replies (RFC 1035 §4, RFC 2308, RFC 6891). */

import { randomInt } from 'node:crypto';
import {
  type Answer,
  AUTHENTIC_DATA,
  CHECKING_DISABLED,
  type DecodedPacket,
  DNSSEC_OK,
  decode,
  encode,
  RECURSION_DESIRED,
} from 'dns-packet';
import { normalizeAddress } from '../../lib/addresses.ts';
import type { DnsAnswer, DnsErrorReason, RecordType } from './resolver.ts';

/** Replies up to this size are never fragmented: the minimum MTU of IPv6, 1280, minus the headers. */
const EDNS_UDP_SIZE = 1232;
const HEADER_BYTES = 12;

export interface Query {
  name: string;
  type: RecordType;
  bytes: Buffer;
  /** Where the question section ends in `bytes`. */
  questionEnd: number;
}

/**
 * The name for a query: in lower case, without a trailing dot. Null for a name that cannot exist: an
 * empty label, a label over 63 or a name over 253 bytes (RFC 1035 §2.3.4), or characters other than
 * printable ASCII. Convert U-labels to A-labels first.
 */
export function normalizeQueryName(name: string): string | null {
  const bare = name.replace(/\.$/, '').toLowerCase();
  if (bare.length > 253 || !/^[\x20-\x7e]+$/.test(bare)) return null;
  return bare.split('.').every((label) => label.length >= 1 && label.length <= 63) ? bare : null;
}

export interface QueryOptions {
  edns: boolean;
  /** Asks a name server about its own zones only (RFC 1034 §4.3.1). */
  noRecursion?: boolean;
  /** Asks for data that does not validate too (CD, RFC 4035 §3.2.2). */
  unchecked?: boolean;
  /** Asks for signatures (DO, RFC 3225). */
  signatures?: boolean;
}

/** A query with a random id, recursion desired, and the AD bit set to request it (RFC 6840 §5.7). */
export function encodeQuery(name: string, type: RecordType, options: QueryOptions): Query {
  const { edns, noRecursion = false, unchecked = false, signatures = false } = options;
  const opt = {
    type: 'OPT' as const,
    name: '.',
    udpPayloadSize: EDNS_UDP_SIZE,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: signatures ? DNSSEC_OK : 0,
    flag_do: signatures,
    options: [],
  };
  const bytes = encode({
    type: 'query',
    id: randomInt(0x10000),
    flags:
      AUTHENTIC_DATA | (noRecursion ? 0 : RECURSION_DESIRED) | (unchecked ? CHECKING_DISABLED : 0),
    questions: [{ name, type, class: 'IN' }],
    additionals: edns ? [opt] : [],
  });
  return {
    name,
    type,
    bytes,
    questionEnd: HEADER_BYTES + name.length + 2 + 4,
  };
}

// Replies.

const MAX_ALIASES = 16;

export type ParsedReply =
  /** `cacheSeconds`: how long to cache the answer, based on its records or its SOA (RFC 2308 §5). */
  | { kind: 'answer'; answer: Exclude<DnsAnswer, { status: 'error' }>; cacheSeconds: number }
  | { kind: 'failure'; reason: DnsErrorReason }
  /** The TC bit is set: retry over TCP (RFC 7766 §5). */
  | { kind: 'truncated' }
  /** The server does not support EDNS: retry without it (RFC 6891 §7). */
  | { kind: 'no_edns' }
  /** Not a reply to this query; over UDP it may be forged (RFC 5452 §9.1). */
  | { kind: 'mismatch' };

/** Parses the reply to a query; never throws, whatever the bytes are. */
export function readReply(query: Query, reply: Buffer): ParsedReply {
  const read = readPacket(query, reply);
  if (read.kind !== 'packet') return read;
  const { packet, rcode } = read;
  if (rcode !== 0 && rcode !== 3) return failureOf(rcode);
  try {
    return readAnswer(query, packet, rcode === 3);
  } catch {
    return { kind: 'failure', reason: 'malformed' };
  }
}

export type ReadPacket =
  /** `rcode`: extended (RFC 6891 §6.1.3). */
  | { kind: 'packet'; packet: DecodedPacket; rcode: number }
  | Extract<ParsedReply, { kind: 'failure' | 'truncated' | 'mismatch' }>;

/** Decodes the reply to a query, whatever its response code; never throws. */
export function readPacket(query: Query, reply: Buffer): ReadPacket {
  const kind = replyKind(query, reply);
  if (kind !== 'whole') return { kind };
  const rcode = reply[3]! & 0x0f;
  try {
    const packet = decode(reply);
    const opt = packet.additionals?.find((record) => record.type === 'OPT');
    return {
      kind: 'packet',
      packet,
      rcode: rcode + (opt?.type === 'OPT' ? opt.extendedRcode << 4 : 0),
    };
  } catch {
    return { kind: 'failure', reason: 'malformed' };
  }
}

/** Whether the bytes are a reply to the query, and a whole one. */
export function replyKind(query: Query, reply: Buffer): 'whole' | 'truncated' | 'mismatch' {
  if (!isReplyTo(query, reply, (reply[3] ?? 0) & 0x0f)) return 'mismatch';
  // A truncated message may end in the middle of a record, so its content is ignored.
  return (reply[2]! & 0x02) === 0 ? 'whole' : 'truncated';
}

// The reply must repeat the question, except for letter case. A server that could not parse the
// question (FORMERR) may omit it.
function isReplyTo(query: Query, reply: Buffer, rcode: number): boolean {
  if (reply.length < HEADER_BYTES || reply.readUInt16BE(0) !== query.bytes.readUInt16BE(0))
    return false;
  if ((reply[2]! & 0xf8) !== 0x80) return false;
  const questions = reply.readUInt16BE(4);
  if (questions === 0) return rcode !== 0 && rcode !== 3;
  const nameEnd = query.questionEnd - 4;
  const nameOf = (bytes: Buffer) => bytes.toString('latin1', HEADER_BYTES, nameEnd).toLowerCase();
  return (
    questions === 1 &&
    nameOf(reply) === nameOf(query.bytes) &&
    reply
      .subarray(nameEnd, query.questionEnd)
      .equals(query.bytes.subarray(nameEnd, query.questionEnd))
  );
}

function failureOf(rcode: number): ParsedReply {
  if (lacksEdns(rcode)) return { kind: 'no_edns' };
  return { kind: 'failure', reason: isRefusal(rcode) ? 'refused' : 'servfail' };
}

/** Servers without EDNS reply with FORMERR, NOTIMP or BADVERS. */
export const lacksEdns = (rcode: number): boolean => rcode === 1 || rcode === 4 || rcode === 16;

export const isRefusal = (rcode: number): boolean => rcode === 5 || rcode === 9;

interface Sections {
  answers?: Answer[];
  authorities?: Answer[];
  flag_ra: boolean;
  flag_aa: boolean;
  flag_ad: boolean;
}

function readAnswer(query: Query, packet: Sections, nxdomain: boolean): ParsedReply {
  const answers = packet.answers ?? [];
  const authorities = packet.authorities ?? [];
  const { owner, ttl: aliasTtl } = followAliases(query, answers);
  const matching = answers.filter(
    (record) => record.type === query.type && record.name.toLowerCase() === owner,
  );
  if (matching.length === 0) {
    const soa = authorities.find((record) => record.type === 'SOA');
    const negativeTtl = soa?.type === 'SOA' ? Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0) : 0;
    // A referral comes from a server without recursion, and says nothing about the name.
    const isReferral = !soa && authorities.some((record) => record.type === 'NS');
    if (isReferral && !packet.flag_ra && !packet.flag_aa && !nxdomain)
      return { kind: 'failure', reason: 'refused' };
    return {
      kind: 'answer',
      answer: { status: nxdomain ? 'nxdomain' : 'nodata' },
      cacheSeconds: Math.min(negativeTtl, aliasTtl),
    };
  }
  const records = matching.map(recordText).filter((text) => text !== null);
  if (records.length === 0) return { kind: 'failure', reason: 'malformed' };
  const ttl = Math.min(aliasTtl, ...matching.map(ttlOf));
  return {
    kind: 'answer',
    answer: { status: 'found', records, ttl, authenticated: packet.flag_ad },
    cacheSeconds: ttl,
  };
}

// Follows the CNAME chain in the answer section, whatever the order of the records. A loop ends at the
// limit, at a name without the queried type.
function followAliases(query: Query, answers: Answer[]): { owner: string; ttl: number } {
  let owner = query.name;
  let ttl = Number.POSITIVE_INFINITY;
  for (let hops = 0; query.type !== 'CNAME' && hops < MAX_ALIASES; hops++) {
    const alias = answers.find(
      (record) => record.type === 'CNAME' && record.name.toLowerCase() === owner,
    );
    if (alias?.type !== 'CNAME') break;
    owner = alias.data.toLowerCase();
    ttl = Math.min(ttl, ttlOf(alias));
  }
  return { owner, ttl };
}

// A TTL with the top bit set counts as 0 (RFC 2181 §8).
function ttlOf(record: Answer): number {
  const ttl = record.type === 'OPT' ? 0 : (record.ttl ?? 0);
  return ttl > 0x7fffffff ? 0 : ttl;
}

// DNS records as text, in presentation format (RFC 1035 §5.1).

/**
 * The record as text: `10 mx.example.com`, `0 issue "ca.example"`, TXT strings joined without a
 * separator (RFC 7208 §3.3), names without a trailing dot and in lower case. Null for unsupported
 * types.
 */
export function recordText(record: Answer): string | null {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return normalizeAddress(record.data) === null ? null : record.data;
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return record.data.toLowerCase();
    case 'MX':
      return `${record.data.preference ?? 0} ${record.data.exchange.toLowerCase()}`;
    case 'TXT':
      return txtText(record.data);
    case 'CAA':
      return `${record.data.flags ?? 0} ${record.data.tag} "${record.data.value}"`;
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = record.data;
      return [mname, rname, serial, refresh, retry, expire, minimum].join(' ');
    }
    case 'DS': {
      const { keyTag, algorithm, digestType, digest } = record.data;
      return `${keyTag} ${algorithm} ${digestType} ${digest.toString('hex')}`;
    }
    case 'DNSKEY':
      return `${record.data.flags} 3 ${record.data.algorithm} ${record.data.key.toString('base64')}`;
    case 'TLSA': {
      const { usage, selector, matchingType, certificate } = record.data;
      return `${usage} ${selector} ${matchingType} ${certificate.toString('hex')}`;
    }
    default:
      return null;
  }
}

// Joins the strings as bytes, because a character may be split over two of them. Bytes that are not
// UTF-8 are decoded as Latin-1, not replaced: a stray byte in an SPF or DKIM record stays visible as
// a character above 127.
function txtText(data: string | Buffer | (string | Buffer)[]): string {
  const pieces = (Array.isArray(data) ? data : [data]).map((piece) => Buffer.from(piece));
  const bytes = Buffer.concat(pieces);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

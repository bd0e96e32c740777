/** What a DNS reply says to a question (RFC 1035 §4, RFC 2308, RFC 6891). */

import { type Answer, decode } from 'dns-packet';
import { HEADER_BYTES, type Query } from './dns-question.ts';
import { recordText } from './dns-records.ts';
import type { DnsAnswer, DnsErrorReason } from './resolver.ts';

const MAX_ALIASES = 16;

export type Reading =
  /** `keepSeconds`: how long the answer holds, by its records or its SOA (RFC 2308 §5). */
  | { kind: 'answer'; answer: Exclude<DnsAnswer, { status: 'error' }>; keepSeconds: number }
  | { kind: 'failure'; reason: DnsErrorReason }
  /** The TC bit: to be asked again over TCP (RFC 7766 §5). */
  | { kind: 'truncated' }
  /** The server does not know EDNS: to be asked again without it (RFC 6891 §7). */
  | { kind: 'no_edns' }
  /** Not a reply to this question; over UDP it may be forged (RFC 5452 §9.1). */
  | { kind: 'foreign' };

/** What the reply says to the question; never throws, whatever the bytes are. */
export function readReply(query: Query, reply: Buffer): Reading {
  const rcode = (reply[3] ?? 0) & 0x0f;
  if (!isReplyTo(query, reply, rcode)) return { kind: 'foreign' };
  // A cut message may end in the middle of a record: nothing of it is read.
  if ((reply[2]! & 0x02) !== 0) return { kind: 'truncated' };
  try {
    const packet = decode(reply);
    const opt = packet.additionals?.find((record) => record.type === 'OPT');
    const extended = rcode + (opt?.type === 'OPT' ? opt.extendedRcode << 4 : 0);
    if (extended !== 0 && extended !== 3) return refusal(extended);
    return readAnswer(query, packet, extended === 3);
  } catch {
    return { kind: 'failure', reason: 'malformed' };
  }
}

// The question must come back as it was asked, but for the case of its letters. A server that
// could not read the question (FORMERR) may leave it out.
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

function refusal(rcode: number): Reading {
  // FORMERR, NOTIMP and BADVERS are how a server without EDNS answers it.
  if (rcode === 1 || rcode === 4 || rcode === 16) return { kind: 'no_edns' };
  const refused = rcode === 5 || rcode === 9;
  return { kind: 'failure', reason: refused ? 'refused' : 'servfail' };
}

interface Sections {
  answers?: Answer[];
  authorities?: Answer[];
  flag_ra: boolean;
  flag_aa: boolean;
  flag_ad: boolean;
}

function readAnswer(query: Query, packet: Sections, nxdomain: boolean): Reading {
  const answers = packet.answers ?? [];
  const authorities = packet.authorities ?? [];
  const { owner, ttl: aliasTtl } = followAliases(query, answers);
  const matching = answers.filter(
    (record) => record.type === query.type && record.name.toLowerCase() === owner,
  );
  if (matching.length === 0) {
    const soa = authorities.find((record) => record.type === 'SOA');
    const keepSeconds = soa?.type === 'SOA' ? Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0) : 0;
    // A referral is from a server that does not look names up for us: it says nothing about the name.
    const referred = !soa && authorities.some((record) => record.type === 'NS');
    if (referred && !packet.flag_ra && !packet.flag_aa && !nxdomain)
      return { kind: 'failure', reason: 'refused' };
    return {
      kind: 'answer',
      answer: { status: nxdomain ? 'nxdomain' : 'nodata' },
      keepSeconds: Math.min(keepSeconds, aliasTtl),
    };
  }
  const records = matching.map(recordText).filter((text) => text !== null);
  if (records.length === 0) return { kind: 'failure', reason: 'malformed' };
  const ttl = Math.min(aliasTtl, ...matching.map(ttlOf));
  return {
    kind: 'answer',
    answer: { status: 'found', records, ttl, authenticated: packet.flag_ad },
    keepSeconds: ttl,
  };
}

// Where the CNAME chain of the answer section ends, in whatever order the records come; a loop
// ends at the limit, at a name without the type asked for.
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

// A time to live with the top bit set counts as 0 (RFC 2181 §8).
function ttlOf(record: Answer): number {
  const ttl = record.type === 'OPT' ? 0 : (record.ttl ?? 0);
  return ttl > 0x7fffffff ? 0 : ttl;
}

/** A DNS question as bytes (RFC 1035 §4, RFC 6891), for names that can exist. */

import { randomInt } from 'node:crypto';
import { AUTHENTIC_DATA, encode, RECURSION_DESIRED } from 'dns-packet';
import type { RecordType } from './resolver.ts';

/** Octets of an answer that pass every path in one piece: IPv6's least MTU, 1280, less the headers. */
const EDNS_UDP_SIZE = 1232;
export const HEADER_BYTES = 12;

export interface Query {
  name: string;
  type: RecordType;
  bytes: Buffer;
  /** Where the question section ends in `bytes`. */
  questionEnd: number;
}

/**
 * The name as it is asked, in lower case without a trailing dot; null for one that cannot exist: an
 * empty label, a label over 63 or a name over 253 octets (RFC 1035 §2.3.4), or characters that no
 * name of the mail world has (a U-label must come as an A-label; a control character never does).
 */
export function askableName(name: string): string | null {
  const bare = name.replace(/\.$/, '').toLowerCase();
  if (bare.length > 253 || !/^[\x20-\x7e]+$/.test(bare)) return null;
  return bare.split('.').every((label) => label.length >= 1 && label.length <= 63) ? bare : null;
}

/** A question with a random id, recursion desired and the AD bit asked for (RFC 6840 §5.7). */
export function encodeQuery(name: string, type: RecordType, edns: boolean): Query {
  const opt = {
    type: 'OPT' as const,
    name: '.',
    udpPayloadSize: EDNS_UDP_SIZE,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  };
  const bytes = encode({
    type: 'query',
    id: randomInt(0x10000),
    flags: RECURSION_DESIRED | AUTHENTIC_DATA,
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

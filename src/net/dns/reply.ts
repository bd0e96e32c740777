/** All that a DNS reply says, for finding out why lookups fail. `ask.ts` gets it. */

import type { DnsErrorReason, RecordType } from './resolver.ts';

export interface DnsQuestion {
  name: string;
  type: RecordType;
  /**
   * `resolver`: as for every lookup. `unchecked`: the resolver, without validation (RFC 4035 §3.2.2). Otherwise the IP
   * address of a name server, which is asked only about its own zones.
   */
  to: 'resolver' | 'unchecked' | (string & {});
}

export interface DnsReply {
  /** Why there is no answer; `forbidden`: the address is not public. Null for an answer, even an empty one. */
  failure: DnsErrorReason | 'forbidden' | null;
  /** NXDOMAIN. */
  missing: boolean;
  /** The AA bit: the server has the zone (RFC 1035 §4.1.1). */
  authoritative: boolean;
  /** The records of the type at the name, as text. */
  records: string[];
  /** Another zone that the server refers to, with its name servers and what it says about their addresses. */
  referral: { zone: string; hosts: string[]; addresses: Record<string, string[]> } | null;
  signatures: DnsSignature[];
  /** Extended errors (RFC 8914) as text, such as `7 Signature Expired: …`. */
  extended: string[];
}

/** A signature of the records of the type at the name, or of the SOA record in a denial (RFC 4034 §3). */
export interface DnsSignature {
  /** Of the key; null if unknown. */
  keyTag: number | null;
  /** In milliseconds since the Unix epoch. */
  from: number;
  until: number;
}

/** Never rejects, and takes about two seconds at most. */
export type AskDns = (question: DnsQuestion) => Promise<DnsReply>;

export const NO_REPLY: DnsReply = {
  failure: 'timeout',
  missing: false,
  authoritative: false,
  records: [],
  referral: null,
  signatures: [],
  extended: [],
};

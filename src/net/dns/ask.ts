/** Asks a resolver or one name server, and returns all that the reply says: for finding out why lookups fail. */

import type { DecodedPacket } from 'dns-packet';
import { type DnsServer, type Network, normalizeAddress } from '../../lib/addresses.ts';
import { startDeadline } from '../../lib/concurrency.ts';
import { mayConnect } from '../address-guard.ts';
import {
  encodeQuery,
  isRefusal,
  lacksEdns,
  normalizeQueryName,
  type QueryOptions,
  readPacket,
  recordText,
} from './message.ts';
import { type AskDns, type DnsReply, NO_REPLY } from './reply.ts';
import type { RecordType } from './resolver.ts';
import { sendQuery } from './transport.ts';

interface AskOptions {
  /** The resolver. */
  servers: DnsServer[];
  /** Name servers at private addresses are asked only in these networks. */
  allowNetworks?: Network[];
  /** Of name servers, for tests. */
  port?: number;
  attemptMs?: number;
}

const DNS_PORT = 53;

/** Each attempt opens a socket of its own. A server that is silent is asked once more, without EDNS. */
export function createAskDns(options: AskOptions): AskDns {
  const { servers, allowNetworks, port = DNS_PORT, attemptMs = 1000 } = options;
  return async ({ name, type, to }) => {
    const normalized = normalizeQueryName(name);
    if (normalized === null) return { ...NO_REPLY, failure: null, missing: true };
    const isResolver = to === 'resolver' || to === 'unchecked';
    const address = isResolver ? null : normalizeAddress(to);
    if (!isResolver && (address === null || !mayConnect(address, allowNetworks)))
      return { ...NO_REPLY, failure: 'forbidden' };
    const targets = address === null ? servers.slice(0, 2) : [{ host: address, port }];
    const asked = { signatures: true, unchecked: to !== 'resolver', noRecursion: !isResolver };
    let reply = NO_REPLY;
    for (const target of targets) {
      reply = await attempt(target, normalized, type, { ...asked, edns: true }, attemptMs);
      if (reply.failure === 'timeout' || reply.failure === 'malformed')
        reply = await attempt(target, normalized, type, { ...asked, edns: false }, attemptMs);
      if (reply.failure === null) break;
    }
    return reply;
  };
}

async function attempt(
  server: DnsServer,
  name: string,
  type: RecordType,
  options: QueryOptions,
  attemptMs: number,
): Promise<DnsReply> {
  const { signal, stop } = startDeadline(attemptMs);
  try {
    const query = encodeQuery(name, type, options);
    const received = await sendQuery(server, query, signal);
    const read = received.kind === 'whole' ? readPacket(query, received.bytes) : received;
    if (read.kind === 'failure') return { ...NO_REPLY, failure: read.reason };
    if (read.kind !== 'packet') return { ...NO_REPLY, failure: 'malformed' };
    // Asked again without EDNS, as a server that is silent.
    if (lacksEdns(read.rcode))
      return { ...NO_REPLY, failure: options.edns ? 'malformed' : 'servfail' };
    return replyOf(read.packet, read.rcode, name, type);
  } catch {
    return { ...NO_REPLY, failure: 'unreachable' };
  } finally {
    stop();
  }
}

function replyOf(packet: DecodedPacket, rcode: number, name: string, type: RecordType): DnsReply {
  const extended = extendedErrors(packet);
  if (rcode !== 0 && rcode !== 3)
    return { ...NO_REPLY, extended, failure: isRefusal(rcode) ? 'refused' : 'servfail' };
  const { answers = [], authorities = [] } = packet;
  const records = answers.flatMap((record) =>
    record.type === type && isAt(record, name) ? (recordText(record) ?? []) : [],
  );
  const soa = authorities.find((record) => record.type === 'SOA');
  return {
    failure: null,
    missing: rcode === 3,
    authoritative: packet.flag_aa,
    records,
    referral: soa || answers.length > 0 ? null : referralOf(packet),
    signatures: [...answers, ...authorities].flatMap((record) => {
      if (record.type !== 'RRSIG') return [];
      const { typeCovered, keyTag, inception, expiration } = record.data;
      const covers =
        (typeCovered === type && isAt(record, name)) ||
        (records.length === 0 && typeCovered === 'SOA');
      return covers ? [{ keyTag, from: inception * 1000, until: expiration * 1000 }] : [];
    }),
    extended,
  };
}

const isAt = (record: { name: string }, name: string): boolean =>
  record.name.toLowerCase() === name;

function referralOf({ authorities = [], additionals = [] }: DecodedPacket): DnsReply['referral'] {
  const records = authorities.flatMap((record) => (record.type === 'NS' ? record : []));
  const zone = records[0]?.name.toLowerCase();
  if (zone === undefined) return null;
  const hosts = records.map(({ data }) => data.toLowerCase());
  const addresses: Record<string, string[]> = {};
  for (const record of additionals) {
    if (record.type !== 'A' && record.type !== 'AAAA') continue;
    const host = record.name.toLowerCase();
    if (hosts.includes(host)) addresses[host] = [...(addresses[host] ?? []), record.data];
  }
  return { zone, hosts: [...new Set(hosts)], addresses };
}

/** The option of EDNS (RFC 8914 §2). */
const EXTENDED_ERROR = 15;

/** Those about DNSSEC, about servers that do not answer, and about resolvers that refuse (RFC 8914 §4). */
const EXTENDED_NAMES: Record<number, string> = {
  1: 'Unsupported DNSKEY Algorithm',
  2: 'Unsupported DS Digest Type',
  5: 'DNSSEC Indeterminate',
  6: 'DNSSEC Bogus',
  7: 'Signature Expired',
  8: 'Signature Not Yet Valid',
  9: 'DNSKEY Missing',
  10: 'RRSIGs Missing',
  11: 'No Zone Key Bit Set',
  12: 'NSEC Missing',
  15: 'Blocked',
  16: 'Censored',
  17: 'Filtered',
  18: 'Prohibited',
  22: 'No Reachable Authority',
  23: 'Network Error',
};

const MAX_EXTENDED = 5;
const MAX_EXTENDED_TEXT = 120;

function extendedErrors({ additionals = [] }: DecodedPacket): string[] {
  const opt = additionals.find((record) => record.type === 'OPT');
  if (opt?.type !== 'OPT') return [];
  const errors = opt.options.flatMap((option) => {
    const { code, data } = option as { code: number; data?: Buffer };
    if (code !== EXTENDED_ERROR || !data || data.length < 2) return [];
    const number = data.readUInt16BE(0);
    const text = data.toString('utf8', 2).replaceAll('\0', '').slice(0, MAX_EXTENDED_TEXT);
    const name = `${number} ${EXTENDED_NAMES[number] ?? 'Error'}`;
    return [text === '' ? name : `${name}: ${text}`];
  });
  return errors.slice(0, MAX_EXTENDED);
}

/** DNS in memory that may be dead for others: a resolver that validates, what it hides, and the name servers of zones. */

import { organizationalDomain } from '../../src/lib/domain-names.ts';
import { type AskDns, type DnsReply, NO_REPLY } from '../../src/net/dns/reply.ts';
import { type DnsAnswer, type Resolver, recordsOf } from '../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';

export type WorldServer = {
  /** Null: the parent zone does not say where it is. */
  address: string | null;
  answers: 'yes' | 'timeout' | 'refused' | 'servfail' | 'lame';
};

export interface DnsWorld {
  /** As the resolver answers; `fails` for what it rejects. */
  zone: Zone;
  /** Names as the resolver answers them without validation (CD). */
  unchecked?: Zone;
  /** Extended errors by name, such as `7 Signature Expired`. */
  ede?: Record<string, string>;
  /** The delegation as the parent zone has it, by zone; two servers that answer for all other zones. */
  servers?: Record<string, Record<string, WorldServer>>;
  /** DS records of the parent zone, by zone. */
  ds?: Record<string, string[]>;
  /** Of a signed zone, in milliseconds since the Unix epoch; from 1970 without end if missing. `none`: no signature at all. */
  signatures?: Record<string, { from: number; until: number } | 'none'>;
}

const PARENT = { host: 'a.gtld-servers.net', address: '192.0.2.250' };
const DEFAULT_SERVERS: Record<string, WorldServer> = {
  'ns1.dns.invalid': { address: '192.0.2.251', answers: 'yes' },
  'ns2.dns.invalid': { address: '192.0.2.252', answers: 'yes' },
};

const found = (records: string[]): DnsAnswer => ({
  status: 'found',
  records,
  ttl: 300,
  authenticated: false,
});

/** For `analyzeDomain`. */
export function dnsWorld(world: DnsWorld): { resolver: Resolver; askDns: AskDns } {
  const { zone, unchecked = {}, ede = {}, servers = {}, ds = {}, signatures = {} } = world;
  const checked = zoneResolver(zone);
  const hidden = zoneResolver({ ...zone, ...unchecked });
  const zones = new Set([...Object.keys(servers), ...Object.keys(ds)]);
  const zoneOf = (name: string): string => {
    const all = [...zones].filter((one) => name === one || name.endsWith(`.${one}`));
    return all.toSorted((a, b) => b.length - a.length)[0] ?? organizationalDomain(name) ?? name;
  };
  const serversOf = (name: string) => servers[zoneOf(name)] ?? DEFAULT_SERVERS;
  const allServers = Object.assign({}, DEFAULT_SERVERS, ...Object.values(servers));
  const resolver: Resolver = async (name, type) => {
    const answer = await checked(name, type);
    if (type === 'DS') return ds[name] ? found(ds[name]) : { status: 'nodata' };
    if (answer.status === 'found') return answer;
    if (type === 'A' && name === PARENT.host) return found([PARENT.address]);
    if (type === 'A' && allServers[name]?.address) return found([allServers[name].address]);
    if (type !== 'NS' || zone[name]) {
      return type === 'NS' && answer.status === 'nodata' && zoneOf(name) === name
        ? found(Object.keys(serversOf(name)))
        : answer;
    }
    return name.includes('.') && organizationalDomain(name) !== null
      ? answer
      : found([PARENT.host]);
  };
  const replyOf = (name: string, answer: DnsAnswer, authoritative: boolean): DnsReply => {
    if (answer.status === 'error')
      return { ...NO_REPLY, failure: answer.reason, extended: ede[name] ? [ede[name]] : [] };
    const apex = zoneOf(name);
    const period = signatures[apex] ?? { from: 0, until: Number.MAX_SAFE_INTEGER };
    return {
      ...NO_REPLY,
      failure: null,
      missing: answer.status === 'nxdomain',
      authoritative,
      records: recordsOf(answer) ?? [],
      signatures: ds[apex] && period !== 'none' ? [{ ...period, keyTag: null }] : [],
    };
  };
  const askDns: AskDns = async ({ name, type, to }) => {
    if (to === 'resolver') return replyOf(name, await resolver(name, type), false);
    const answer = await hidden(name, type);
    // What the world does not say about keys is unknown.
    const known: DnsAnswer =
      type === 'DNSKEY' &&
      answer.status !== 'found' &&
      !(unchecked[name] && 'DNSKEY' in unchecked[name])
        ? { status: 'error', reason: 'servfail' }
        : answer;
    if (to === 'unchecked') return replyOf(name, known, false);
    if (to === PARENT.address) {
      const hosts = serversOf(name);
      const addresses = Object.fromEntries(
        Object.entries(hosts).flatMap(([host, { address }]) =>
          address ? [[host, [address]]] : [],
        ),
      );
      const referral = { zone: zoneOf(name), hosts: Object.keys(hosts), addresses };
      return { ...NO_REPLY, failure: null, referral };
    }
    const server = Object.values(serversOf(name)).find(({ address }) => address === to);
    const state = server?.answers ?? 'timeout';
    if (state === 'lame') return { ...NO_REPLY, failure: null };
    if (state !== 'yes') return { ...NO_REPLY, failure: state };
    const own = known.status === 'error' && type !== 'DNSKEY' ? found([]) : known;
    return replyOf(name, own, true);
  };
  return { resolver, askDns };
}

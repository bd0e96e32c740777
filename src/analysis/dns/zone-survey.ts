/**
 * Collects what is needed to say why the DNS of a domain fails for others: the delegation, what each of its servers
 * answers, and the facts about DNSSEC. `dead-zone.ts` judges them.
 */

import { isIP } from 'node:net';
import { organizationalDomain } from '../../lib/domain-names.ts';
import { KNOWN } from '../../net/dns/denials.ts';
import { type AskDns, type DnsReply, type DnsSignature, NO_REPLY } from '../../net/dns/reply.ts';
import { type RecordType, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { FailedLookup } from '../check.ts';
import { meantName } from './appended-zone.ts';

/**
 * What a name server answers for the zone. `yes`: with authority. `lame`: it does not have the zone. `no_address`: its
 * name has no address. `unknown`: it could not be asked.
 */
export type ServerAnswer =
  | 'yes'
  | 'timeout'
  | 'refused'
  | 'servfail'
  | 'lame'
  | 'no_address'
  | 'unknown';

export interface ZoneServer {
  host: string;
  address: string | null;
  answer: ServerAnswer;
}

export interface ZoneFacts {
  domain: string;
  /** The zone of the domain, as far as is known. */
  zone: string;
  /** Essential lookups that failed at the resolver. */
  failed: FailedLookup[];
  /** The resolver finds a name that exists. */
  resolverWorks: boolean;
  /** A server of the parent zone or of the zone answered as such servers do, so the network lets DNS queries through. */
  isDirect: boolean;
  /** As the parent zone has them; null if unknown. */
  parentHosts: string[] | null;
  /** As the zone itself has them; null if unknown. */
  ownHosts: string[] | null;
  servers: ZoneServer[];
  /** Names in NS records to which the zone was appended, with the names that were meant. */
  appended: { host: string; meant: string }[];
  /** Null without signs of DNSSEC, or if everything validates. */
  security: ZoneSecurity | null;
}

export interface ZoneSecurity {
  /** DS records of the parent zone. */
  ds: string[];
  /** DNSKEY records, not validated; null if unknown. */
  keys: string[] | null;
  /** Of the keys, and of the records that were looked up; null if unknown. */
  keySignatures: DnsSignature[] | null;
  signatures: DnsSignature[] | null;
  /** The resolver answers without validation. */
  answersUnchecked: boolean;
  /** Extended errors of the resolver. */
  extended: string[];
}

const ESSENTIAL: RecordType[] = ['SOA', 'NS', 'MX', 'TXT'];
const MAX_SERVERS = 8;
const MAX_ADDRESSES = 2;
const MAX_PARENT_LABELS = 4;
/** A parent zone, eight servers at up to two addresses each, and DNSSEC. */
const MAX_QUESTIONS = 24;

/** Null if the name does not exist, or if lookups are not possible at all. */
export async function surveyZone(
  domain: string,
  resolver: Resolver,
  askDns: AskDns,
): Promise<ZoneFacts | null> {
  const ask = limited(askDns);
  const answers = await Promise.all(ESSENTIAL.map((type) => resolver(domain, type)));
  const failed = answers.flatMap((answer, index): FailedLookup[] =>
    answer.status === 'error'
      ? [{ name: domain, type: ESSENTIAL[index]!, reason: answer.reason }]
      : [],
  );
  if (failed.some(({ reason }) => reason === 'disabled' || reason === 'limit')) return null;
  if (answers.some(({ status }) => status === 'nxdomain')) return null;
  const known = failed.length === 0 || (await resolver(KNOWN.name, KNOWN.type)).status === 'found';
  const own = answers[1]!.status === 'found' ? recordsOf(answers[1]!) : null;
  const found = known ? await findServers({ domain, own, failed }, resolver, ask) : null;
  const zone = found?.zone ?? organizationalDomain(domain) ?? domain;
  const servers = found?.servers ?? [];
  const ownHosts = zone === domain ? (own?.map(toHost) ?? null) : null;
  const isValidated = answers.some((answer) => answer.status === 'found' && answer.authenticated);
  return {
    domain,
    zone,
    failed,
    resolverWorks: known,
    isDirect: found?.isDirect === true || servers.some(({ answer }) => answer === 'yes'),
    parentHosts: found?.parentHosts ?? null,
    ownHosts,
    servers: servers.map(({ host, address, answer }): ZoneServer => ({ host, address, answer })),
    appended: await appendedHosts(zone, servers, ownHosts ?? [], resolver),
    security:
      !known || (isValidated && failed.length === 0)
        ? null
        : await surveySecurity({ domain, zone, failed, servers }, resolver, ask),
  };
}

function limited(ask: AskDns): AskDns {
  let questions = 0;
  return async (question): Promise<DnsReply> => {
    questions += 1;
    return questions > MAX_QUESTIONS ? { ...NO_REPLY, failure: 'limit' } : ask(question);
  };
}

const toHost = (name: string): string => name.toLowerCase().replace(/\.$/, '');

// The delegation and its servers.

interface AskedServer extends ZoneServer {
  reply: DnsReply | null;
}

interface Delegation {
  zone: string;
  hosts: string[];
  /** Addresses in the referral of the parent zone (RFC 9471); null without a referral. */
  glue: Record<string, string[]> | null;
}

async function findServers(
  { domain, own, failed }: { domain: string; own: string[] | null; failed: FailedLookup[] },
  resolver: Resolver,
  ask: AskDns,
) {
  const parent = await askParent(domain, resolver, ask);
  // A firewall here seems to stop such queries, and more of them would only take time.
  if (parent === 'silent' && failed.length === 0) return null;
  const delegation = parent === 'silent' ? null : parent;
  if (!delegation && own === null) return null;
  let current: Delegation = delegation ?? {
    zone: domain,
    hosts: (own ?? []).map(toHost),
    glue: null,
  };
  let servers = await askServers(domain, current, resolver, ask);
  const deeper = servers.flatMap(({ reply }) => deeperZone(reply, domain, current.zone) ?? [])[0];
  if (deeper) {
    current = deeper;
    servers = await askServers(domain, current, resolver, ask);
  }
  const parentHosts = delegation ? current.hosts : null;
  return { zone: current.zone, servers, isDirect: delegation !== null, parentHosts };
}

/** The delegation as a server of the parent zone has it; null if none answers as such servers do. */
async function askParent(
  domain: string,
  resolver: Resolver,
  ask: AskDns,
): Promise<Delegation | 'silent' | null> {
  const registered = organizationalDomain(domain) ?? domain;
  const labels = registered.split('.').slice(0, 1 + MAX_PARENT_LABELS);
  for (let above = 1; above < labels.length; above++) {
    const parent = registered.split('.').slice(above).join('.');
    const hosts = recordsOf(await resolver(parent, 'NS'));
    if (hosts === null) return null;
    if (hosts.length === 0) continue;
    let isSilent = false;
    for (const host of hosts.slice(0, MAX_ADDRESSES)) {
      const [address] = recordsOf(await resolver(toHost(host), 'A')) ?? [];
      const reply = address ? await ask({ name: domain, type: 'NS', to: address }) : null;
      const deeper = deeperZone(reply, domain, parent);
      if (deeper) return deeper;
      if (reply?.authoritative && reply.records.length > 0)
        return { zone: domain, hosts: reply.records.map(toHost), glue: null };
      if (reply?.authoritative) return null;
      isSilent = reply?.failure === 'timeout' || reply?.failure === 'unreachable';
    }
    return isSilent ? 'silent' : null;
  }
  return null;
}

/** The zone below `zone` to which a server refers for the domain. */
function deeperZone(reply: DnsReply | null, domain: string, zone: string): Delegation | null {
  const referral = reply?.referral;
  if (!referral || !isWithin(referral.zone, zone) || referral.zone === zone) return null;
  if (!isWithin(domain, referral.zone)) return null;
  return {
    zone: referral.zone,
    hosts: referral.hosts.map(toHost),
    glue: referral.addresses,
  };
}

const isWithin = (name: string, zone: string): boolean =>
  name === zone || name.endsWith(`.${zone}`);

const askServers = (
  domain: string,
  delegation: Delegation,
  resolver: Resolver,
  ask: AskDns,
): Promise<AskedServer[]> =>
  Promise.all(
    delegation.hosts
      .slice(0, MAX_SERVERS)
      .map((host) => askServer(domain, host, delegation, resolver, ask)),
  );

/** Asks a server at its first addresses, until one answers with authority. */
async function askServer(
  domain: string,
  host: string,
  { zone, glue }: Delegation,
  resolver: Resolver,
  ask: AskDns,
): Promise<AskedServer> {
  const addresses = glue?.[host] ?? (await addressesOf(host, resolver));
  if (addresses === null) {
    // Only the parent zone could say where a server inside the zone is (RFC 9471 §2.1).
    const answer = glue && isWithin(host, zone) ? 'no_address' : 'unknown';
    return { host, address: null, answer, reply: null };
  }
  if (addresses.length === 0) return { host, address: null, answer: 'no_address', reply: null };
  const sorted = addresses.toSorted((a, b) => isIP(a) - isIP(b)).slice(0, MAX_ADDRESSES);
  let outcome: AskedServer = { host, address: null, answer: 'unknown', reply: null };
  for (const address of sorted) {
    const reply = await ask({ name: domain, type: 'SOA', to: address });
    const answer = answerOf(reply, domain, isIP(address) === 6);
    if (outcome.answer === 'unknown' || answer === 'yes')
      outcome = { host, address, answer, reply };
    if (answer === 'yes') break;
  }
  return outcome;
}

/** IPv6 addresses only if there are no others. Null if unknown. */
async function addressesOf(host: string, resolver: Resolver): Promise<string[] | null> {
  const ipv4 = recordsOf(await resolver(host, 'A'));
  if (ipv4 === null || ipv4.length > 0) return ipv4;
  return recordsOf(await resolver(host, 'AAAA'));
}

/** This machine may have no IPv6, so silence over IPv6 says nothing. */
function answerOf(reply: DnsReply, domain: string, isIpv6: boolean): ServerAnswer {
  const { failure, authoritative, referral } = reply;
  if (failure === null) {
    if (authoritative) return 'yes';
    // Some servers never set the bit.
    if (reply.records.length > 0) return 'unknown';
    // It has the zone, which delegates the domain.
    const refersDown = referral !== null && referral.zone !== '' && isWithin(domain, referral.zone);
    return refersDown && referral.zone.split('.').length > 1 ? 'yes' : 'lame';
  }
  if (failure === 'refused' || failure === 'servfail') return failure;
  if (failure === 'timeout' || failure === 'unreachable') return isIpv6 ? 'unknown' : 'timeout';
  return 'unknown';
}

/** A name below a zone that fails cannot be looked up itself. */
async function appendedHosts(
  zone: string,
  servers: ZoneServer[],
  ownHosts: string[],
  resolver: Resolver,
): Promise<ZoneFacts['appended']> {
  const missing = servers.filter(({ answer }) => answer === 'no_address').map(({ host }) => host);
  const hosts = [...new Set([...servers.map(({ host }) => host), ...ownHosts])];
  const found = await Promise.all(
    hosts.slice(0, MAX_SERVERS).map(async (host) => {
      const isMissing = missing.includes(host);
      const meant = await meantName(host, zone, ['A', 'AAAA'], resolver, isMissing);
      return meant === null ? [] : [{ host, meant }];
    }),
  );
  return found.flat();
}

// DNSSEC.

interface Surveyed {
  domain: string;
  zone: string;
  failed: FailedLookup[];
  servers: AskedServer[];
}

/** Null if the parent zone has no DS record, or that is unknown: the zone is then not signed for anybody. */
async function surveySecurity(
  { domain, zone, failed, servers }: Surveyed,
  resolver: Resolver,
  ask: AskDns,
): Promise<ZoneSecurity | null> {
  const ds = recordsOf(await resolver(zone, 'DS'));
  const [first] = failed;
  const type = first?.type ?? 'SOA';
  const asResolver = first ? await ask({ name: domain, type, to: 'resolver' }) : null;
  const extended = asResolver?.extended ?? [];
  if (ds === null || ds.length === 0)
    return extended.length === 0
      ? null
      : {
          ds: [],
          keys: null,
          keySignatures: null,
          signatures: null,
          answersUnchecked: false,
          extended,
        };
  const [data, keys] = await Promise.all([
    ask({ name: domain, type, to: 'unchecked' }),
    ask({ name: zone, type: 'DNSKEY', to: 'unchecked' }),
  ]);
  const working = servers.find(({ answer }) => answer === 'yes');
  const direct = working?.address
    ? await ask({ name: zone, type: 'DNSKEY', to: working.address })
    : null;
  // What a server of the zone says counts more than what the resolver passes on, which may leave signatures out.
  const keyReply = [direct, keys].find((reply) => reply?.failure === null) ?? null;
  const dataReply =
    [type === 'SOA' ? working?.reply : null, data].find((reply) => reply?.failure === null) ??
    working?.reply ??
    null;
  // A resolver that does not validate may leave out what it does not know, so only what it has counts.
  const ifComplete = <T>(reply: DnsReply | null, list: T[] | undefined): T[] | null =>
    reply && list && (list.length > 0 || reply.authoritative || first !== undefined) ? list : null;
  return {
    ds,
    keys: ifComplete(keyReply, keyReply?.records),
    keySignatures: ifComplete(keyReply, keyReply?.signatures),
    signatures: ifComplete(dataReply, dataReply?.signatures),
    answersUnchecked: data.failure === null,
    extended,
  };
}

/** Finds the mail servers of a domain: its MX records, or its own address (RFC 5321 §5.1, RFC 7505). */

import { isLocalAddress } from '../../lib/addresses.ts';
import { type DnsAnswer, parseMx } from '../../net/dns/resolver.ts';
import type { Context, FailedLookup } from '../check.ts';
import { meantName } from './appended-zone.ts';
import { type HostMistake, mistypedHost } from './mistyped-host.ts';

/** Senders rarely try more hosts. */
const MAX_HOSTS = 10;

export interface MailHost {
  name: string;
  preference: number;
  /** Whether the host has an address; null if unknown. */
  resolves: boolean | null;
  /** Whether the host has an address of this version; null if unknown. */
  ipv4: boolean | null;
  ipv6: boolean | null;
  /** Why senders cannot use it, or must not be sent to it; null if it is usable, as far as is known. */
  problem: HostProblem | null;
  /** Its addresses that no sender reaches. */
  unreachable: string[];
  /** The name that was meant; null if this one is right, or if it is not certain. */
  meant: string | null;
}

/**
 * `label`: a name without a dot. `appended`: the zone was appended to the name. `alias`: a CNAME (RFC 2181 §10.3).
 * `unreachable`: only addresses that no sender reaches, such as private ones. `partly_unreachable`: some of them.
 * `underscore`: not in host names (RFC 1123 §2.1).
 */
export type HostProblem =
  | HostMistake
  | 'label'
  | 'appended'
  | 'alias'
  | 'unreachable'
  | 'partly_unreachable'
  | 'underscore';

export interface MailHosts {
  domain: string;
  /**
   * `mx`: MX records. `address`: no MX records, but an address, which then counts as the mail server.
   * `null_mx`: accepts no mail. `nothing`: neither MX nor address. `error`: a lookup failed.
   */
  kind: 'mx' | 'address' | 'null_mx' | 'nothing' | 'error';
  /** By preference, each once. */
  hosts: MailHost[];
  /** A null MX beside MX records, which RFC 7505 §3 forbids. */
  hasNullMx: boolean;
  /** Names in several MX records. */
  repeated: string[];
  unanswered: FailedLookup[];
}

// A fact: caches lookups, because several checks look up the same domains.
const hostCache = (_context: Context) => new Map<string, Promise<MailHosts>>();

/** The mail servers of a normalized domain, looked up once for each analysis. Never rejects. */
export function mailHosts(context: Context, domain: string): Promise<MailHosts> {
  const cache = context.fact(hostCache);
  const hosts = cache.get(domain) ?? lookUp(context, domain);
  cache.set(domain, hosts);
  return hosts;
}

async function lookUp(context: Context, domain: string): Promise<MailHosts> {
  const unanswered: FailedLookup[] = [];
  const none = { domain, hosts: [], hasNullMx: false, repeated: [], unanswered };
  const resolveHost = (name: string, preference: number) =>
    lookUpHost(context, { name, preference, domain }, unanswered);
  const answer = await context.resolver(domain, 'MX');
  if (answer.status === 'error') {
    unanswered.push({ name: domain, type: 'MX', reason: answer.reason });
    return { ...none, kind: 'error' };
  }
  if (answer.status === 'nxdomain') return { ...none, kind: 'nothing' };
  if (answer.status === 'nodata') {
    const host = await resolveHost(domain, 0);
    const kind = host.resolves === null ? 'error' : host.resolves ? 'address' : 'nothing';
    return { ...none, kind, hosts: kind === 'address' ? [host] : [] };
  }
  const all = answer.records.map(parseMx);
  const named = all.filter(({ exchange }) => exchange !== '.');
  if (named.length === 0) return { ...none, kind: 'null_mx' };
  named.sort((a, b) => a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1));
  const exchanges = [...Map.groupBy(named, ({ exchange }) => exchange).values()];
  const hosts = await Promise.all(
    exchanges.slice(0, MAX_HOSTS).map(([first]) => resolveHost(first!.exchange, first!.preference)),
  );
  const repeated = exchanges.flatMap(([first, second]) => (second ? [first!.exchange] : []));
  return {
    ...none,
    kind: 'mx',
    hosts,
    hasNullMx: named.length < all.length,
    repeated,
  };
}

interface Exchange {
  name: string;
  preference: number;
  /** The one with the MX record. */
  domain: string;
}

async function lookUpHost(
  { resolver }: Context,
  { name, preference, domain }: Exchange,
  unanswered: FailedLookup[],
): Promise<MailHost> {
  const mistyped = mistypedHost(name, domain);
  if (mistyped) {
    const { mistake: problem, meant } = mistyped;
    return {
      name,
      preference,
      resolves: false,
      ipv4: false,
      ipv6: false,
      problem,
      unreachable: [],
      meant,
    };
  }
  const answers = await Promise.all(ADDRESS_TYPES.map((type) => resolver(name, type)));
  answers.forEach((answer, index) => {
    if (answer.status === 'error')
      unanswered.push({ name, type: ADDRESS_TYPES[index]!, reason: answer.reason });
  });
  const [ipv4, ipv6] = answers.map(hasRecords) as [boolean | null, boolean | null];
  const resolves = ipv4 || ipv6 ? true : ipv4 === null || ipv6 === null ? null : false;
  const addresses = answers.flatMap((answer) => (answer.status === 'found' ? answer.records : []));
  // If a lookup failed, the host may have other addresses.
  const isComplete = answers.every(({ status }) => status !== 'error');
  const meant =
    name === domain ? null : await meantName(name, domain, [...ADDRESS_TYPES], resolver);
  const unreachable = addresses.filter(isLocalAddress);
  const areAll = isComplete && unreachable.length === addresses.length;
  const problem =
    meant === null ? await problemOf(resolver, name, unreachable, areAll) : 'appended';
  return { name, preference, resolves, ipv4, ipv6, problem, unreachable, meant };
}

const ADDRESS_TYPES = ['A', 'AAAA'] as const;

async function problemOf(
  resolver: Context['resolver'],
  name: string,
  unreachable: string[],
  areAll: boolean,
): Promise<HostProblem | null> {
  if (!name.includes('.')) return 'label';
  if ((await resolver(name, 'CNAME')).status === 'found') return 'alias';
  if (unreachable.length === 0) return name.includes('_') ? 'underscore' : null;
  return areAll ? 'unreachable' : 'partly_unreachable';
}

function hasRecords(answer: DnsAnswer): boolean | null {
  return answer.status === 'error' ? null : answer.status === 'found';
}

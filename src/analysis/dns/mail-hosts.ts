/** Finds the mail servers of a domain: its MX records, or its own address (RFC 5321 §5.1, RFC 7505). */

import { isLocalAddress, normalizeAddress } from '../../lib/addresses.ts';
import { type DnsAnswer, parseMx } from '../../net/dns/resolver.ts';
import type { Context, FailedLookup } from '../check.ts';

/** Senders rarely try more hosts. */
const MAX_HOSTS = 10;

export interface MailHost {
  name: string;
  preference: number;
  /** Whether the host has an address; null if unknown. */
  resolves: boolean | null;
  /** Whether the host has an IPv6 address; null if unknown. */
  ipv6: boolean | null;
  /** Why senders cannot use it, or must not be sent to it; null if it is usable, as far as is known. */
  problem: HostProblem | null;
}

/**
 * `literal`: an IP address instead of a name. `label`: a name without a dot. `alias`: a CNAME (RFC 2181 §10.3).
 * `unreachable`: only addresses that no sender reaches, such as private ones. `partly_unreachable`: some of them.
 */
export type HostProblem = 'literal' | 'label' | 'alias' | 'unreachable' | 'partly_unreachable';

export interface MailHosts {
  domain: string;
  /**
   * `mx`: MX records. `address`: no MX records, but an address, which then counts as the mail server.
   * `null_mx`: accepts no mail. `nothing`: neither MX nor address. `error`: a lookup failed.
   */
  kind: 'mx' | 'address' | 'null_mx' | 'nothing' | 'error';
  hosts: MailHost[];
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
  const resolveHost = (name: string, preference: number) =>
    lookUpHost(context, name, preference, unanswered);
  const answer = await context.resolver(domain, 'MX');
  if (answer.status === 'error') {
    unanswered.push({ name: domain, type: 'MX', reason: answer.reason });
    return { domain, kind: 'error', hosts: [], unanswered };
  }
  if (answer.status === 'nxdomain') return { domain, kind: 'nothing', hosts: [], unanswered };
  if (answer.status === 'nodata') {
    const host = await resolveHost(domain, 0);
    const kind = host.resolves === null ? 'error' : host.resolves ? 'address' : 'nothing';
    return { domain, kind, hosts: kind === 'address' ? [host] : [], unanswered };
  }
  // A dot among other names is a mistake that senders ignore (RFC 7505 §3).
  const exchanges = answer.records.map(parseMx).filter(({ exchange }) => exchange !== '.');
  if (exchanges.length === 0) return { domain, kind: 'null_mx', hosts: [], unanswered };
  exchanges.sort((a, b) => a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1));
  const hosts = await Promise.all(
    exchanges
      .slice(0, MAX_HOSTS)
      .map(({ exchange, preference }) => resolveHost(exchange, preference)),
  );
  return { domain, kind: 'mx', hosts, unanswered };
}

async function lookUpHost(
  { resolver }: Context,
  name: string,
  preference: number,
  unanswered: FailedLookup[],
): Promise<MailHost> {
  if (normalizeAddress(name) !== null)
    return { name, preference, resolves: false, ipv6: false, problem: 'literal' };
  const types = ['A', 'AAAA'] as const;
  const answers = await Promise.all(types.map((type) => resolver(name, type)));
  answers.forEach((answer, index) => {
    if (answer.status === 'error')
      unanswered.push({ name, type: types[index]!, reason: answer.reason });
  });
  const [ipv4, ipv6] = answers.map(hasRecords) as [boolean | null, boolean | null];
  const resolves = ipv4 || ipv6 ? true : ipv4 === null || ipv6 === null ? null : false;
  const addresses = answers.flatMap((answer) => (answer.status === 'found' ? answer.records : []));
  // If a lookup failed, the host may have other addresses.
  const isComplete = answers.every(({ status }) => status !== 'error');
  const problem = await problemOf(resolver, name, addresses, isComplete);
  return { name, preference, resolves, ipv6, problem };
}

async function problemOf(
  resolver: Context['resolver'],
  name: string,
  addresses: string[],
  isComplete: boolean,
): Promise<HostProblem | null> {
  if (!name.includes('.')) return 'label';
  if ((await resolver(name, 'CNAME')).status === 'found') return 'alias';
  const unreachable = addresses.filter(isLocalAddress);
  if (unreachable.length === 0) return null;
  const areAll = isComplete && unreachable.length === addresses.length;
  return areAll ? 'unreachable' : 'partly_unreachable';
}

function hasRecords(answer: DnsAnswer): boolean | null {
  return answer.status === 'error' ? null : answer.status === 'found';
}

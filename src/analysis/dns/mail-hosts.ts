/** Where the mail of a domain goes: its MX records, or its own address (RFC 5321 §5.1, RFC 7505). */

import { type DnsAnswer, parseMx } from '../../net/dns/resolver.ts';
import type { Context, Unanswered } from '../check.ts';

/** Beyond these, by preference, no sender would come to try. */
const MAX_HOSTS = 10;

export interface MailHost {
  name: string;
  preference: number;
  /** Whether it has an address; null where that could not be found out. */
  resolves: boolean | null;
  /** Whether it has an IPv6 address. */
  ipv6: boolean | null;
}

export interface MailHosts {
  domain: string;
  /**
   * `mx`: MX records. `address`: none, but an address of its own, which then counts as one.
   * `null_mx`: says that it accepts no mail. `nothing`: neither MX nor address. `error`: not known.
   */
  kind: 'mx' | 'address' | 'null_mx' | 'nothing' | 'error';
  hosts: MailHost[];
  unanswered: Unanswered[];
}

// The fact that holds what has been looked up: several checks ask about the same domains.
const lookedUp = (_context: Context) => new Map<string, Promise<MailHosts>>();

/** Where mail for the (normalised) domain goes; looked up once for each analysis. Never rejects. */
export function mailHosts(context: Context, domain: string): Promise<MailHosts> {
  const known = context.fact(lookedUp);
  const hosts = known.get(domain) ?? lookUp(context, domain);
  known.set(domain, hosts);
  return hosts;
}

async function lookUp(context: Context, domain: string): Promise<MailHosts> {
  const unanswered: Unanswered[] = [];
  const hostOf = (name: string, preference: number) =>
    lookUpHost(context, name, preference, unanswered);
  const answer = await context.resolver(domain, 'MX');
  if (answer.status === 'error') {
    unanswered.push({ name: domain, type: 'MX', reason: answer.reason });
    return { domain, kind: 'error', hosts: [], unanswered };
  }
  if (answer.status === 'nxdomain') return { domain, kind: 'nothing', hosts: [], unanswered };
  if (answer.status === 'nodata') {
    const host = await hostOf(domain, 0);
    const kind = host.resolves === null ? 'error' : host.resolves ? 'address' : 'nothing';
    return { domain, kind, hosts: kind === 'address' ? [host] : [], unanswered };
  }
  // A dot beside other names is a mistake that senders pass over (RFC 7505 §3).
  const named = answer.records.map(parseMx).filter(({ exchange }) => exchange !== '.');
  if (named.length === 0) return { domain, kind: 'null_mx', hosts: [], unanswered };
  named.sort((a, b) => a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1));
  const hosts = await Promise.all(
    named.slice(0, MAX_HOSTS).map(({ exchange, preference }) => hostOf(exchange, preference)),
  );
  return { domain, kind: 'mx', hosts, unanswered };
}

async function lookUpHost(
  { resolver }: Context,
  name: string,
  preference: number,
  unanswered: Unanswered[],
): Promise<MailHost> {
  const types = ['A', 'AAAA'] as const;
  const answers = await Promise.all(types.map((type) => resolver(name, type)));
  answers.forEach((answer, index) => {
    if (answer.status === 'error')
      unanswered.push({ name, type: types[index]!, reason: answer.reason });
  });
  const [ipv4, ipv6] = answers.map(isThere) as [boolean | null, boolean | null];
  const resolves = ipv4 || ipv6 ? true : ipv4 === null || ipv6 === null ? null : false;
  return { name, preference, resolves, ipv6 };
}

function isThere(answer: DnsAnswer): boolean | null {
  return answer.status === 'error' ? null : answer.status === 'found';
}

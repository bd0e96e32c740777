/** Domains at which no record would help: those that do not exist, and those with a broken alias. */

import { closestName } from '../../lib/closest-name.ts';
import { isRegistrable, organizationalDomain } from '../../lib/domain-names.ts';
import {
  type DnsAnswer,
  type RecordType,
  type Resolver,
  recordsOf,
} from '../../net/dns/resolver.ts';
import { isFromWildcard } from './wildcard.ts';

export interface BrokenName {
  /**
   * `missing`: not registered. `loop`: an alias that leads back to itself. `beside`: an alias beside other records. `dangling`: an
   * alias of a name that does not exist.
   */
  kind: 'missing' | 'loop' | 'beside' | 'dangling';
  domain: string;
  /** One sentence. */
  title: string;
  detail: string;
  fix: string;
}

/**
 * Null if the domain has no such problem, as far as lookups succeed. `related`: other domains of the sender, one of which may be
 * the right spelling.
 */
export async function brokenName(
  domain: string,
  resolver: Resolver,
  related: string[] = [],
): Promise<BrokenName | null> {
  const registered = organizationalDomain(domain) ?? domain;
  if (await isMissing(registered, resolver)) return missing(registered, related);
  const aliases = await followAliases(domain, resolver);
  if (aliases.isLoop) return loop(domain, aliases.path);
  const target = aliases.path.at(-1);
  if (target === undefined) return null;
  const isBeside = domain === registered || (await hasOwnRecords(domain, target, resolver));
  if (isBeside) return beside(domain, aliases.path[0]!);
  if (!(await isMissing(target, resolver))) return null;
  return dangling(domain, target, await isFromWildcard(domain, 'CNAME', resolver));
}

/**
 * Whether DNS says that nothing exists at or below the name (RFC 8020). The same answer for an alias means that its
 * target does not exist.
 */
export const isMissing = async (name: string, resolver: Resolver): Promise<boolean> =>
  (await resolver(name, 'SOA')).status === 'nxdomain' &&
  (await resolver(name, 'CNAME')).status === 'nxdomain';

/** For a name below a domain that exists: null if the name exists, or if that is unknown. */
export async function missingSubdomain(
  name: string,
  resolver: Resolver,
): Promise<BrokenName | null> {
  const parent = organizationalDomain(name);
  if (parent === null || parent === name || !(await isMissing(name, resolver))) return null;
  return {
    kind: 'missing',
    domain: name,
    title: `${name} does not exist in DNS.`,
    detail:
      'No mail can be delivered to it, and mail servers reject mail from a domain that does not exist.',
    fix: `Check the spelling. To send from an address at ${parent}, correct From. To send from ${name}, set it up in your email service first, with all records that it shows.`,
  };
}

const MAX_ALIASES = 8;

/** The names to which the domain leads, without itself. */
async function followAliases(
  domain: string,
  resolver: Resolver,
): Promise<{ path: string[]; isLoop: boolean }> {
  const path: string[] = [];
  for (let name = domain; path.length < MAX_ALIASES; ) {
    const [target] = recordsOf(await resolver(name, 'CNAME')) ?? [];
    if (target === undefined) return { path, isLoop: false };
    name = target.toLowerCase().replace(/\.$/, '');
    const isLoop = name === domain || path.includes(name);
    path.push(name);
    if (isLoop) return { path, isLoop };
  }
  return { path, isLoop: false };
}

const TYPES_BESIDE: RecordType[] = ['MX', 'TXT'];

/** Whether the name has records of its own, which differ from those of the target of its alias. */
async function hasOwnRecords(name: string, target: string, resolver: Resolver): Promise<boolean> {
  const differs = await Promise.all(
    TYPES_BESIDE.map(async (type) => {
      const [own, aliased] = await Promise.all([resolver(name, type), resolver(target, type)]);
      return own.status === 'found' && aliased.status !== 'error' && !isSame(own, aliased);
    }),
  );
  return differs.includes(true);
}

const isSame = (a: DnsAnswer, b: DnsAnswer): boolean =>
  JSON.stringify(recordsOf(a)?.toSorted()) === JSON.stringify(recordsOf(b)?.toSorted());

function missing(domain: string, related: string[]): BrokenName {
  const others = related.map((name) => organizationalDomain(name) ?? name);
  const intended = closestName(
    domain,
    others.filter((name) => name !== domain),
  );
  const spelling =
    intended === null ? 'Check the spelling.' : `Check the spelling: did you mean ${intended}?`;
  return {
    kind: 'missing',
    domain,
    title: `${domain} does not exist in DNS.`,
    detail:
      'No mail can be delivered to it, and mail servers reject mail from a domain that does not exist.',
    fix: isRegistrable(domain)
      ? `${spelling} If ${domain} is right, register it, or ask its registrar why it is not in DNS.`
      : `${spelling} Public DNS has no names that end in .${domain.split('.').at(-1)}, so send from a domain that you have registered.`,
  };
}

const loop = (domain: string, path: string[]): BrokenName => ({
  kind: 'loop',
  domain,
  title: `${domain} is an alias that leads back to itself.`,
  detail: `Its CNAME record starts a loop (${[domain, ...path].join(' → ')}), so no record of ${domain} can be looked up.`,
  fix: `Delete the CNAME record of ${domain}. Then publish its own records there, or an alias to a name that has them.`,
});

const dangling = (domain: string, target: string, isWildcard: boolean): BrokenName => ({
  kind: 'dangling',
  domain,
  title: `${domain} is an alias of ${target}, which does not exist.`,
  detail: `So ${domain} has no records, and no mail can be delivered to it.${organizationalDomain(domain) === organizationalDomain(target) ? '' : ` Whoever gets that name can send mail as ${domain}.`}`,
  fix: isWildcard
    ? `The alias comes from the wildcard *.${domain.slice(domain.indexOf('.') + 1)}. Change or delete it, or publish records of its own for ${domain}, which win over the wildcard.`
    : `Delete the CNAME record at ${domain}. If you still use ${domain}, publish its own records there, or the alias that your service shows today.`,
});

const beside = (domain: string, target: string): BrokenName => ({
  kind: 'beside',
  domain,
  title: `${domain} has a CNAME record beside other records, which DNS does not allow.`,
  detail: `The CNAME leads to ${target}. Which of the records a mail server sees depends on what it looked up before (RFC 1034 §3.6.2).`,
  fix: `Delete the CNAME record of ${domain}. For a website, give ${domain} A and AAAA records instead, or what your DNS provider calls ALIAS, ANAME or CNAME flattening.`,
});

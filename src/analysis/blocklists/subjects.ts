/** The subjects of blocklist queries: the domains and the IP address of a sender, or any address or name. */

import ipaddr from 'ipaddr.js';
import { reverseName } from '../../lib/addresses.ts';
import { organizationalDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { MAX_SIGNATURES, readSignature } from '../dkim/signature.ts';
import { fromDomain, fullHostName, mailFromDomain, publicClient } from '../dns/names.ts';
import { fields } from '../mime/message.ts';
import type { BlocklistInUse } from './blocklist.ts';
import { type ListOutcome, listedOutcome, type Subject } from './query.ts';

type SenderRole = 'from' | 'mail_from' | 'helo' | 'dkim';

export interface SenderName {
  /** An organizational domain, or a full name below one. */
  name: string;
  roles: SenderRole[];
}

/** A hostile message must not use up the DNS queries of other checks. */
const MAX_NAMES = 20;
const MAX_QUERIES = 80;

interface SenderNames {
  names: SenderName[];
  /** The number of further names, which are not queried. */
  leftOut: number;
}

/** A fact: `context.fact(senderNames)`. Each organizational domain comes before its full names. */
export function senderNames(context: Context): SenderNames {
  const rolesByName = new Map<string, SenderRole[]>();
  for (const [role, domain] of claimedDomains(context)) {
    for (const name of [organizationalDomain(domain) ?? domain, domain]) {
      const roles = rolesByName.get(name) ?? [];
      rolesByName.set(name, roles.includes(role) ? roles : [...roles, role]);
    }
  }
  const names = [...rolesByName].map(([name, roles]) => ({ name, roles }));
  const max = maxQueryableNames(domainLists(context), MAX_NAMES, MAX_QUERIES);
  return { names: names.slice(0, max), leftOut: Math.max(0, names.length - max) };
}

/** The enabled domain lists. */
export function domainLists({ setup }: Context): BlocklistInUse[] {
  return setup.blocklists.filter(({ list }) => list.kind === 'domain');
}

/** How many names, at most `max`, these lists can be queried about with this many queries. */
export function maxQueryableNames(lists: BlocklistInUse[], max: number, queries: number): number {
  return Math.min(max, Math.floor(queries / Math.max(1, lists.length)));
}

function claimedDomains(context: Context): [SenderRole, string][] {
  const { helo } = context.envelope;
  const claimed: [SenderRole, string | null][] = [
    ['from', fromDomain(context)],
    ['mail_from', mailFromDomain(context)],
    ['helo', helo === null ? null : fullHostName(helo)],
    ...fields(context.message, 'dkim-signature')
      .slice(0, MAX_SIGNATURES)
      .map(({ value }, index): [SenderRole, string | null] => [
        'dkim',
        fullHostName(readSignature(value, index + 1, context.receivedAt).domain),
      ]),
  ];
  return claimed.filter((pair): pair is [SenderRole, string] => pair[1] !== null);
}

/** The lists to query about the sending IP address; or a sentence that says why there are none. */
type ClientQuery =
  | { address: string; subject: Subject; lists: BlocklistInUse[]; reason?: undefined }
  | { address: null; reason: string };

/** Selects the enabled lists of a kind that cover the sending IP address. */
export function planClientQuery(context: Context, kind: 'ip' | 'allow'): ClientQuery {
  const client = publicClient(context);
  if (client.address === null) return { address: null, reason: client.reason };
  const { address } = client;
  if (!isQueryable(address))
    return {
      address: null,
      reason: `The sending IP address ${address} is reserved for documentation, so no list covers it.`,
    };
  const lists = context.setup.blocklists.filter(({ list }) => list.kind === kind);
  const listType = kind === 'ip' ? 'blocklists' : 'allowlists';
  if (lists.length === 0) return { address: null, reason: `No ${listType} are enabled.` };
  const covering = lists.filter(({ list }) => list.ipv6 || !address.includes(':'));
  if (covering.length === 0)
    return { address: null, reason: `None of the enabled ${listType} covers IPv6.` };
  return { address, subject: addressSubject(address), lists: covering };
}

/** Whether a normalized address is public, and not reserved for documentation. */
export function isQueryable(address: string): boolean {
  return ipaddr.process(address).range() === 'unicast';
}

/** The query for `192.0.2.1` is `1.2.0.192`; an IPv6 address is split into nibbles (RFC 5782 §2.1, §2.4). */
export function addressSubject(address: string): Subject {
  const queryName = reverseName(address).replace(/\.(?:in-addr|ip6)\.arpa$/, '');
  return { name: address, queryName, isAddress: true };
}

/** The query for a normalized domain is the domain itself (RFC 5782 §2.3). */
export function nameSubject(name: string): Subject {
  return { name, queryName: name, isAddress: false };
}

/** Drops listings of names below a listed domain: most lists cover a domain with its subdomains. */
export function withoutRedundantListings(outcome: ListOutcome): ListOutcome {
  const listed = new Set(outcome.listings.map(({ name }) => name));
  if (listed.size === 0) return outcome;
  const listings = outcome.listings.filter(({ name }) => {
    const domain = organizationalDomain(name);
    return domain === null || domain === name || !listed.has(domain);
  });
  return listedOutcome(outcome.list, listings);
}

/** The listings of names that are not in `ownNames`; drops lists without such listings. */
export function listingsOfOthers(ownNames: Set<string>, outcomes: ListOutcome[]): ListOutcome[] {
  return outcomes.flatMap(({ list, listings }) => {
    const others = listings.filter(({ name }) => !ownNames.has(name));
    return others.length > 0 ? [listedOutcome(list, others)] : [];
  });
}

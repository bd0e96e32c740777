/** What lists are asked about: the domains and the client address of a sender, and any address or name. */

import ipaddr from 'ipaddr.js';
import { reverseName } from '../../lib/addresses.ts';
import { organizationalDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { MAX_SIGNATURES, readSignature } from '../dkim/signature.ts';
import { fromDomain, fullHostName, mailFromDomain, publicClient } from '../dns/names.ts';
import { fields } from '../mime/message.ts';
import { type ListOutcome, listedBy, type Subject } from './ask.ts';
import type { BlocklistInUse } from './blocklist.ts';

type SenderRole = 'from' | 'mail_from' | 'helo' | 'dkim';

export interface SenderName {
  /** The organizational domain, or the full name where it is another. */
  name: string;
  roles: SenderRole[];
}

/** A hostile message must not use up the questions that other checks have. */
const MAX_NAMES = 20;
const MAX_QUESTIONS = 80;

interface SenderNames {
  names: SenderName[];
  /** How many more there are, which nobody is asked about. */
  leftOut: number;
}

/** A fact: ask for it by `context.fact(senderNames)`. The organizational domain comes before the full name. */
export function senderNames(context: Context): SenderNames {
  const found = new Map<string, SenderRole[]>();
  for (const [role, domain] of claimedDomains(context)) {
    for (const name of [organizationalDomain(domain) ?? domain, domain]) {
      const roles = found.get(name) ?? [];
      found.set(name, roles.includes(role) ? roles : [...roles, role]);
    }
  }
  const names = [...found].map(([name, roles]) => ({ name, roles }));
  const most = namesWithin(domainLists(context), MAX_NAMES, MAX_QUESTIONS);
  return { names: names.slice(0, most), leftOut: Math.max(0, names.length - most) };
}

/** The lists of names that are switched on. */
export function domainLists({ setup }: Context): BlocklistInUse[] {
  return setup.blocklists.filter(({ list }) => list.kind === 'domain');
}

/** How many names can be asked about at that many lists. */
export function namesWithin(lists: BlocklistInUse[], most: number, questions: number): number {
  return Math.min(most, Math.floor(questions / Math.max(1, lists.length)));
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

// The client's address as lists are asked about it.

/** What to ask, and whom; or why nobody is asked, as a sentence. */
type Asking =
  | { address: string; subject: Subject; lists: BlocklistInUse[]; reason?: undefined }
  | { address: null; reason: string };

/** The lists of a kind that cover the client's address. */
export function askingAboutClient(context: Context, kind: 'ip' | 'allow'): Asking {
  const client = publicClient(context);
  if (client.address === null) return { address: null, reason: client.reason };
  const { address } = client;
  if (!isAskable(address))
    return {
      address: null,
      reason: `The client's address, ${address}, is one for documentation: no list is asked about those.`,
    };
  const lists = context.setup.blocklists.filter(({ list }) => list.kind === kind);
  const what = kind === 'ip' ? 'blocklists' : 'allowlists';
  if (lists.length === 0) return { address: null, reason: `No ${what} are switched on.` };
  const covering = lists.filter(({ list }) => list.ipv6 || !address.includes(':'));
  if (covering.length === 0)
    return { address: null, reason: `None of the ${what} that are switched on covers IPv6.` };
  return { address, subject: addressSubject(address), lists: covering };
}

/** Whether lists may be asked about a (normalised) address: a public one, and none for documentation. */
export function isAskable(address: string): boolean {
  return ipaddr.process(address).range() === 'unicast';
}

/** `192.0.2.1` is asked about as `1.2.0.192`, an IPv6 address by its nibbles (RFC 5782 §2.1 and §2.4). */
export function addressSubject(address: string): Subject {
  const question = reverseName(address).replace(/\.(?:in-addr|ip6)\.arpa$/, '');
  return { name: address, question, isAddress: true };
}

// Names as lists are asked about them, and listings of a name that only repeat those of its domain.

/** A (normalised) domain is asked about as it stands (RFC 5782 §2.3). */
export function nameSubject(name: string): Subject {
  return { name, question: name, isAddress: false };
}

/** Most lists name a domain with all that is below it: then the domain alone is told. */
export function withoutRepeats(outcome: ListOutcome): ListOutcome {
  const listed = new Set(outcome.listings.map(({ name }) => name));
  if (listed.size === 0) return outcome;
  const listings = outcome.listings.filter(({ name }) => {
    const domain = organizationalDomain(name);
    return domain === null || domain === name || !listed.has(domain);
  });
  return listedBy(outcome.list, listings);
}

/** Only the listings of names that are not among these; lists without any other go. */
export function listingsBeside(own: Set<string>, outcomes: ListOutcome[]): ListOutcome[] {
  return outcomes.flatMap(({ list, listings }) => {
    const others = listings.filter(({ name }) => !own.has(name));
    return others.length > 0 ? [listedBy(list, others)] : [];
  });
}

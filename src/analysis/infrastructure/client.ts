/** The client that delivered the message, as far as the DNS can know it. */

import { isLocalAddress, normalizeAddress, reverseName } from '../../lib/addresses.ts';
import { organizationalDomain } from '../../lib/domain-names.ts';
import { type DnsAnswer, recordsOf } from '../../net/resolver.ts';
import type { Context } from '../check.ts';
import { fullHostName, holdsAddress } from './host-names.ts';
import { fromDomain, mailFromDomain } from './sender-domains.ts';

/** The client's address where it means something to the DNS; otherwise why not, as a sentence. */
export type Client = { address: string; reason?: undefined } | { address: null; reason: string };

export function publicClient(context: Context): Client {
  const said = context.envelope.client_ip;
  const address = said === null ? null : normalizeAddress(said);
  if (address === null) return { address: null, reason: "The client's address is not known." };
  if (isLocalAddress(address))
    return {
      address: null,
      reason: `The client's address, ${address}, is a loopback or private one: it means nothing on the Internet.`,
    };
  return { address };
}

/** A fact: ask for it by `context.fact(clientPtr)`. Null without a public address. */
export async function clientPtr(context: Context): Promise<DnsAnswer | null> {
  const { address } = publicClient(context);
  return address === null ? null : context.resolver(reverseName(address), 'PTR');
}

/** The names of a PTR answer that can be a server's; RFC 8601 §3 lets a receiver look at the first few. */
export function usableNames(answer: DnsAnswer): string[] {
  const names = (recordsOf(answer) ?? []).map(fullHostName).filter((name) => name !== null);
  return [...new Set(names)].slice(0, 10);
}

/**
 * A name to propose for the client: what it says in HELO where that is a full name of its own, else
 * `mail.` and the sender's domain.
 */
export function proposedName(context: Context): string {
  const { helo } = context.envelope;
  const said = helo === null ? null : fullHostName(helo);
  // A name that the provider gave to the address is what receivers distrust.
  const { address } = publicClient(context);
  if (said !== null && !(address && holdsAddress(said, address))) return said;
  const domain = fromDomain(context) ?? mailFromDomain(context) ?? 'example.com';
  return `mail.${organizationalDomain(domain) ?? domain}`;
}

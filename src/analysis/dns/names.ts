/** Which names can stand for a mail server on the Internet, and which are made from its address. */

import { isLocalAddress, normalizeAddress, reverseName } from '../../lib/addresses.ts';
import { addressDomain, normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { bareAddress, MAX_ADDRESS_LENGTH } from '../../lib/mail.ts';
import { type DnsAnswer, recordsOf } from '../../net/dns/resolver.ts';
import type { Context } from '../check.ts';

/** Top labels that mean something in one network only, or nothing (RFC 6761, RFC 6762, RFC 8375). */
const LOCAL_SUFFIX = /(?:^|\.)(?:localhost|localdomain|local|internal|lan|invalid|home\.arpa)$/;

/**
 * The name in lower case, or null for what is not the full name of a host on the Internet: one label
 * alone, an address, a local suffix, characters or lengths that no name has (RFC 5321 §2.3.5; U-labels
 * are no host names in SMTP, RFC 6531 §3.7.1).
 */
export function fullHostName(text: string): string | null {
  if (text.length > 254 || !/^[\x21-\x7e]+$/.test(text)) return null;
  const name = normalizeDomain(text);
  if (name === null || !name.includes('.') || normalizeAddress(name) !== null) return null;
  if (/(?:^|\.)\d+$/.test(name) || LOCAL_SUFFIX.test(name)) return null;
  return name;
}

/**
 * Whether the whole address is part of the name, as in the names that providers give to every
 * address they have: `static.5.113.0.203.isp.example`, `ec2-203-0-113-5…`, `host-cb007105…`.
 */
export function holdsAddress(name: string, address: string): boolean {
  return address.includes(':') ? holdsIpv6(name, address) : holdsIpv4(name, address);
}

function holdsIpv4(name: string, address: string): boolean {
  const octets = address.split('.');
  const padded = octets.map((octet) => octet.padStart(3, '0')).join('');
  const hex = octets.map((octet) => Number(octet).toString(16).padStart(2, '0')).join('');
  const numbers = (name.match(/\d+/g) ?? []).map(withoutZeros);
  return (
    holdsRun(numbers, octets) ||
    holdsRun(numbers, octets.toReversed()) ||
    name.includes(padded) ||
    name.split(/[^0-9a-z]/).some((label) => label.endsWith(hex))
  );
}

function holdsIpv6(name: string, address: string): boolean {
  const reversed = reverseName(address).replace('.ip6.arpa', '').replaceAll('.', '');
  const nibbles = [...reversed].reverse().join('');
  const groups = nibbles.match(/.{4}/g) ?? [];
  const packed = name.replace(/[.-]/g, '');
  return (
    packed.includes(nibbles) ||
    packed.includes(reversed) ||
    name.includes(address.replaceAll(':', '-')) ||
    holdsRun(name.split(/[.-]/).map(withoutZeros), groups.map(withoutZeros))
  );
}

function withoutZeros(digits: string): string {
  return digits.replace(/^0+(?=.)/, '');
}

function holdsRun(items: string[], run: string[]): boolean {
  return items.some((_, at) => run.every((value, offset) => items[at + offset] === value));
}

// The domains that the message claims to come from: in From, and in MAIL FROM.

/** The domain of the first From address, in A-labels; null where it has none. */
export function fromDomain(context: Context): string | null {
  return mailDomain(context.message.from[0]?.address ?? '');
}

/** The domain of MAIL FROM, in A-labels; null for the null sender, an unknown one, and one without a domain. */
export function mailFromDomain(context: Context): string | null {
  return mailDomain(bareAddress(context.envelope.mail_from ?? ''));
}

// An address literal or a single label (`root@localhost`) is no domain that mail can be sent to.
function mailDomain(address: string): string | null {
  const domain = address.length > MAX_ADDRESS_LENGTH ? null : addressDomain(address);
  return domain?.includes('.') && normalizeAddress(domain) === null ? domain : null;
}

// The client that delivered the message, as far as the DNS can know it.

/** The client's address where it means something to the DNS; otherwise why not, as a sentence. */
type Client = { address: string; reason?: undefined } | { address: null; reason: string };

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

/** Validates host names, detects generic ones, and reads the domains and the IP address of the sender. */

import { isLocalAddress, normalizeAddress, reverseName } from '../../lib/addresses.ts';
import { addressDomain, normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { MAX_ADDRESS_LENGTH, stripAngleBrackets } from '../../lib/mail.ts';
import { type DnsAnswer, recordsOf } from '../../net/dns/resolver.ts';
import type { Context } from '../check.ts';

/** Suffixes with only local meaning, or none (RFC 6761, RFC 6762, RFC 8375; ICANN delegates none of the others). */
const LOCAL_SUFFIX =
  /(?:^|\.)(?:localhost|localdomain|local|internal|lan|invalid|home\.arpa|home|corp|intranet)$/;

/** Whether public DNS cannot have the name, which is in lower case. */
export const isLocalName = (name: string): boolean => LOCAL_SUFFIX.test(name);

const PRINTABLE = /^[\x21-\x7e]+$/;
const NUMERIC_LABEL = /(?:^|\.)\d+$/;

/**
 * The name in lower case, or null if it is not a fully qualified host name (RFC 5321 §2.3.5). Rejects
 * single labels, addresses, local suffixes, and invalid characters or lengths. Also rejects U-labels,
 * which are not valid host names in SMTP (RFC 6531 §3.7.1).
 */
export function fullHostName(text: string): string | null {
  if (text.length > 254 || !PRINTABLE.test(text)) return null;
  const name = normalizeDomain(text);
  if (name === null || !name.includes('.') || normalizeAddress(name) !== null) return null;
  if (NUMERIC_LABEL.test(name) || isLocalName(name)) return null;
  return name;
}

/**
 * Whether the name contains the whole address, as in the generic names that providers assign:
 * `static.5.113.0.203.isp.example`, `ec2-203-0-113-5…`, `host-cb007105…`.
 */
export function containsAddress(name: string, address: string): boolean {
  return address.includes(':') ? containsIpv6(name, address) : containsIpv4(name, address);
}

function containsIpv4(name: string, address: string): boolean {
  const octets = address.split('.');
  const padded = octets.map((octet) => octet.padStart(3, '0')).join('');
  const hex = octets.map((octet) => Number(octet).toString(16).padStart(2, '0')).join('');
  const numbers = (name.match(/\d+/g) ?? []).map(withoutLeadingZeros);
  return (
    includesSequence(numbers, octets) ||
    includesSequence(numbers, octets.toReversed()) ||
    name.includes(padded) ||
    name.split(/[^0-9a-z]/).some((label) => label.endsWith(hex))
  );
}

function containsIpv6(name: string, address: string): boolean {
  const reversed = reverseName(address).replace('.ip6.arpa', '').replaceAll('.', '');
  const nibbles = [...reversed].reverse().join('');
  const groups = nibbles.match(/.{4}/g) ?? [];
  const packed = name.replace(/[.-]/g, '');
  return (
    packed.includes(nibbles) ||
    packed.includes(reversed) ||
    name.includes(address.replaceAll(':', '-')) ||
    includesSequence(name.split(/[.-]/).map(withoutLeadingZeros), groups.map(withoutLeadingZeros))
  );
}

function withoutLeadingZeros(digits: string): string {
  return digits.replace(/^0+(?=.)/, '');
}

function includesSequence(items: string[], sequence: string[]): boolean {
  return items.some((_, index) =>
    sequence.every((value, offset) => items[index + offset] === value),
  );
}

/** The domain of the first From address, in A-labels; null if it has none. */
export function fromDomain(context: Context): string | null {
  return mailDomain(context.message.from[0]?.address ?? '');
}

/** The domain of MAIL FROM, in A-labels; null for an empty or unknown sender, or one without a domain. */
export function mailFromDomain(context: Context): string | null {
  return mailDomain(stripAngleBrackets(context.envelope.mail_from ?? ''));
}

// Mail cannot be sent to an address literal or a single label (`root@localhost`).
function mailDomain(address: string): string | null {
  const domain = address.length > MAX_ADDRESS_LENGTH ? null : addressDomain(address);
  return domain?.includes('.') && normalizeAddress(domain) === null ? domain : null;
}

/** The sending IP address if it is public; otherwise a sentence that says why not. */
type Client = { address: string; reason?: undefined } | { address: null; reason: string };

export const publicClient = (context: Context): Client => context.fact(readClient);

function readClient(context: Context): Client {
  const { client_ip } = context.envelope;
  const address = client_ip === null ? null : normalizeAddress(client_ip);
  if (address === null) return { address: null, reason: 'The sending IP address is unknown.' };
  if (isLocalAddress(address))
    return {
      address: null,
      reason: `The sending IP address ${address} is private or loopback, so public DNS has no data about it.`,
    };
  return { address };
}

/** A fact: `context.fact(clientPtr)`. null without a public address. */
export async function clientPtr(context: Context): Promise<DnsAnswer | null> {
  const { address } = publicClient(context);
  return address === null ? null : context.resolver(reverseName(address), 'PTR');
}

/** The valid host names of a PTR answer, if there is one; RFC 8601 §3 allows verifiers to use only the first few. */
export function usableNames(answer: DnsAnswer | null): string[] {
  const names = ((answer && recordsOf(answer)) ?? [])
    .map(fullHostName)
    .filter((name) => name !== null);
  return [...new Set(names)].slice(0, 10);
}

/** Whether both are full host names of one registered domain. */
export function isSameDomain(a: string | null | undefined, b: string | null | undefined): boolean {
  const [first, second] = [a, b].map((text) => fullHostName(text ?? ''));
  if (!first || !second) return false;
  return (organizationalDomain(first) ?? first) === (organizationalDomain(second) ?? second);
}

/** A fact: the reverse names of the sending IP address that resolve back to it. */
export async function confirmedNames(context: Context): Promise<string[]> {
  const { address } = publicClient(context);
  if (context.offline || address === null) return [];
  const answer = await context.fact(clientPtr);
  const type = address.includes(':') ? 'AAAA' : 'A';
  const names = usableNames(answer);
  const answers = await Promise.all(names.map((name) => context.resolver(name, type)));
  return names.filter((_, index) =>
    recordsOf(answers[index]!)?.some((text) => normalizeAddress(text) === address),
  );
}

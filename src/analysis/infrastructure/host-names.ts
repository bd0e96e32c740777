/** Which names can stand for a mail server on the Internet, and which are made from its address. */

import { normalizeAddress, reverseName } from '../../lib/addresses.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';

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

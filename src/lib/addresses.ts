/** IP addresses: parsing, ranges and reverse names. Also parses lists of DNS servers. */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

const RESEMBLES_ADDRESS = /^\[?[\d.]+\b|:/;

/**
 * The canonical form: IPv4-mapped IPv6 addresses become IPv4, brackets and zone IDs are removed. Null
 * for anything else, including octal and abbreviated IPv4 notations.
 */
export function normalizeAddress(text: string): string | null {
  // Most inputs are host names: this cheap test rejects them before the expensive ones.
  if (!RESEMBLES_ADDRESS.test(text)) return null;
  const bare = text.replace(/^\[(?:IPv6:)?|\]$/gi, '').replace(/%.*$/, '');
  // isIP is strict; ipaddr.js also accepts octal and abbreviated notations.
  const version = isIP(bare);
  if (version === 4) return bare;
  return version === 0 ? null : ipaddr.process(bare).toString();
}

/** The parsed form of a valid address. `ipaddr.process` parses an IPv4 address twice. */
const parseAddress = (address: string): ipaddr.IPv4 | ipaddr.IPv6 =>
  isIP(address) === 4 ? ipaddr.IPv4.parse(address) : ipaddr.process(address);

/** The place of a normalized address among all of both versions, to compare and to count them. */
export function addressNumber(address: string): bigint {
  const parsed = parseAddress(address);
  const value = BigInt(`0x${Buffer.from(parsed.toByteArray()).toString('hex')}`);
  // Where IPv6 has the IPv4-mapped addresses, which normalizing makes IPv4.
  return parsed.kind() === 'ipv4' ? value + 0xffff_0000_0000n : value;
}

/** `10.0.0.0/8` or a single address; throws on anything else. */
export function parseNetwork(text: string): Network {
  // ipaddr.js also accepts `010.1/16`, and reads it as octal.
  if (isIP(text.replace(/\/.*$/s, '')) === 0) throw new Error('invalid network');
  if (text.includes('/')) return ipaddr.parseCIDR(text) as Network;
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** Whether a normalized address is in one of the networks. */
export function inNetworks(address: string, networks: Network[]): boolean {
  return isIP(address) !== 0 && anyContains(networks, parseAddress(address));
}

const anyContains = (networks: Network[], address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  networks.some(
    ([base, bits]) => address.kind() === base.kind() && address.match(base as never, bits),
  );

// Documentation networks (RFC 5737, RFC 3849, RFC 9637) count as public: examples, tests and the
// demo use them.
const DOCUMENTATION = [
  '192.0.2.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '2001:db8::/32',
  '3fff::/20',
].map(parseNetwork);

/** Whether an address is loopback, private, link-local or otherwise not public. */
export function isLocalAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = parseAddress(address);
  return !anyContains(DOCUMENTATION, parsed) && parsed.range() !== 'unicast';
}

export const isAddress = (text: string): boolean => isIP(text) !== 0;

/** The network that one organization usually has: the /24 of an IPv4 address, the /48 of an IPv6 address (RFC 6177). */
export function networkOf(address: string): string {
  const parsed = parseAddress(address);
  const bits = parsed.kind() === 'ipv4' ? 24 : 48;
  const bytes = parsed.toByteArray().map((byte, i) => (i < bits / 8 ? byte : 0));
  return `${ipaddr.fromByteArray(bytes)}/${bits}`;
}

/** `192.0.2.1` → `1.2.0.192.in-addr.arpa`; IPv6 likewise by nibbles under `ip6.arpa` (RFC 3596 §2.5). */
export function reverseName(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4')
    return `${parsed.toString().split('.').reverse().join('.')}.in-addr.arpa`;
  const hex = parsed
    .toByteArray()
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  return `${[...hex].reverse().join('.')}.ip6.arpa`;
}

// Lists of DNS servers, as users write them.

export interface DnsServer {
  /** An IP address; IPv6 without brackets. */
  host: string;
  port: number;
}

/**
 * Parses a list such as `127.0.0.1:5353,[::1]:53,192.0.2.53`. The default port is 53. An IPv6 address
 * without a port needs no brackets. Null if the list is empty or an item is invalid.
 */
export function parseDnsServers(text: string): DnsServer[] | null {
  const servers: DnsServer[] = [];
  for (const item of text.split(',').map((item) => item.trim())) {
    if (item === '') continue;
    const server = parseServer(item);
    if (!server) return null;
    servers.push(server);
  }
  return servers.length > 0 ? servers : null;
}

function parseServer(item: string): DnsServer | null {
  if (isIP(item) !== 0) return { host: item, port: 53 };
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(item);
  const host = match?.[1] ?? match?.[2] ?? '';
  const port = match?.[3] === undefined ? 53 : Number(match[3]);
  // Only IPv6 addresses have brackets (RFC 3986 §3.2.2).
  if (isIP(host) !== (match?.[1] === undefined ? 4 : 6)) return null;
  return port >= 1 && port <= 65_535 ? { host, port } : null;
}

/**
 * Decides which IP addresses the service may connect to for a host that a message or user names: public
 * addresses, and those in networks that the operator has allowed.
 *
 * Libraries do not suffice: Node's `net.BlockList` misses IPv4 addresses embedded in IPv6 (64:ff9b::/96,
 * 2002::/16, ::a.b.c.d). ipaddr.js's `range()` lacks parts of IANA's registry and all metadata services.
 */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { inNetworks, type Network, parseNetwork } from '../lib/addresses.ts';

/** All special-purpose IPv4 networks of IANA (RFC 6890 and its registry); the rest is public. */
const SPECIAL_IPV4 = [
  '0.0.0.0/8', // this network; Linux treats 0.0.0.0 as loopback
  '10.0.0.0/8', // private (RFC 1918)
  '100.64.0.0/10', // shared address space for carrier-grade NAT (RFC 6598)
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, including the metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation (RFC 5737)
  '192.31.196.0/24', // AS112: serves only DNS
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays, deprecated (RFC 7526)
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking (RFC 2544)
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
].map(parseNetwork);

/** IPv6 is public only in the range allocated for routing, except for the special networks. */
const GLOBAL_IPV6 = ['2000::/3'].map(parseNetwork);
const SPECIAL_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarking, AMT
  '2001:db8::/32', // documentation (RFC 3849)
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // 6bone, no longer in use
  '3fff::/20', // documentation (RFC 9637)
].map(parseNetwork);

/**
 * IPv6 addresses that embed an IPv4 address. A translator or tunnel near this host may unwrap them,
 * which would bypass all other rules. Allowing a network does not allow them.
 */
const WRAPPED_IPV4 = [
  '::/96', // IPv4-compatible (RFC 4291 §2.5.5.1), and `::`, which Linux treats as loopback
  '::ffff:0:0/96', // IPv4-mapped
  '::ffff:0:0:0/96', // IPv4-translated (RFC 2765)
  '64:ff9b::/96', // NAT64 (RFC 6052)
  '64:ff9b:1::/48', // local-use NAT64 (RFC 8215)
  '2001::/32', // Teredo
  '2002::/16', // 6to4
].map(parseNetwork);

/** Cloud metadata services, which give credentials to any local caller; forbidden even in an allowed network. */
const METADATA_SERVICES = [
  '169.254.169.254', // AWS, Azure, Google, DigitalOcean, OpenStack and others
  '169.254.170.2', // credentials of AWS containers
  '169.254.170.23', // credentials of AWS pods
  '169.254.42.42', // Scaleway
  '169.254.0.23', // Tencent
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  '168.63.129.16', // Azure host, in an otherwise public network
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd00:42::42',
  'fd20:ce::254',
].map(parseNetwork);

/**
 * Whether the IP address is public. It must be in dotted decimal or in a form of RFC 4291, without
 * brackets or a zone. False for anything else.
 */
export function isPublicAddress(address: string): boolean {
  if (isForbidden(address)) return false;
  return isIP(address) === 4
    ? !inNetworks(address, SPECIAL_IPV4)
    : inNetworks(address, GLOBAL_IPV6) && !inNetworks(address, SPECIAL_IPV6);
}

/** Whether the service may connect to it: a public address, or one in a network that the operator has allowed. */
export function mayConnect(address: string, allowNetworks: Network[] = []): boolean {
  return isPublicAddress(address) || (!isForbidden(address) && inNetworks(address, allowNetworks));
}

/** Whether it is in a network that the operator has allowed, and cannot be reached from the internet. */
export const isAllowedPrivate = (address: string, allowNetworks: Network[] = []): boolean =>
  !isPublicAddress(address) && mayConnect(address, allowNetworks);

/** Whether the service must never connect to it, regardless of the allowed networks. */
function isForbidden(address: string): boolean {
  const version = isIP(address);
  // A zone ID names a network interface of this host.
  if (version === 0 || address.includes('%')) return true;
  return (version === 6 && wrapsIpv4(address)) || inNetworks(address, METADATA_SERVICES);
}

// Matched here because inNetworks unwraps mapped addresses. `::1` is loopback and wraps nothing.
function wrapsIpv4(address: string): boolean {
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.range() === 'loopback') return false;
  return WRAPPED_IPV4.some(([base, bits]) => parsed.match(base as ipaddr.IPv6, bits));
}

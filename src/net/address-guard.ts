/** Which addresses may be connected to on a stranger's word: public ones, and what the operator has opened. */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { inNetworks, type Network, parseNetwork } from '../lib/addresses.ts';

/** Of IPv4 all that IANA has set aside (RFC 6890 and its registry); the rest is public. */
const SPECIAL_IPV4 = [
  '0.0.0.0/8', // this network; Linux takes 0.0.0.0 for loopback
  '10.0.0.0/8', // private (RFC 1918)
  '100.64.0.0/10', // shared by a provider's customers (RFC 6598)
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, most clouds' metadata among it
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation (RFC 5737)
  '192.31.196.0/24', // AS112: answers nothing but DNS
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

/** Of IPv6 only what has been given out to be routed, less the special parts of it. */
const GLOBAL_IPV6 = ['2000::/3'].map(parseNetwork);
const SPECIAL_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarking, AMT
  '2001:db8::/32', // documentation (RFC 3849)
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the former 6bone
  '3fff::/20', // documentation (RFC 9637)
].map(parseNetwork);

/**
 * Addresses that stand for an IPv4 address, which a translator or tunnel near us may unwrap: a way
 * around everything that is shut. Nobody opens them.
 */
const HOLDING_IPV4 = [
  '::/96', // IPv4-compatible (RFC 4291 §2.5.5.1), and `::`, which Linux takes for loopback
  '::ffff:0:0/96', // IPv4-mapped
  '::ffff:0:0:0/96', // IPv4-translated (RFC 2765)
  '64:ff9b::/96', // NAT64 (RFC 6052)
  '64:ff9b:1::/48', // NAT64 of a network's own (RFC 8215)
  '2001::/32', // Teredo
  '2002::/16', // 6to4
].map(parseNetwork);

/** Where clouds hand out credentials to whoever asks from inside; shut even in an opened network. */
const METADATA = [
  '169.254.169.254', // AWS, Azure, Google, DigitalOcean, OpenStack and others
  '169.254.170.2', // credentials of AWS's containers
  '169.254.170.23', // and of its pods
  '169.254.42.42', // Scaleway
  '169.254.0.23', // Tencent
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  '168.63.129.16', // Azure's host, in a network that is public otherwise
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd00:42::42',
  'fd20:ce::254',
].map(parseNetwork);

/**
 * Whether anybody on the Internet may be meant by the address (as RFC 4291 and dotted decimal write
 * it, without brackets or a zone). False for what is no address.
 */
export function isPublicAddress(address: string): boolean {
  if (isShut(address)) return false;
  return isIP(address) === 4
    ? !inNetworks(address, SPECIAL_IPV4)
    : inNetworks(address, GLOBAL_IPV6) && !inNetworks(address, SPECIAL_IPV6);
}

/** Whether it may be connected to: a public address, or one in a network that the operator has opened. */
export function mayConnect(address: string, allowNetworks: Network[] = []): boolean {
  return isPublicAddress(address) || (!isShut(address) && inNetworks(address, allowNetworks));
}

/** Never to be connected to, whatever has been opened. */
function isShut(address: string): boolean {
  const version = isIP(address);
  // A zone leads to a link of this machine.
  if (version === 0 || address.includes('%')) return true;
  return (version === 6 && holdsIpv4(address)) || inNetworks(address, METADATA);
}

// Matched here, for inNetworks unwraps what is mapped. `::1` is loopback and holds nothing.
function holdsIpv4(address: string): boolean {
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.range() === 'loopback') return false;
  return HOLDING_IPV4.some(([base, bits]) => parsed.match(base as ipaddr.IPv6, bits));
}

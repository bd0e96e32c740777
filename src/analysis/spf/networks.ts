/** The networks of an SPF record and of the records that it includes: how large they are, and whether they are public. */

import ipaddr from 'ipaddr.js';
import { inNetworks, isLocalAddress, type Network, parseNetwork } from '../../lib/addresses.ts';
import type { SpfTerm } from './record.ts';
import type { SpfNode } from './tree.ts';

/** The network of a valid `ip4` or `ip6` term; null for any other term. */
export function networkOfTerm({ name, isModifier, fault, text }: SpfTerm): Network | null {
  if (isModifier || fault !== null || (name !== 'ip4' && name !== 'ip6')) return null;
  try {
    return parseNetwork(text.slice(text.indexOf(':') + 1));
  } catch {
    return null;
  }
}

/** The sizes from which a network has more servers than one owner sends from: over 65,536 addresses, or over a /29. */
const LARGEST = { ipv4: 16, ipv6: 29 } as const;
/** Even two /1 networks cover the whole Internet. */
const ALMOST_ALL = 8;

/** The prefix lengths of a term, by address family: `a/24//64` has two. */
function lengthsOf(term: SpfTerm): { ipv4: number; ipv6: number } {
  const network = networkOfTerm(term);
  if (network) {
    const [base, bits] = network;
    return base.kind() === 'ipv4' ? { ipv4: bits, ipv6: 128 } : { ipv4: 32, ipv6: bits };
  }
  const [, ipv4 = '32', ipv6 = '128'] =
    term.name === 'a' || term.name === 'mx'
      ? (/(?:\/(\d+))?(?:\/\/(\d+))?$/.exec(term.text) ?? [])
      : [];
  return { ipv4: Number(ipv4), ipv6: Number(ipv6) };
}

/** Whether a network is too large for one owner. */
export const coversAlmostAll = (term: SpfTerm): boolean =>
  Math.min(...Object.values(lengthsOf(term))) < ALMOST_ALL;

/** Whether the term has more addresses than an organization that is no large provider sends from. */
export function isLargeNetwork(term: SpfTerm): boolean {
  const { ipv4, ipv6 } = lengthsOf(term);
  return (ipv4 < LARGEST.ipv4 || ipv6 < LARGEST.ipv6) && !isPrivateNetwork(term);
}

/** Whether mail from the network never reaches another organization. */
export function isPrivateNetwork(term: SpfTerm): boolean {
  const network = networkOfTerm(term);
  if (!network) return false;
  const [first, last] = boundsOf(network);
  // Both ends in one special network, so no public address lies between them.
  return isLocalAddress(first) && isLocalAddress(last) && inOneRange(first, last);
}

const inOneRange = (first: string, last: string): boolean =>
  ipaddr.process(first).range() === ipaddr.process(last).range();

function boundsOf([base, bits]: Network): [first: string, last: string] {
  const bytes = base.toByteArray();
  const edge = (bit: 0 | 1) =>
    ipaddr
      .fromByteArray(
        bytes.map((byte, i) => {
          const kept = Math.min(8, Math.max(0, bits - i * 8));
          const mask = 0xff >> kept;
          return bit === 0 ? byte & ~mask & 0xff : byte | mask;
        }),
      )
      .toString();
  return [edge(0), edge(1)];
}

/** The share of all addresses above which networks together let anyone pass. */
const MAX_SHARE = 1 / 16;

/**
 * The share of all IPv4 addresses, or of all IPv6 addresses, that the passing networks of the tree cover together, if it
 * lets anyone pass; else null.
 */
export function coveredShare(nodes: SpfNode[]): { family: 'IPv4' | 'IPv6'; share: number } | null {
  const networks = nodes
    .filter(({ passing }) => passing)
    .flatMap(({ terms }) => terms.filter(({ qualifier }) => qualifier === '+'))
    .map(networkOfTerm)
    .filter((network) => network !== null);
  for (const [family, kind] of [
    ['IPv4', 'ipv4'],
    ['IPv6', 'ipv6'],
  ] as const) {
    const share = shareOf(networks.filter(([base]) => base.kind() === kind));
    if (share > MAX_SHARE) return { family, share };
  }
  return null;
}

/** Each address counts once: a network within a larger one adds nothing. */
function shareOf(networks: Network[]): number {
  const bySize = networks.toSorted((a, b) => a[1] - b[1]);
  const counted: Network[] = [];
  let share = 0;
  for (const network of bySize) {
    if (inNetworks(network[0].toString(), counted)) continue;
    counted.push(network);
    share += 2 ** -network[1];
  }
  return share;
}

/**
 * Who an SPF record lets send, read apart from the code that proposes records: by its words, with
 * common mistakes read as they were meant. Probes are the edges of its networks and the addresses of its hosts.
 */

import ipaddr from 'ipaddr.js';
import type { RecordType, Resolver } from '../../src/net/dns/resolver.ts';

/** An allowed network, and the target that the domain's own record names for it: `include:x`, or the network itself. */
export interface AllowedNetwork {
  network: string;
  named: string;
}

export interface Senders {
  networks: AllowedNetwork[];
  /** The targets of includes and redirects in the domain's own record that have an SPF record. */
  includes: string[];
}

const MAX_DEPTH = 8;

/** Who the records of a domain are meant to let send. Terms that do not pass, and `all`, count for nothing. */
export async function sendersOf(
  records: string[],
  domain: string,
  resolver: Resolver,
  depth = 0,
): Promise<Senders> {
  const networks: AllowedNetwork[] = [];
  const includes: string[] = [];
  const lookUp = async (name: string, type: RecordType) => {
    const answer = await resolver(name, type);
    return answer.status === 'found' ? answer.records : [];
  };
  const addresses = async (host: string) => [
    ...(await lookUp(host, 'A')),
    ...(await lookUp(host, 'AAAA')),
  ];
  for (const word of records.flatMap((record) => record.toLowerCase().split(/[\s,;]+/))) {
    const term = /^\+?(ip(?:v?[46])?|include|redirect|a|mx)(?:[:=]+(\S+?))?(\/[\d/]+)?\.?$/.exec(
      word,
    );
    if (!term) continue;
    const [, name = '', value, length = ''] = term;
    const target = value ?? domain;
    const add = (found: string[], named: string) => {
      for (const address of found)
        networks.push({ network: address.includes('/') ? address : address + length, named });
    };
    if (name.startsWith('ip')) add(value && ipaddr.isValid(value) ? [value] : [], word);
    else if (name === 'a') add(await addresses(target), target);
    else if (name === 'mx')
      for (const mx of await lookUp(target, 'MX'))
        add(await addresses(mx.split(' ')[1]!.replace(/\.$/, '')), target);
    else if (value && depth < MAX_DEPTH) {
      const texts = (await lookUp(value, 'TXT')).filter((text) => /^v=spf1(?: |$)/i.test(text));
      if (texts.length === 0) continue;
      includes.push(value);
      const inner = await sendersOf(texts, value, resolver, depth + 1);
      networks.push(...inner.networks.map(({ network }) => ({ network, named: value })));
    }
  }
  return { networks, includes };
}

/** The first and the last address of each network. */
export function probesOf({ networks }: Senders): { address: string; named: string }[] {
  return networks.flatMap(({ network, named }) =>
    edgesOf(network).map((address) => ({ address, named })),
  );
}

function edgesOf(network: string): string[] {
  const [base, bits] = parse(network);
  const bytes = base.toByteArray();
  const edge = (fill: 0 | 1) =>
    ipaddr
      .fromByteArray(
        bytes.map((byte, index) => {
          const free = Math.min(8, Math.max(0, (index + 1) * 8 - bits));
          const mask = 2 ** free - 1;
          return fill ? byte | mask : byte & ~mask & 255;
        }),
      )
      .toString();
  return [...new Set([edge(0), edge(1)])];
}

export const allows = ({ networks }: Senders, address: string): boolean => {
  const probe = ipaddr.parse(address);
  return networks.some(({ network }) => {
    const [base, bits] = parse(network);
    return base.kind() === probe.kind() && probe.match(base as never, bits);
  });
};

function parse(network: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (network.includes('/')) return ipaddr.parseCIDR(network) as [ipaddr.IPv4, number];
  const address = ipaddr.parse(network);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

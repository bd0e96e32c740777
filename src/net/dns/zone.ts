/** A resolver over a zone held in memory: what the demo and the tests ask instead of the network. */

import type { DnsAnswer, DnsErrorReason, RecordType, Resolver } from './resolver.ts';

/** Names (lower case, no trailing dot) to their records, or to the failure that any question on them meets. */
export type Zone = Record<
  string,
  Partial<Record<RecordType, string[]>> | { fails: DnsErrorReason }
>;

export const ZONE_TTL_SECONDS = 300;

/**
 * Answers from the zone. A CNAME is followed; a name without records that lies above another
 * name of the zone is an empty non-terminal: NODATA, not NXDOMAIN (RFC 8020).
 */
export function zoneResolver(zone: Zone): Resolver {
  return async (name, type) => lookUp(zone, name.toLowerCase().replace(/\.$/, ''), type);
}

/** One answer out of a zone, the CNAMEs followed (at most eight). */
export function lookUp(zone: Zone, name: string, type: RecordType, depth = 0): DnsAnswer {
  const node = zone[name];
  if (!node) {
    const below = Object.keys(zone).some((other) => other.endsWith(`.${name}`));
    return { status: below ? 'nodata' : 'nxdomain' };
  }
  if ('fails' in node) return { status: 'error', reason: node.fails };
  const records = node[type];
  if (records && records.length > 0)
    return { status: 'found', records, ttl: ZONE_TTL_SECONDS, authenticated: false };
  const target = node.CNAME?.[0];
  if (target && depth < 8) return lookUp(zone, target, type, depth + 1);
  return { status: 'nodata' };
}

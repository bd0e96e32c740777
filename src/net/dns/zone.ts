/** A resolver with a zone in memory, for the demo and tests. */

import { KNOWN } from './denials.ts';
import type { DnsAnswer, DnsErrorReason, RecordType, Resolver } from './resolver.ts';

/**
 * Names (lower case, no trailing dot) with their records, or with the failure of every lookup. `*.example.com` answers for
 * names that do not exist.
 */
export type Zone = Record<
  string,
  Partial<Record<RecordType, string[]>> | { fails: DnsErrorReason }
>;

export const ZONE_TTL_SECONDS = 300;
const MAX_ALIASES = 8;

/**
 * Creates a resolver for the zone. It follows CNAMEs. A name without records above another name of
 * the zone is an empty non-terminal: NODATA, not NXDOMAIN (RFC 8020). It knows the top of DNS, as every resolver does.
 */
export function zoneResolver(zone: Zone): Resolver {
  return async (name, type) => lookUp(zone, name.toLowerCase().replace(/\.$/, ''), type);
}

/** Looks up a name in the zone; follows CNAMEs. */
export function lookUp(zone: Zone, name: string, type: RecordType, depth = 0): DnsAnswer {
  const node = zone[name] ?? wildcardOf(zone, name);
  if (!node && name === KNOWN.name && type === KNOWN.type)
    return {
      status: 'found',
      records: ['a.gtld-servers.net'],
      ttl: ZONE_TTL_SECONDS,
      authenticated: false,
    };
  if (!node) return { status: hasDescendant(zone, name) ? 'nodata' : 'nxdomain' };
  if ('fails' in node) return { status: 'error', reason: node.fails };
  const records = node[type];
  if (records && records.length > 0)
    return { status: 'found', records, ttl: ZONE_TTL_SECONDS, authenticated: false };
  const target = node.CNAME?.[0];
  if (target && depth < MAX_ALIASES) return lookUp(zone, target, type, depth + 1);
  return { status: 'nodata' };
}

const hasDescendant = (zone: Zone, name: string): boolean =>
  Object.keys(zone).some((other) => other.endsWith(`.${name}`));

/** The wildcard of the closest encloser: the nearest name above that exists (RFC 4592 §3.3.1). */
function wildcardOf(zone: Zone, name: string): Zone[string] | undefined {
  const below = [name];
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const above = name.slice(dot + 1);
    const wildcard = zone[`*.${above}`];
    if (wildcard) return below.some((other) => exists(zone, other)) ? undefined : wildcard;
    below.push(above);
  }
  return undefined;
}

const exists = (zone: Zone, name: string): boolean =>
  zone[name] !== undefined || hasDescendant(zone, name);

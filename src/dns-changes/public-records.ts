/** The records as everyone sees them: for plans without a name server. */

import { isFromWildcard } from '../analysis/dns/wildcard.ts';
import { DNS_FAILURES, type RecordType, type Resolver, recordsOf } from '../net/dns/resolver.ts';
import { DEFAULT_TTL, DnsServerError, type RecordSource, WILDCARD_TYPES } from './server.ts';

/** Its TTLs are those of new records, because a cache only knows how long it keeps its copy. */
export function publicRecords(resolver: Resolver): RecordSource {
  async function lookUp(name: string, type: string): Promise<string[]> {
    const answer = await resolver(name, type as RecordType);
    const records = recordsOf(answer);
    if (records !== null) return records;
    const reason = answer.status === 'error' ? DNS_FAILURES[answer.reason] : '';
    throw new DnsServerError('unreachable', `Could not look up ${type} at ${name}: ${reason}.`);
  }
  /** As at a name server, an answer of a wildcard is no record of the name. */
  const isWildcard = async (zone: string, name: string, type: string): Promise<boolean> =>
    name !== zone && (await isFromWildcard(name, type as RecordType, resolver));
  return {
    async zoneOf(name) {
      for (let zone = name; zone.includes('.'); zone = zone.slice(zone.indexOf('.') + 1))
        // The SOA record of an alias is that of its target.
        if ((await lookUp(zone, 'CNAME')).length === 0 && (await lookUp(zone, 'SOA')).length > 0)
          return zone;
      return null;
    },
    read: async (zone, name, type) => ({
      name,
      type,
      ttl: DEFAULT_TTL,
      values: (await isWildcard(zone, name, type)) ? [] : await lookUp(name, type),
    }),
    async wildcardTypes(zone, name) {
      const found = await Promise.all(
        WILDCARD_TYPES.map(async (type) => ((await isWildcard(zone, name, type)) ? [type] : [])),
      );
      return found.flat();
    },
  };
}

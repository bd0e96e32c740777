/** The records as everyone sees them: for plans without a name server. */

import { DNS_FAILURES, type RecordType, type Resolver, recordsOf } from '../net/dns/resolver.ts';
import { DEFAULT_TTL, DnsServerError, type RecordSource } from './server.ts';

/** Its TTLs are those of new records, because a cache only knows how long it keeps its copy. */
export function publicRecords(resolver: Resolver): RecordSource {
  async function lookUp(name: string, type: string): Promise<string[]> {
    const answer = await resolver(name, type as RecordType);
    const records = recordsOf(answer);
    if (records !== null) return records;
    const reason = answer.status === 'error' ? DNS_FAILURES[answer.reason] : '';
    throw new DnsServerError('unreachable', `Could not look up ${type} at ${name}: ${reason}.`);
  }
  return {
    async zoneOf(name) {
      for (let zone = name; zone.includes('.'); zone = zone.slice(zone.indexOf('.') + 1))
        // The SOA record of an alias is that of its target.
        if ((await lookUp(zone, 'CNAME')).length === 0 && (await lookUp(zone, 'SOA')).length > 0)
          return zone;
      return null;
    },
    read: async (_zone, name, type) => ({
      ...{ name, type, ttl: DEFAULT_TTL },
      values: await lookUp(name, type),
    }),
  };
}

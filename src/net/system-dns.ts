/** The DNS servers of this machine. */

import { getServers } from 'node:dns';
import { type DnsServer, parseDnsServers } from '../lib/dns-servers.ts';

/** The servers of this machine's resolv.conf; loopback where it names none. */
export function systemDnsServers(): DnsServer[] {
  return parseDnsServers(getServers().join(',')) ?? [{ host: '127.0.0.1', port: 53 }];
}

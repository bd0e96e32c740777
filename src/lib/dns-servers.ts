/** DNS servers as people write them. */

import { isIP } from 'node:net';

export interface DnsServer {
  /** An IP address, an IPv6 one without brackets. */
  host: string;
  port: number;
}

/**
 * `127.0.0.1:5353,[::1]:53,192.0.2.53` as servers, port 53 where none is given; an IPv6 address
 * may stand without brackets where it has no port. Null where any of them is not one, or none is.
 */
export function parseDnsServers(text: string): DnsServer[] | null {
  const servers: DnsServer[] = [];
  for (const item of text.split(',').map((piece) => piece.trim())) {
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
  // Brackets are for IPv6 alone (RFC 3986 §3.2.2).
  if (isIP(host) !== (match?.[1] === undefined ? 4 : 6)) return null;
  return port >= 1 && port <= 65_535 ? { host, port } : null;
}

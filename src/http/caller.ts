/** From where a request comes: the address of the client and how it reached us. */

import { inNetworks, type Network, normalizeAddress } from '../lib/addresses.ts';

export interface Caller {
  /** null where it is not known, as for a socket that is gone. */
  ip: string | null;
  /** Cut to 500 characters. */
  userAgent: string | null;
  /** Over TLS, to us or to a trusted proxy. */
  secure: boolean;
}

/** What node:http knows of the connection below a request. */
export interface Peer {
  remoteAddress?: string;
  /** Set on the sockets of TLS. */
  encrypted?: boolean;
}

const USER_AGENT_MAX = 500;

/** What `X-Forwarded-For` and `X-Forwarded-Proto` say counts where the peer is a trusted proxy. */
export function callerOf(headers: Headers, peer: Peer, trusted: Network[]): Caller {
  const address = normalizeAddress(peer.remoteAddress ?? '');
  const byProxy = address !== null && trusted.length > 0 && inNetworks(address, trusted);
  return {
    ip: byProxy ? forwardedFor(address, headers.get('x-forwarded-for') ?? '', trusted) : address,
    userAgent: headers.get('user-agent')?.slice(0, USER_AGENT_MAX) ?? null,
    secure:
      (byProxy ? forwardedOverTls(headers.get('x-forwarded-proto')) : null) ??
      peer.encrypted === true,
  };
}

/**
 * Each proxy adds, on the right, the address that it was reached from. So the list is read from the
 * right for as long as the one who wrote it is trusted; what is left of the first who is not may be
 * invented, and so may what is left of something that is no address.
 */
function forwardedFor(peer: string, header: string, trusted: Network[]): string {
  let address = peer;
  for (const entry of header.split(',').reverse()) {
    const before = normalizeAddress(withoutPort(entry.trim()));
    if (before === null) break;
    address = before;
    if (!inNetworks(address, trusted)) break;
  }
  return address;
}

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  return entry.replace(/^(\[[^\]]*\]|[\d.]+):\d{1,5}$/, '$1');
}

/** The first is what the client spoke, where several proxies have added theirs; null where none says. */
function forwardedOverTls(header: string | null): boolean | null {
  const first = header?.split(',', 1)[0]?.trim().toLowerCase();
  return first === 'https' ? true : first === 'http' ? false : null;
}

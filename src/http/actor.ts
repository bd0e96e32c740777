/** Who asks, and from where: a member through a key or a signed-in browser, with the role that counts for this request. */

import type { App } from '../app.ts';
import { inNetworks, type Network, normalizeAddress } from '../lib/addresses.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';

export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export interface Actor {
  memberId: string;
  email: string;
  /** The member's present role; of a key, the lower of its role and that. */
  role: Role;
  /** false for a test-mode key, which makes and sees sandbox objects. */
  livemode: boolean;
  /** One of the two is set. */
  keyId: string | null;
  sessionId: string | null;
}

export interface Credential {
  /** `key`: the bearer token. `session`: what the cookie of a browser holds. */
  kind: 'key' | 'session';
  token: string;
}

/** The actor as they are inside a transaction: since the request was let in, much may have changed. */
export interface CurrentActor {
  member: MemberRow;
  /** The role that counts for this request. */
  role: Role;
}

/** Of a request, what tells who asks and whether they still may. */
export interface ActorContext {
  app: Pick<App, 'clock'>;
  actor: Pick<Actor, 'memberId' | 'role' | 'keyId' | 'sessionId'>;
}

/**
 * Looks again who asks, inside the transaction of a change. Throws `unauthenticated` and `forbidden`;
 * like `Identify` it is the business of a feature.
 */
export type Reauthorize = (
  db: Db | Tx,
  context: ActorContext,
  needed: Role,
) => Promise<CurrentActor>;

/** Turns the credential of a request into who asks, or null; what it takes is the feature's business. */
export type Identify = (credential: Credential) => Promise<Actor | null>;

/** Whether a role may do what needs another. */
export function allows(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** The one of two that may less. */
export function lowerRole(a: Role, b: Role): Role {
  return allows(a, b) ? b : a;
}

// From where a request comes: the address of the client, and what it calls itself.

export interface Caller {
  /** null where it is not known, as for a socket that is gone. */
  ip: string | null;
  /** Cut to 500 characters. */
  userAgent: string | null;
}

/** What node:http knows of the connection below a request. */
export interface Peer {
  remoteAddress?: string;
}

const USER_AGENT_MAX = 500;

/** What `X-Forwarded-For` says counts where the peer is a trusted proxy. */
export function callerOf(headers: Headers, peer: Peer, trusted: Network[]): Caller {
  const address = normalizeAddress(peer.remoteAddress ?? '');
  const byProxy = address !== null && trusted.length > 0 && inNetworks(address, trusted);
  return {
    ip: byProxy ? forwardedFor(address, headers.get('x-forwarded-for') ?? '', trusted) : address,
    userAgent: headers.get('user-agent')?.slice(0, USER_AGENT_MAX) ?? null,
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

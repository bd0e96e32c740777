/** The member who sends a request, by API key or session, and the address it comes from. */

import type { App } from '../app.ts';
import { inNetworks, type Network, normalizeAddress } from '../lib/addresses.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';

export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export interface Actor {
  memberId: string;
  email: string;
  /** The member's current role or, for a key, the lower of that and the key's role. */
  role: Role;
  /** false for a test-mode key, which creates and reads only test-mode objects. */
  livemode: boolean;
  /** Either `keyId` or `sessionId` is set. The ID of a connected assistant is a `keyId` too. */
  keyId: string | null;
  sessionId: string | null;
  /** The tags to which the caller is limited: those of the member, of the key, or of both. Null for everything. */
  tags: string[] | null;
  /** Set for a connected assistant, whose access token is valid for `/mcp` only. */
  assistant?: {
    /** Whether the member has allowed it to change settings. */
    writes: boolean;
  };
}

export interface Credential {
  /** `key` for a bearer token, `session` for the value of the session cookie. */
  kind: 'key' | 'session';
  token: string;
}

/** The actor, as read in a transaction. Their role may have changed since the request was authorized. */
export interface CurrentActor {
  member: MemberRow;
  /** The effective role of this request. */
  role: Role;
  tags: Actor['tags'];
}

/** The part of a request that reauthorization needs. */
export interface ActorContext {
  app: Pick<App, 'clock'>;
  actor: Pick<Actor, 'memberId' | 'role' | 'keyId' | 'sessionId' | 'tags'>;
}

/**
 * Authorizes the actor again inside the transaction of a change. In it, nobody can remove the member, change
 * their role or their limit, or revoke the credential until the transaction ends. `changesCaller` is as in a route.
 * Rejects with `unauthenticated` or `forbidden`. Implemented by a feature, as `Identify` is.
 */
export type Reauthorize = (
  db: Db | Tx,
  context: ActorContext,
  required: Role,
  options?: { changesCaller?: boolean },
) => Promise<CurrentActor>;

/** Returns the actor of a credential, or null if it isn't valid. Implemented by a feature. */
export type Identify = (credential: Credential) => Promise<Actor | null>;

/** Whether a role includes the required one. */
export function allows(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** The role with fewer permissions. */
export function lowerRole(a: Role, b: Role): Role {
  return allows(a, b) ? b : a;
}

// The IP address and user agent of the client.

export interface Caller {
  /** null if unknown, for example because the socket is closed. */
  ip: string | null;
  /** Truncated to 500 characters. */
  userAgent: string | null;
}

/** The socket of a request, as node:http describes it. */
export interface Peer {
  remoteAddress?: string;
}

const MAX_USER_AGENT_LENGTH = 500;

/** `X-Forwarded-For` is used only if the peer is a trusted proxy. */
export function callerOf(headers: Headers, peer: Peer, trustedProxies: Network[]): Caller {
  const address = normalizeAddress(peer.remoteAddress ?? '');
  const isFromTrustedProxy =
    address !== null && trustedProxies.length > 0 && inNetworks(address, trustedProxies);
  return {
    ip: isFromTrustedProxy
      ? forwardedFor(address, headers.get('x-forwarded-for') ?? '', trustedProxies)
      : address,
    userAgent: headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
  };
}

/**
 * Each proxy appends the address of its client, so the list is read from the right, as long as the
 * address that appended the entry is a trusted proxy. Entries further left may be forged.
 */
function forwardedFor(peer: string, header: string, trustedProxies: Network[]): string {
  let address = peer;
  for (const entry of header.split(',').reverse()) {
    const client = normalizeAddress(withoutPort(entry.trim()));
    if (client === null) break;
    address = client;
    if (!inNetworks(address, trustedProxies)) break;
  }
  return address;
}

/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  return entry.replace(/^(\[[^\]]*\]|[\d.]+):\d{1,5}$/, '$1');
}

/** Who asks: a member through a key or a signed-in browser, with the role that counts for this request. */

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

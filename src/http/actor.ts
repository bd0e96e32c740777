/** Who asks: a member through a key, with the role that counts for this request. */

export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export interface Actor {
  memberId: string;
  keyId: string;
  /** The lower of the key's role and the member's present one. */
  role: Role;
  /** false for a test-mode key, which makes and sees sandbox objects. */
  livemode: boolean;
}

/** Turns the bearer token of a request into who asks, or null; what it takes is the feature's business. */
export type Identify = (bearer: string) => Promise<Actor | null>;

/** Whether a role may do what needs another. */
export function allows(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** The one of two that may less. */
export function lowerRole(a: Role, b: Role): Role {
  return allows(a, b) ? b : a;
}

/** What an OpenID Connect provider says about a person. */

import type { Config } from '../config/config.ts';
import type { RoleEntry } from '../config/readers.ts';
import { allows, ROLES, type Role } from '../http/actor.ts';
import { normalizeEmail } from './members.ts';

type Claims = Record<string, unknown>;

/** The claims of the ID token take precedence. */
export interface PersonClaims {
  /** With `iss` and `sub`, which together identify the account (OpenID Connect Core §5.7). */
  idToken: Claims & { iss: string; sub: string };
  userinfo: Claims;
}

type OidcConfig = Pick<Config, 'OIDC_TRUST_EMAIL' | 'OIDC_ROLES'>;

/** Whether the ID token lacks a claim that the userinfo endpoint may have. */
export const needsUserinfo = (
  idToken: Claims,
  { OIDC_TRUST_EMAIL, OIDC_ROLES }: OidcConfig,
): boolean =>
  !isText(idToken.email) ||
  (!OIDC_TRUST_EMAIL && isVerified(idToken) === null) ||
  OIDC_ROLES.some(({ claim }) => idToken[claim] === undefined);

const claimOf = ({ idToken, userinfo }: PersonClaims, name: string): unknown =>
  idToken[name] ?? userinfo[name];

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

// The email address.

/**
 * Whether the provider has verified the address in these claims; null if it doesn't say. Cognito sends `"true"`. Entra
 * sends `xms_edov` (https://learn.microsoft.com/entra/identity-platform/optional-claims-reference).
 */
function isVerified({ email_verified, xms_edov }: Claims): boolean | null {
  const edov = xms_edov === 1 || xms_edov === '1' ? true : xms_edov;
  const said = [email_verified, edov].filter((value) => value !== undefined && value !== null);
  return said.length === 0 ? null : said.every((value) => String(value) === 'true');
}

const TRUST = 'DELIVERABILITY_OIDC_TRUST_EMAIL';

/** The normalized address, or why there is none: for the log, and for the person. */
export function readAddress(
  claims: PersonClaims,
  { OIDC_TRUST_EMAIL: trusted }: Pick<OidcConfig, 'OIDC_TRUST_EMAIL'>,
): string | [reason: string, detail: string] {
  // Each is about its own address.
  const sources = [claims.idToken, claims.userinfo].filter(({ email }) => isText(email));
  const username = claimOf(claims, 'preferred_username');
  const email = sources[0]?.email ?? (trusted ? username : null);
  if (!isText(email)) {
    const hint = isText(username) ? `, or set ${TRUST} to use preferred_username` : '';
    return [
      'no address',
      `Your identity provider sends no email address: the claim email is missing. Your administrator can add it there${hint}.`,
    ];
  }
  const statements = sources.filter((source) => source.email === email).map(isVerified);
  const verified = statements.find((statement) => statement !== null);
  if (!trusted && !verified)
    return [
      'address not verified',
      `Your identity provider ${
        verified === false
          ? `says that it hasn't verified ${email}`
          : `doesn't say whether it has verified ${email}: the claim email_verified is missing, or xms_edov for Microsoft Entra`
      }. If people can't choose their own address there, your administrator can set ${TRUST}.`,
    ];
  return (
    normalizeEmail(email) ?? [
      'unsupported address',
      `${email} isn't a supported email address. Ask an admin to invite another address.`,
    ]
  );
}

// The role.

/** The values of a claim: a text, a list, or the names in an object, as Zitadel sends its roles. */
function valuesOf(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.map(String);
  if (typeof claim === 'object' && claim !== null) return Object.keys(claim);
  return claim === undefined || claim === null ? [] : [String(claim)];
}

export const claimedRole = (claims: PersonClaims, entries: RoleEntry[]): Role | null =>
  ROLES.findLast((role) =>
    entries.some(
      (entry) =>
        entry.role === role && valuesOf(claimOf(claims, entry.claim)).includes(entry.value),
    ),
  ) ?? null;

/** The configured claims that were too long for the token, such as over 200 groups at Entra (OpenID Connect Core §5.6.2). */
export const omittedClaims = (claims: PersonClaims, entries: RoleEntry[]): string[] => {
  const distributed = valuesOf(claimOf(claims, '_claim_names'));
  return claimNames(entries).filter(
    (claim) => distributed.includes(claim) && claimOf(claims, claim) === undefined,
  );
};

export const claimNames = (entries: RoleEntry[]): string[] => [
  ...new Set(entries.map(({ claim }) => claim)),
];

/**
 * The role of a member after a sign-in. Roles that no entry gives are assigned by admins, and claims don't lower them. Who
 * no longer matches gets the next lower role that no entry gives.
 */
export function nextRole(current: Role, claims: PersonClaims, entries: RoleEntry[]): Role {
  if (current === 'owner') return current;
  const claimed = claimedRole(claims, entries);
  const isGiven = (role: Role) => entries.some((entry) => entry.role === role);
  const mustStay = !isGiven(current) || omittedClaims(claims, entries).length > 0;
  if (mustStay) return claimed && allows(claimed, current) ? claimed : current;
  return claimed ?? ROLES.findLast((role) => !allows(role, current) && !isGiven(role)) ?? 'viewer';
}

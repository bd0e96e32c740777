/** Who comes from the provider gets a session: a member, or somebody invited, who joins by it. */

import * as v from 'valibot';
import { Name } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import type { MemberRow } from '../store/tables.ts';
import { join } from './accept-invitation.ts';
import { normalizeEmail } from './email-address.ts';
import { findMemberByEmail } from './members.ts';
import type { Claims } from './oidc-flow.ts';
import { startSession, type Visit } from './session-sign-in.ts';

/** Throws `forbidden` for who is neither on the team nor invited, and for an address that is not verified. */
export async function signInByClaims(
  visit: Visit,
  claims: Claims,
): Promise<{ token: string; member: MemberRow }> {
  const email = verifiedEmail(claims);
  if (email === null) throw refusal(visit, 'no verified address', unverified(claims));
  const member = await memberOf(visit, email, claims.name);
  const session = member && (await startSession(visit, member, { by: 'oidc' }));
  if (session) return session;
  throw refusal(
    visit,
    'not on the team',
    `${email} is not on the team. Ask an admin of the team to invite this address.`,
  );
}

/** As members have it; null where the provider does not vouch for it. */
function verifiedEmail({ email, email_verified }: Claims): string | null {
  return typeof email === 'string' && email_verified === true ? normalizeEmail(email) : null;
}

function unverified({ email, email_verified }: Claims): string {
  if (typeof email !== 'string')
    return 'The service that signs you in does not say what your e-mail address is.';
  return email_verified === true
    ? `${email} is no address that a member can have. Ask an admin of the team for an invitation to another.`
    : `The service that signs you in has not verified ${email}. Confirm the address there, or ask an admin of the team for an invitation to another.`;
}

/** In one transaction: who joins twice at once is one member. */
function memberOf(visit: Visit, email: string, name: unknown): Promise<MemberRow | null> {
  const { app } = visit;
  const now = isoTime(app.clock.now());
  return app.db.transaction().execute(async (tx) => {
    const member = await findMemberByEmail(tx, email);
    if (member) return member;
    const invitation = await tx
      .selectFrom('invitations')
      .selectAll()
      .where('email', '=', email)
      .where('accepted_at', 'is', null)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', now)
      .executeTakeFirst();
    if (!invitation) return null;
    return join(tx, visit, invitation, { name: nameOf(name, email), passwordHash: null });
  });
}

/** The provider's, where it can be one here; else what stands before the @. */
function nameOf(name: unknown, email: string): string {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.trim(), Name), name);
  return success ? output : email.slice(0, email.lastIndexOf('@'));
}

function refusal({ app, requestId, caller }: Visit, reason: string, said: string): AppError {
  const fields = { request_id: requestId, ip: caller.ip, reason };
  app.log.info('sign-in by OpenID Connect refused', fields);
  return new AppError('forbidden', said);
}

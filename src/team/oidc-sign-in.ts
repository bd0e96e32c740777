/** Sign-in with the claims of an OpenID Connect provider: finds, links or adds the member, and applies the role. */

import * as v from 'valibot';
import type { RoleEntry } from '../config/readers.ts';
import { lowerRole, type Role } from '../http/actor.ts';
import { Name } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { isUniqueViolation } from '../store/errors.ts';
import { lockIn, type Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { joinTeam } from './accept-invitation.ts';
import { type Author, audit } from './audit.ts';
import { AUDITED_MEMBER } from './audited.ts';
import { newMember, setRole } from './members.ts';
import {
  claimedRole,
  claimNames,
  nextRole,
  omittedClaims,
  type PersonClaims,
  readAddress,
} from './oidc-claims.ts';
import { type SignInRequest, startSession } from './sign-in.ts';

/** Throws `forbidden` for a person who is not a member, not invited and has no role, and without a verified address. */
export async function signInWithClaims(
  request: SignInRequest,
  claims: PersonClaims,
): Promise<{ token: string; member: MemberRow }> {
  const member = await repeatOnce(() => findOrAddMember(request, claims));
  const session = await startSession(request, member, { by: 'oidc' });
  return (
    session ?? refuse(request, 'changed meanwhile', 'Your account was changed. Sign in again.')
  );
}

/** Of two sign-ins that add or link the same member, the second finds what the first has done. */
async function repeatOnce<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUniqueViolation(error) && !(error instanceof AppError && error.code === 'conflict'))
      throw error;
    return work();
  }
}

function findOrAddMember(request: SignInRequest, claims: PersonClaims): Promise<MemberRow> {
  const { iss, sub } = claims.idToken;
  return request.transact(async (tx) => {
    const linked = await find(tx, { oidc_issuer: iss, oidc_subject: sub });
    if (linked) return applyRole(tx, request, claims, linked);
    const email = readAddress(claims, request.app.config);
    if (typeof email !== 'string') return refuse(request, ...email);
    const member = (await find(tx, { email })) ?? (await addMember(tx, request, claims, email));
    return applyRole(tx, request, claims, await link(tx, request, claims, member));
  });
}

const find = (
  tx: Tx,
  values: Partial<Pick<MemberRow, 'email' | 'oidc_issuer' | 'oidc_subject'>>,
): Promise<MemberRow | undefined> => {
  const query = tx
    .selectFrom('members')
    .selectAll()
    .where((eb) => eb.and(values));
  return lockIn(tx, query).executeTakeFirst();
};

/** A link to another provider, which was configured before, is replaced. */
async function link(
  tx: Tx,
  request: SignInRequest,
  { idToken: { iss, sub } }: PersonClaims,
  member: MemberRow,
): Promise<MemberRow> {
  if (member.oidc_issuer === iss && member.oidc_subject === sub) return member;
  if (member.oidc_issuer === iss)
    return refuse(
      request,
      'linked to another account',
      `${member.email} is linked to another account at ${new URL(iss).host}. If that account no longer exists, ask an admin to unlink it.`,
    );
  const account = {
    oidc_issuer: iss,
    oidc_subject: sub,
    oidc_linked_at: isoTime(request.app.clock.now()),
  };
  await tx.updateTable('members').set(account).where('id', '=', member.id).execute();
  await audit(tx, authorOf(request, member), AUDITED_MEMBER, 'member.linked', member.id, {
    issuer: iss,
  });
  return { ...member, ...account };
}

async function applyRole(
  tx: Tx,
  request: SignInRequest,
  claims: PersonClaims,
  member: MemberRow,
): Promise<MemberRow> {
  const { app, requestId } = request;
  const entries = app.config.OIDC_ROLES;
  const omitted = omittedClaims(claims, entries);
  if (omitted.length > 0)
    app.log.warn('OpenID Connect provider sent too many groups to list', {
      request_id: requestId,
      claims: omitted.join(', '),
    });
  const claimed = nextRole(member.role as Role, claims, entries);
  // Claims can't make an admin of a member whom an admin has limited.
  const role = member.tags === null ? claimed : lowerRole(claimed, 'member');
  if (role === member.role) return member;
  const revokedAccess = await setRole(tx, member, role, isoTime(app.clock.now()));
  await audit(tx, authorOf(request, member), AUDITED_MEMBER, 'member.changed', member.id, {
    role: { from: member.role, to: role },
    by: 'oidc',
    ...revokedAccess,
  });
  return { ...member, role };
}

async function addMember(
  tx: Tx,
  request: SignInRequest,
  claims: PersonClaims,
  email: string,
): Promise<MemberRow> {
  const { app } = request;
  const name = displayNameOf(claims.idToken.name ?? claims.userinfo.name, email);
  const pending = tx
    .selectFrom('invitations')
    .selectAll()
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', isoTime(app.clock.now()));
  const invitation = await lockIn(tx, pending).executeTakeFirst();
  if (invitation) return joinTeam(tx, request, invitation, { name, passwordHash: null });
  // A concurrent sign-in may have added the member meanwhile.
  const member = await find(tx, { email });
  if (member) return member;
  const { OIDC_ROLES } = app.config;
  const role = claimedRole(claims, OIDC_ROLES);
  if (role === null)
    return refuse(request, 'not on the team', notOnTeam(claims, OIDC_ROLES, email));
  const added = newMember(app, { email, name, role });
  await tx.insertInto('members').values(added).execute();
  await audit(tx, authorOf(request, added), AUDITED_MEMBER, 'member.created', added.id, {
    email,
    role,
    by: 'oidc',
  });
  return added;
}

function notOnTeam(claims: PersonClaims, entries: RoleEntry[], email: string): string {
  const omitted = omittedClaims(claims, entries);
  let text = `${email} is not on the team. Ask an admin to invite this address.`;
  if (omitted.length > 0)
    text += ` You are in too many groups, so your identity provider left out ${omitted.join(' and ')} (_claim_names). Your administrator can limit them to the groups of the application.`;
  else if (entries.length > 0)
    text += ` No value of the claim ${claimNames(entries).join(' or ')} has a role in DELIVERABILITY_OIDC_ROLES.`;
  return text;
}

const authorOf = ({ app, caller }: SignInRequest, { id, email }: MemberRow): Author => ({
  app,
  actor: { memberId: id, email, keyId: null, sessionId: null },
  caller,
});

/** The provider's name for the person if it is a valid name; otherwise the local part of the address. */
function displayNameOf(name: unknown, email: string): string {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.trim(), Name), name);
  return success ? output : email.slice(0, email.lastIndexOf('@'));
}

function refuse({ app, requestId, caller }: SignInRequest, reason: string, detail: string): never {
  const fields = { request_id: requestId, ip: caller.ip, reason };
  app.log.info('OpenID Connect sign-in failed', fields);
  throw new AppError('forbidden', detail);
}

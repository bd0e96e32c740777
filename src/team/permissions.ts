/** Who may do what to whom on the team (contract §3 and §6). */

import {
  type ActorContext,
  allows,
  type CurrentActor,
  lowerRole,
  type Role,
} from '../http/actor.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ApiKeyRow, MemberRow } from '../store/tables.generated.ts';
import { isKeyValid } from './api-keys.ts';
import { findMember } from './members.ts';
import { isSessionAlive } from './sessions.ts';

/**
 * The actor as they are inside the transaction: since the request was let in, they may have been
 * removed, their key revoked or their session ended (`unauthenticated`), or they may have been
 * lowered (`forbidden`).
 */
export async function reauthorize(
  db: Db | Tx,
  { app, actor }: ActorContext,
  needed: Role,
): Promise<CurrentActor> {
  const { memberId, keyId, sessionId } = actor;
  const now = app.clock.now();
  const member = await findMember(db, memberId);
  if (!member) throw unauthenticated('You are no longer on the team.');
  if (keyId !== null && !(await isKeyValid(db, keyId, now)))
    throw unauthenticated('The API key is no longer valid.');
  if (sessionId !== null && !(await isSessionAlive(db, sessionId, now)))
    throw unauthenticated('The session has ended. Sign in again.');
  const role = lowerRole(actor.role, member.role);
  requireRole(role, needed);
  return { member, role };
}

/** For what concerns the member's own account: no key that may less than they gets there. */
export function requireOwnRole({ role, member }: CurrentActor): void {
  requireRole(role, member.role);
}

/** As `reauthorize` and `requireOwnRole`, where nothing is changed. */
export async function reauthorizeOwnRole(
  db: Db | Tx,
  context: ActorContext,
): Promise<CurrentActor> {
  const current = await reauthorize(db, context, 'viewer');
  requireOwnRole(current);
  return current;
}

const unauthenticated = (detail: string) =>
  new AppError('unauthenticated', detail, [], { 'www-authenticate': 'Bearer' });

/** Throws `forbidden`, naming the role that is needed. */
export function requireRole(role: Role, needed: Role): void {
  if (!allows(role, needed))
    throw new AppError('forbidden', `This needs the role ${needed}; yours is ${role}.`);
}

/** Nobody gives a key a role above their own; to members and the invited, the schema sees to it. */
export function requireMayGive(role: Role, given: Role): void {
  if (!allows(role, given))
    throw new AppError(
      'forbidden',
      `To give the role ${given} needs the role ${given}; yours is ${role}.`,
    );
}

/** Nobody changes the owner, only the owner an admin; themselves, members do by `/v1/me`. */
export function requireMayChange(role: Role, target: MemberRow): void {
  if (target.role === 'owner')
    throw new AppError(
      'forbidden',
      'Nobody changes or removes the owner; the owner can transfer the ownership.',
    );
  requireRole(role, target.role === 'admin' ? 'owner' : 'admin');
}

/** As for changes; and everybody but the owner may leave, though not by a key that may less than they. */
export function requireMayRemove({ member, role }: CurrentActor, target: MemberRow): void {
  if (target.id === member.id && target.role !== 'owner') requireRole(role, target.role);
  else requireMayChange(role, target);
}

/** By a key, of the keys of its own member none that may more; which of others are seen, may be ended. */
export function requireMayRevoke(
  { member, role }: CurrentActor,
  key: Pick<ApiKeyRow, 'member_id' | 'role'>,
): void {
  if (key.member_id === member.id) requireRole(role, lowerRole(key.role, member.role));
}

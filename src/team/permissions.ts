/** Who may do what to whom on the team (contract §3 and §6). */

import { type Actor, allows, lowerRole, type Role } from '../http/actor.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.ts';
import { findMember } from './members.ts';

export interface Standing {
  member: MemberRow;
  /** The role that counts for this request. */
  role: Role;
}

/**
 * The actor as they are inside the transaction: since the request was let in, they may have been
 * removed (`unauthenticated`) or lowered (`forbidden`).
 */
export async function standing(
  tx: Tx,
  actor: Pick<Actor, 'memberId' | 'role'>,
  needed: Role,
): Promise<Standing> {
  const member = await findMember(tx, actor.memberId);
  if (!member)
    throw new AppError('unauthenticated', 'You are no longer on the team.', [], {
      'www-authenticate': 'Bearer',
    });
  const role = lowerRole(actor.role, member.role);
  requireRole(role, needed);
  return { member, role };
}

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
export function requireMayRemove({ member, role }: Standing, target: MemberRow): void {
  if (target.id === member.id && target.role !== 'owner') requireRole(role, target.role);
  else requireMayChange(role, target);
}

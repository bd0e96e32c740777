/** Permissions of team members (contract §3 and §6). */

import {
  type ActorContext,
  allows,
  type CurrentActor,
  lowerRole,
  type Role,
} from '../http/actor.ts';
import { roleError } from '../http/authorize.ts';
import { narrower, readLimit } from '../http/limited.ts';
import { AppError } from '../lib/errors.ts';
import { type Db, lockIn, shareIn, type Tx } from '../store/open.ts';
import type { ApiKeyRow, MemberRow } from '../store/tables.generated.ts';
import { findValidKey } from './api-keys.ts';
import { findConnected } from './assistants.ts';
import { isSessionValid } from './sessions.ts';

/**
 * The actor as of the transaction. Throws `unauthenticated` if the member was removed, the key revoked,
 * or the session ended since the request was authorized, and `forbidden` if the role is now too low. In a
 * transaction, all three stay as they are until it ends: a change is made before the access is revoked, and
 * the revocation sees it, or not at all.
 */
export async function reauthorize(
  db: Db | Tx,
  { app, actor }: ActorContext,
  required: Role,
  { changesCaller = false } = {},
): Promise<CurrentActor> {
  const { memberId, keyId, sessionId } = actor;
  const now = app.clock.now();
  const query = db.selectFrom('members').selectAll().where('id', '=', memberId);
  const lock = changesCaller ? lockIn : shareIn;
  const member = await lock(db, query).executeTakeFirst();
  if (!member) throw unauthenticated('You are no longer on the team.');
  const find = keyId?.startsWith('con_') ? findConnected : findValidKey;
  const key = keyId === null ? { tags: null } : await find(db, keyId, now, lock);
  if (!key) throw unauthenticated('Invalid API key. It has expired or been revoked.');
  if (sessionId !== null && !(await isSessionValid(db, sessionId, now, lock)))
    throw unauthenticated('Your session has expired. Sign in again.');
  const role = lowerRole(actor.role, member.role);
  requireRole(role, required);
  const tags = narrower(readLimit(key.tags), readLimit(member.tags));
  // What this request reads depends on the limit that it began with.
  if (JSON.stringify(tags) !== JSON.stringify(actor.tags))
    throw new AppError('forbidden', 'Your access has just changed. Try again.');
  return { member, role, tags };
}

/** For operations on the member's own account: a key must have the full role of its member. */
export function requireOwnRole({ role, member }: CurrentActor): void {
  requireRole(role, member.role);
}

/** `reauthorize` and `requireOwnRole` for requests that only read. */
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

/** Throws `forbidden` with the required role in its message. */
export function requireRole(role: Role, required: Role): void {
  if (!allows(role, required)) throw roleError(role, required);
}

/** A key can't have a higher role than its creator. For members, the schema limits the roles. */
export function requireCanAssign(role: Role, newRole: Role): void {
  if (!allows(role, newRole))
    throw new AppError(
      'forbidden',
      `You can't assign the ${newRole} role, because your role is ${role}.`,
    );
}

/** Nobody can change the owner, and only the owner can change admins. */
export function requireCanChange(role: Role, target: MemberRow): void {
  if (target.role === 'owner')
    throw new AppError(
      'forbidden',
      "The owner can't be changed or removed. Transfer ownership first.",
    );
  requireRole(role, target.role === 'admin' ? 'owner' : 'admin');
}

/**
 * The same rules as for changes, but members other than the owner may also leave. With an API key, they
 * need a key with their full role.
 */
export function requireCanRemove({ member, role }: CurrentActor, target: MemberRow): void {
  if (target.id === member.id && target.role !== 'owner') requireRole(role, target.role);
  else requireCanChange(role, target);
}

/** A key can't revoke its member's keys with a higher role. Other members' keys may be revoked if visible. */
export function requireCanRevoke(
  { member, role }: CurrentActor,
  key: Pick<ApiKeyRow, 'member_id' | 'role'>,
): void {
  if (key.member_id === member.id) requireRole(role, lowerRole(key.role, member.role));
}

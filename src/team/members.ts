/** Members in the database: find, list, change, and remove them. */

import type { App } from '../app.ts';
import { allows } from '../http/actor.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import { cancelMail } from '../outbox/queue.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { endSessions } from './sessions.ts';

/** The part of the App that queries of the team use. */
export type TeamContext = Pick<App, 'db' | 'clock' | 'newId'>;

export async function findOwner(db: Db | Tx): Promise<MemberRow | undefined> {
  return db.selectFrom('members').selectAll().where('role', '=', 'owner').executeTakeFirst();
}

export async function findMember(db: Db | Tx, id: string): Promise<MemberRow | undefined> {
  return db.selectFrom('members').selectAll().where('id', '=', id).executeTakeFirst();
}

/** `email` must be normalized. */
export async function findMemberByEmail(
  db: Db | Tx,
  email: string,
): Promise<MemberRow | undefined> {
  return db.selectFrom('members').selectAll().where('email', '=', email).executeTakeFirst();
}

/** Throws `not_found`. */
export async function memberOr404(db: Db | Tx, id: string): Promise<MemberRow> {
  const member = await findMember(db, id);
  if (!member) throw new AppError('not_found', 'No such member.');
  return member;
}

/** One page, newest first. */
export async function listMembers(db: Db, page: Page) {
  return fetchPage(db.selectFrom('members').selectAll(), page);
}

export async function renameMember(tx: Tx, id: string, name: string): Promise<void> {
  await tx.updateTable('members').set({ name }).where('id', '=', id).execute();
}

/** The access that ended with a change, for the audit log. */
interface RevokedAccess {
  sessions_ended: number;
  invitations_revoked: number;
}

/**
 * Changes the role of a member and ends their sessions. If the new role may not invite, revokes their
 * pending invitations. Throws `conflict` if the role has changed in the meantime, so that a concurrent
 * transfer is never undone.
 */
export async function setRole(
  tx: Tx,
  member: MemberRow,
  role: MemberRow['role'],
  now: string,
): Promise<RevokedAccess> {
  const { numUpdatedRows } = await tx
    .updateTable('members')
    .set({ role })
    .where('id', '=', member.id)
    .where('role', '=', member.role)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw concurrentChange();
  return {
    sessions_ended: await endSessions(tx, member.id),
    invitations_revoked: allows(role, 'admin') ? 0 : await revokeInvitationsOf(tx, member.id, now),
  };
}

/**
 * Removes a member with their sessions, keys, and pending invitations. Throws `conflict` as `setRole`
 * does.
 */
export async function removeMember(
  tx: Tx,
  member: MemberRow,
  now: string,
): Promise<RevokedAccess & { keys_ended: number }> {
  const keys = await tx
    .selectFrom('api_keys')
    .select('id')
    .where('member_id', '=', member.id)
    .where('revoked_at', 'is', null)
    .execute();
  const ended = {
    keys_ended: keys.length,
    sessions_ended: await endSessions(tx, member.id),
    invitations_revoked: await revokeInvitationsOf(tx, member.id, now),
  };
  // Deleting the row also deletes keys and password links.
  const { numDeletedRows } = await tx
    .deleteFrom('members')
    .where('id', '=', member.id)
    .where('role', '=', member.role)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) throw concurrentChange();
  return ended;
}

const concurrentChange = () =>
  new AppError(
    'conflict',
    'The member was changed by another request. Get the member, then try again.',
  );

/** Revokes the pending invitations of a member, who knows their links. Returns their number. */
export async function revokeInvitationsOf(tx: Tx, memberId: string, now: string): Promise<number> {
  const revoked = await tx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('invited_by', '=', memberId)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returning('mail_id')
    .execute();
  await cancelMail(
    tx,
    revoked.map(({ mail_id }) => mail_id),
  );
  return revoked.length;
}

// Email addresses of members.

/** ASCII dot-atoms (RFC 5321 §4.1.2, RFC 5322 §3.2.3), without comments or quoted strings. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const MAX_LOCAL_PART_LENGTH = 64;
export const MAX_EMAIL_LENGTH = 254;

/** In lower case, with the domain as A-labels; null if `text` isn't a single address. */
export function normalizeEmail(text: string): string | null {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0)).toLowerCase();
  const domain = normalizeDomain(text.slice(at + 1));
  if (local.length > MAX_LOCAL_PART_LENGTH || !LOCAL_PART.test(local) || domain === null)
    return null;
  const address = `${local}@${domain}`;
  return address.length <= MAX_EMAIL_LENGTH ? address : null;
}

/** An ownership transfer: the previous owner before it, and the new owner after it. */
export interface Handover {
  previous: MemberRow;
  owner: MemberRow;
}

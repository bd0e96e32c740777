/** Members in the database: find, list, change, remove. */

import type { App } from '../app.ts';
import { allows } from '../http/actor.ts';
import { type Page, pageOf } from '../http/schemas.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import { withdrawMail } from '../outbox/queue.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { endSessions } from './sessions.ts';

/** What the team's queries need of the App. */
export type TeamContext = Pick<App, 'db' | 'clock' | 'newId'>;

export async function findOwner(db: Db | Tx): Promise<MemberRow | undefined> {
  return db.selectFrom('members').selectAll().where('role', '=', 'owner').executeTakeFirst();
}

export async function findMember(db: Db | Tx, id: string): Promise<MemberRow | undefined> {
  return db.selectFrom('members').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The address in lower case, as it is kept. */
export async function findMemberByEmail(
  db: Db | Tx,
  email: string,
): Promise<MemberRow | undefined> {
  return db.selectFrom('members').selectAll().where('email', '=', email).executeTakeFirst();
}

/** Throws `not_found`. */
export async function memberOr404(db: Db | Tx, id: string): Promise<MemberRow> {
  const member = await findMember(db, id);
  if (!member) throw new AppError('not_found', 'There is no member with this id.');
  return member;
}

/** One page, newest first. */
export async function listMembers(db: Db, page: Page) {
  return pageOf(db.selectFrom('members').selectAll(), page);
}

export async function renameMember(tx: Tx, id: string, name: string): Promise<void> {
  await tx.updateTable('members').set({ name }).where('id', '=', id).execute();
}

/** What ended with a change, for the audit log. */
interface Ended {
  sessions_ended: number;
  invitations_revoked: number;
}

/**
 * Gives a member another role, which ends their sessions; one who may no longer invite takes their
 * open invitations along. Throws `conflict` where the member is no longer as given, so that a
 * transfer meanwhile is never undone.
 */
export async function setRole(
  tx: Tx,
  member: MemberRow,
  role: MemberRow['role'],
  now: string,
): Promise<Ended> {
  const { numUpdatedRows } = await tx
    .updateTable('members')
    .set({ role })
    .where('id', '=', member.id)
    .where('role', '=', member.role)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw changedMeanwhile();
  return {
    sessions_ended: await endSessions(tx, member.id),
    invitations_revoked: allows(role, 'admin') ? 0 : await revokeInvitationsOf(tx, member.id, now),
  };
}

/**
 * Removes a member with their sessions, keys and open invitations: who made an invitation knows its
 * link. Throws `conflict` as `setRole` does.
 */
export async function removeMember(
  tx: Tx,
  member: MemberRow,
  now: string,
): Promise<Ended & { keys_ended: number }> {
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
  // Keys and links to set a password go with the row.
  const { numDeletedRows } = await tx
    .deleteFrom('members')
    .where('id', '=', member.id)
    .where('role', '=', member.role)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) throw changedMeanwhile();
  return ended;
}

const changedMeanwhile = () =>
  new AppError('conflict', 'The member has been changed meanwhile. Look again, then try again.');

/** How many there were: who made an invitation knows its link. */
export async function revokeInvitationsOf(tx: Tx, memberId: string, now: string): Promise<number> {
  const open = await tx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('invited_by', '=', memberId)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returning('mail_id')
    .execute();
  await withdrawMail(
    tx,
    open.map(({ mail_id }) => mail_id),
  );
  return open.length;
}

// The e-mail address by which a member is known.

/** Dot-atoms of ASCII (RFC 5321 §4.1.2, RFC 5322 §3.2.3): no list, no comment, no quoted text. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LOCAL_MAX = 64;
export const EMAIL_MAX = 254;

/** Lower case, the domain as A-labels; null for what is not exactly one address. */
export function normalizeEmail(text: string): string | null {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0)).toLowerCase();
  const domain = normalizeDomain(text.slice(at + 1));
  if (local.length > LOCAL_MAX || !LOCAL_PART.test(local) || domain === null) return null;
  const address = `${local}@${domain}`;
  return address.length <= EMAIL_MAX ? address : null;
}

/** The former owner, and the new one as they are now. */
export interface Handover {
  former: MemberRow;
  owner: MemberRow;
}

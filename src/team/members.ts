/** Members in the database: find, list, change, and remove them. */

import type { App } from '../app.ts';
import { allows } from '../http/actor.ts';
import { readLimit } from '../http/limited.ts';
import { type Page, requireCursors } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { cancelMail } from '../outbox/queue.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { endSessions } from './sessions.ts';

/** The part of the App that the team's queries use. */
export type TeamContext = Pick<App, 'db' | 'clock' | 'newId'>;

export async function findOwner(db: Db | Tx): Promise<MemberRow | undefined> {
  return db.selectFrom('members').selectAll().where('role', '=', 'owner').executeTakeFirst();
}

export async function findMember(db: Db | Tx, id: string): Promise<MemberRow | undefined> {
  return db.selectFrom('members').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Locks the members in the order of their ids, so that two transactions cannot wait for each other. */
export async function lockMembers(tx: Tx, ids: string[]): Promise<Map<string, MemberRow>> {
  const query = tx.selectFrom('members').selectAll().where('id', 'in', ids).orderBy('id');
  const rows = await lockIn(tx, query).execute();
  return new Map(rows.map((row) => [row.id, row]));
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
  const query = db.selectFrom('members').selectAll().where('id', '=', id);
  const member = await lockIn(db, query).executeTakeFirst();
  if (!member) throw new AppError('not_found', 'No such member.');
  return member;
}

/**
 * All members, the owner first, then by name. A cursor limits them to the members after or before one,
 * so that a client that pages to the end stops. Throws `invalid_cursor`.
 */
export async function listMembers(db: Db, cursors: Omit<Page, 'limit'>): Promise<MemberRow[]> {
  const members = (await db.selectFrom('members').selectAll().execute()).toSorted(
    (a, b) => rank(a) - rank(b) || byName(a, b) || (a.id < b.id ? -1 : 1),
  );
  const indexOf = (cursor: string) => members.findIndex(({ id }) => id === cursor);
  await requireCursors(cursors, (cursor) => indexOf(cursor) >= 0);
  const { starting_after, ending_before } = cursors;
  if (starting_after !== undefined) return members.slice(indexOf(starting_after) + 1);
  return ending_before === undefined ? members : members.slice(0, indexOf(ending_before));
}

const rank = ({ role }: MemberRow): number => (role === 'owner' ? 0 : 1);

/** Ignores case and accents, as people expect of a list of names. */
const { compare } = new Intl.Collator('en', { sensitivity: 'base', numeric: true });
const byName = (a: MemberRow, b: MemberRow): number => compare(a.name, b.name);

/** The row of a person who joins now. */
export const newMember = (
  { clock, newId }: Pick<App, 'clock' | 'newId'>,
  fields: Pick<MemberRow, 'email' | 'name' | 'role'> & Partial<MemberRow>,
): MemberRow => ({
  id: newId('mem'),
  joined_at: isoTime(clock.now()),
  password_hash: null,
  time_zone: null,
  date_locale: null,
  tags: null,
  ...NOT_LINKED,
  ...fields,
});

/** Without an account at the OpenID Connect provider. */
export const NOT_LINKED = { oidc_issuer: null, oidc_subject: null, oidc_linked_at: null };

export async function renameMember(tx: Tx, id: string, name: string): Promise<void> {
  await tx.updateTable('members').set({ name }).where('id', '=', id).execute();
}

/** Throws `validation_failed` for a limited admin: they manage the whole team. */
export function requireLimitable(role: MemberRow['role'], tags: string[] | null): void {
  if (tags === null || !allows(role, 'admin')) return;
  const message = `must be null for the ${role} role: only viewers and members can be limited to tags`;
  throw invalidParams([{ param: 'tags', code: 'invalid', message }]);
}

/** The access that a change revoked, for the audit log. */
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
  requireLimitable(role, readLimit(member.tags));
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
  const revokedAccess = {
    keys_ended: keys.length,
    sessions_ended: await endSessions(tx, member.id),
    invitations_revoked: await revokeInvitationsOf(tx, member.id, now),
  };
  // Deleting the row also deletes keys, connected assistants, and password links.
  const { numDeletedRows } = await tx
    .deleteFrom('members')
    .where('id', '=', member.id)
    .where('role', '=', member.role)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) throw concurrentChange();
  return revokedAccess;
}

const concurrentChange = () =>
  new AppError(
    'conflict',
    'The member was changed by another request. Get the member, then try again.',
  );

/** Revokes the pending invitations that a member sent, because the member knows their links. Returns how many. */
export async function revokeInvitationsOf(tx: Tx, memberId: string, now: string): Promise<number> {
  const revokedInvitations = await tx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('invited_by', '=', memberId)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returning('mail_id')
    .execute();
  await cancelMail(
    tx,
    revokedInvitations.map(({ mail_id }) => mail_id),
  );
  return revokedInvitations.length;
}

// Email addresses of members.

/** ASCII dot-atoms (RFC 5321 §4.1.2, RFC 5322 §3.2.3), without comments or quoted strings. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const MAX_LOCAL_PART_LENGTH = 64;
export const MAX_EMAIL_LENGTH = 254;

/** In lower case, with the domain as A-labels; null if `text` isn't a single address. */
export function normalizeEmail(text: string): string | null {
  const at = text.lastIndexOf('@');
  const localPart = text.slice(0, Math.max(at, 0)).toLowerCase();
  const domain = normalizeDomain(text.slice(at + 1));
  if (localPart.length > MAX_LOCAL_PART_LENGTH || !LOCAL_PART.test(localPart) || domain === null)
    return null;
  const address = `${localPart}@${domain}`;
  return address.length <= MAX_EMAIL_LENGTH ? address : null;
}

/** An ownership transfer: the previous owner before it, and the new owner after it. */
export interface Handover {
  previous: MemberRow;
  owner: MemberRow;
}

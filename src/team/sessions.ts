/** Sessions of signed-in browsers in the database: made, known by their token, listed, ended. */

import type { App } from '../app.ts';
import type { Actor, Caller } from '../http/actor.ts';
import { type Page, pageOf } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import type { Job } from '../scheduler/scheduler.ts';
import type { Db, Tx } from '../store/open.ts';
import type { SessionRow } from '../store/tables.generated.ts';

/** Unused for so long, a session is over; and at last after the other, however much it is used. */
const IDLE_MS = 12 * 3_600_000;
export const LONGEST_MS = 30 * 86_400_000;

/** How long a session may have been used without its `last_seen_at` saying so. */
const LAST_SEEN_STEP_MS = 60_000;

/** A new session. Its token is in this answer alone; the database has its hash. */
export async function insertSession(
  tx: Tx,
  { clock, newId }: Pick<App, 'clock' | 'newId'>,
  memberId: string,
  { ip, userAgent }: Pick<Caller, 'ip' | 'userAgent'>,
): Promise<{ token: string; row: SessionRow }> {
  const token = randomSecret();
  const now = clock.now();
  const row: SessionRow = {
    id: newId('ses'),
    member_id: memberId,
    hash: sha256(token),
    created_at: isoTime(now),
    last_seen_at: isoTime(now),
    expires_at: isoTime(now + LONGEST_MS),
    ip,
    user_agent: userAgent,
  };
  await tx.insertInto('sessions').values(row).execute();
  return { token, row };
}

/** Whose session a cookie holds, with the member's present role: null for one that is unknown or over. */
export async function identifySession(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  token: string,
): Promise<Actor | null> {
  const now = clock.now();
  const row = await alive(db, now)
    .innerJoin('members', 'members.id', 'sessions.member_id')
    .select(['sessions.id', 'member_id', 'last_seen_at', 'role', 'email'])
    .where('hash', '=', sha256(token))
    .executeTakeFirst();
  if (!row) return null;
  if (Date.parse(row.last_seen_at) <= now - LAST_SEEN_STEP_MS)
    await db
      .updateTable('sessions')
      .set({ last_seen_at: isoTime(now) })
      .where('id', '=', row.id)
      .execute()
      // What cannot be written on a full disk must not keep anybody from reading.
      .catch(() => {});
  return {
    memberId: row.member_id,
    email: row.email,
    role: row.role,
    livemode: true,
    keyId: null,
    sessionId: row.id,
  };
}

/** A page of the sessions of a member that are not over. */
export function listSessions(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  memberId: string,
  page: Page,
): Promise<{ rows: SessionRow[]; hasMore: boolean }> {
  const mine = alive(db, clock.now()).selectAll('sessions').where('member_id', '=', memberId);
  return pageOf(mine, page);
}

function alive(db: Db | Tx, now: number) {
  return db
    .selectFrom('sessions')
    .where('expires_at', '>', isoTime(now))
    .where('last_seen_at', '>', isoTime(now - IDLE_MS));
}

/** Whether a session that was let in is not over yet. */
export async function isSessionAlive(db: Db | Tx, id: string, now: number): Promise<boolean> {
  const row = await alive(db, now).select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** Ends a session of the member; false where there is none such. */
export async function endSession(tx: Tx, memberId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('member_id', '=', memberId)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Ends all sessions of a member, but for the one that is `kept`; says how many there were. */
export async function endSessions(
  tx: Tx,
  memberId: string,
  kept: string | null = null,
): Promise<number> {
  let ending = tx.deleteFrom('sessions').where('member_id', '=', memberId);
  if (kept !== null) ending = ending.where('id', '!=', kept);
  const { numDeletedRows } = await ending.executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

// Deletes sessions that are over, and links to set a password that have long been so.

/** For so long, a dead link says that it is dead and not that it is unknown. */
const DEAD_LINK_MS = 30 * 86_400_000;

export function expireSessionsJob(app: App): Job {
  return { name: 'sessions.expire', tick: '0 23 * * * *', run: () => expireSessions(app) };
}

export async function expireSessions({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  await db
    .deleteFrom('sessions')
    .where(({ eb, or }) =>
      or([eb('expires_at', '<=', isoTime(now)), eb('last_seen_at', '<=', isoTime(now - IDLE_MS))]),
    )
    .execute();
  await db
    .deleteFrom('password_links')
    .where('expires_at', '<=', isoTime(now - DEAD_LINK_MS))
    .execute();
}

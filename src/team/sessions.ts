/** Sessions of signed-in browsers: creates, identifies, lists, and ends them. */

import type { App } from '../app.ts';
import type { Actor, Caller } from '../http/actor.ts';
import { readLimit } from '../http/limited.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { type Db, type lockIn, shareIn, type Tx } from '../store/open.ts';
import type { SessionRow } from '../store/tables.generated.ts';

/** A session ends after this time without a request, and at the latest after the maximum lifetime. */
const IDLE_TIMEOUT_MS = 12 * HOUR_MS;
export const MAX_SESSION_LIFETIME_MS = 30 * DAY_MS;

/** `last_seen_at` is updated at most this often. */
const LAST_SEEN_INTERVAL_MS = 60_000;

/** Creates a session. Only the return value has its token; the database has the hash. */
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
    expires_at: isoTime(now + MAX_SESSION_LIFETIME_MS),
    ip,
    user_agent: userAgent,
  };
  await tx.insertInto('sessions').values(row).execute();
  return { token, row };
}

/** The actor of a session token, with the member's current role; null if the token is unknown or expired. */
export async function identifySession(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  token: string,
): Promise<Actor | null> {
  const now = clock.now();
  const row = await validSessions(db, now)
    .innerJoin('members', 'members.id', 'sessions.member_id')
    .select(['sessions.id', 'member_id', 'last_seen_at', 'role', 'email', 'tags'])
    .where('hash', '=', sha256(token))
    .executeTakeFirst();
  if (!row) return null;
  if (Date.parse(row.last_seen_at) <= now - LAST_SEEN_INTERVAL_MS)
    await db
      .updateTable('sessions')
      .set({ last_seen_at: isoTime(now) })
      .where('id', '=', row.id)
      .execute()
      // A full disk must not block requests that only read.
      .catch(() => {});
  return {
    memberId: row.member_id,
    email: row.email,
    role: row.role,
    livemode: true,
    keyId: null,
    sessionId: row.id,
    tags: readLimit(row.tags),
  };
}

/** One page of a member's valid sessions. */
export function listSessions(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  memberId: string,
  page: Page,
): Promise<{ rows: SessionRow[]; hasMore: boolean }> {
  const query = validSessions(db, clock.now())
    .selectAll('sessions')
    .where('member_id', '=', memberId);
  return fetchPage(query, page);
}

function validSessions(db: Db | Tx, now: number) {
  return db
    .selectFrom('sessions')
    .where('expires_at', '>', isoTime(now))
    .where('last_seen_at', '>', isoTime(now - IDLE_TIMEOUT_MS));
}

/** In a transaction, the session stays valid until it ends. */
export async function isSessionValid(
  db: Db | Tx,
  id: string,
  now: number,
  lock: typeof lockIn = shareIn,
): Promise<boolean> {
  const query = validSessions(db, now).select('id').where('id', '=', id);
  const row = await lock(db, query).executeTakeFirst();
  return row !== undefined;
}

/** Ends a session of the member; false if they have no such session. */
export async function endSession(tx: Tx, memberId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('member_id', '=', memberId)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Ends all sessions of a member except `exceptId`. Returns their number. */
export async function endSessions(
  tx: Tx,
  memberId: string,
  exceptId: string | null = null,
): Promise<number> {
  let query = tx.deleteFrom('sessions').where('member_id', '=', memberId);
  if (exceptId !== null) query = query.where('id', '!=', exceptId);
  const { numDeletedRows } = await query.executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

// Deletes expired sessions and password links.

/** Expired links are retained this long, so that the error can say that the link has expired. */
const EXPIRED_LINK_RETENTION_MS = 30 * DAY_MS;

export function expireSessionsJob(app: App): Job {
  return { name: 'sessions.expire', tick: '0 23 * * * *', run: () => expireSessions(app) };
}

export async function expireSessions({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  await db
    .deleteFrom('sessions')
    .where(({ eb, or }) =>
      or([
        eb('expires_at', '<=', isoTime(now)),
        eb('last_seen_at', '<=', isoTime(now - IDLE_TIMEOUT_MS)),
      ]),
    )
    .execute();
  await db
    .deleteFrom('password_links')
    .where('expires_at', '<=', isoTime(now - EXPIRED_LINK_RETENTION_MS))
    .execute();
}

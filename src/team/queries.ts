/** Members and API keys in the database. */

import type { App } from '../app.ts';
import { type Actor, lowerRole, type Role } from '../http/actor.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ApiKeyRow, MemberRow } from '../store/tables.ts';

/** What the queries need of the App. */
export type TeamContext = Pick<App, 'db' | 'clock' | 'newId'>;

/** How much of a key stays readable: enough to tell keys apart. */
const PREFIX_LENGTH = 14;

/** How long a key may have been used without its `last_used_at` saying so. */
const LAST_USED_STEP_MS = 60_000;

export async function findOwner(db: Db | Tx): Promise<MemberRow | undefined> {
  return db.selectFrom('members').selectAll().where('role', '=', 'owner').executeTakeFirst();
}

/**
 * Makes this address the owner: a new member on a team without one; on a team with one, the member
 * of that address takes over, or the owner's address changes to it. One transaction, so that there
 * is never no owner and never two.
 */
export async function makeOwner(
  { db, clock, newId }: TeamContext,
  email: string,
): Promise<{ owner: MemberRow; created: boolean }> {
  return db.transaction().execute(async (tx) => {
    const present = await findOwner(tx);
    const member = await tx
      .selectFrom('members')
      .selectAll()
      .where('email', '=', email.toLowerCase())
      .executeTakeFirst();
    if (member) {
      if (present && present.id !== member.id)
        await tx
          .updateTable('members')
          .set({ role: 'admin' })
          .where('id', '=', present.id)
          .execute();
      await tx.updateTable('members').set({ role: 'owner' }).where('id', '=', member.id).execute();
      return { owner: { ...member, role: 'owner' }, created: false };
    }
    if (present) {
      const changed = { email: email.toLowerCase() };
      await tx.updateTable('members').set(changed).where('id', '=', present.id).execute();
      return { owner: { ...present, ...changed }, created: false };
    }
    const owner: MemberRow = {
      id: newId('mem'),
      email: email.toLowerCase(),
      name: email.split('@')[0]!,
      role: 'owner',
      joined_at: isoTime(clock.now()),
      password_hash: null,
    };
    await tx.insertInto('members').values(owner).execute();
    return { owner, created: true };
  });
}

export interface NewKey {
  memberId: string;
  name: string;
  role: Role;
  livemode: boolean;
  /** Milliseconds from now; null for a key that does not expire. */
  expiresIn?: number | null;
}

/** A new key. Its text is in this answer alone; the database has its hash. */
export async function createApiKey(
  { db, clock, newId }: TeamContext,
  { memberId, name, role, livemode, expiresIn = null }: NewKey,
): Promise<{ key: string; row: ApiKeyRow }> {
  const key = `dlv_${livemode ? 'live' : 'test'}_${randomSecret()}`;
  const now = clock.now();
  const row: ApiKeyRow = {
    id: newId('key'),
    member_id: memberId,
    name,
    role,
    livemode: livemode ? 1 : 0,
    hash: sha256(key),
    prefix: key.slice(0, PREFIX_LENGTH),
    created_at: isoTime(now),
    expires_at: expiresIn === null ? null : isoTime(now + expiresIn),
    revoked_at: null,
    last_used_at: null,
  };
  await db.insertInto('api_keys').values(row).execute();
  return { key, row };
}

/** Who a key stands for now: null where it is unknown, expired or revoked. */
export async function identifyKey({ db, clock }: TeamContext, key: string): Promise<Actor | null> {
  if (!key.startsWith('dlv_')) return null;
  const row = await db
    .selectFrom('api_keys')
    .innerJoin('members', 'members.id', 'api_keys.member_id')
    .select([
      'api_keys.id',
      'member_id',
      'livemode',
      'api_keys.role',
      'expires_at',
      'revoked_at',
      'last_used_at',
      'members.role as member_role',
      'members.email',
    ])
    .where('hash', '=', sha256(key))
    .executeTakeFirst();
  const now = clock.now();
  if (!row || row.revoked_at !== null) return null;
  if (row.expires_at !== null && Date.parse(row.expires_at) <= now) return null;
  if (row.last_used_at === null || Date.parse(row.last_used_at) <= now - LAST_USED_STEP_MS)
    await db
      .updateTable('api_keys')
      .set({ last_used_at: isoTime(now) })
      .where('id', '=', row.id)
      .execute();
  return {
    memberId: row.member_id,
    email: row.email,
    keyId: row.id,
    sessionId: null,
    role: lowerRole(row.role, row.member_role),
    livemode: row.livemode === 1,
  };
}

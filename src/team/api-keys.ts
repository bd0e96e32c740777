/** API keys in the database: make, find, list, revoke, and whom one stands for. */

import { type Actor, allows, lowerRole, type Role } from '../http/actor.ts';
import { type Page, pageOf } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ApiKeyRow } from '../store/tables.generated.ts';
import { type Author, audit } from './audit.ts';
import type { TeamContext } from './members.ts';

/** How much of a key stays readable: enough to tell keys apart. */
const PREFIX_LENGTH = 14;

/** How long a key may have been used without its `last_used_at` saying so. */
const LAST_USED_STEP_MS = 60_000;

export interface NewKey {
  memberId: string;
  name: string;
  role: Role;
  livemode: boolean;
  /** Milliseconds from now; null for a key that does not expire. */
  expiresIn?: number | null;
  /** In ISO 8601: whatever `expiresIn` says, it expires by then. */
  notAfter?: string | null;
}

export interface MadeKey {
  /** The key itself. It is in this answer alone; the database has its hash. */
  key: string;
  row: ApiKeyRow;
}

/** A new key, made at the machine. */
export async function createApiKey(context: TeamContext, seed: NewKey): Promise<MadeKey> {
  const author = { app: context, actor: null, caller: { ip: null } };
  return context.db.transaction().execute((tx) => insertApiKey(tx, author, seed));
}

export async function insertApiKey(
  tx: Tx,
  author: Author,
  { memberId, name, role, livemode, expiresIn = null, notAfter = null }: NewKey,
): Promise<MadeKey> {
  const key = `dlv_${livemode ? 'live' : 'test'}_${randomSecret()}`;
  const now = author.app.clock.now();
  const row: ApiKeyRow = {
    id: author.app.newId('key'),
    member_id: memberId,
    name,
    role,
    livemode: livemode ? 1 : 0,
    hash: sha256(key),
    prefix: key.slice(0, PREFIX_LENGTH),
    created_at: isoTime(now),
    expires_at: earlier(expiresIn === null ? null : isoTime(now + expiresIn), notAfter),
    revoked_at: null,
    last_used_at: null,
  };
  await tx.insertInto('api_keys').values(row).execute();
  await audit(tx, author, {
    action: 'api_key.created',
    object: { type: 'api_key', id: row.id },
    details: { name, role, livemode, member_id: memberId, expires_at: row.expires_at },
  });
  return { key, row };
}

/** Of two times of expiry, null for never. */
function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return Date.parse(a) < Date.parse(b) ? a : b;
}

/** When a key expires; null for never. Throws where there is none. */
export async function expiryOfKey(tx: Tx, id: string): Promise<string | null> {
  const { expires_at } = await tx
    .selectFrom('api_keys')
    .select('expires_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return expires_at;
}

/** Everybody sees their own keys, an admin and the owner those of all. */
type Viewer = Pick<Actor, 'memberId' | 'role'>;

/** Keys that are not revoked, those of others only for whom may see them. */
function visible(db: Db | Tx, { memberId, role }: Viewer) {
  const live = db.selectFrom('api_keys').selectAll().where('revoked_at', 'is', null);
  return allows(role, 'admin') ? live : live.where('member_id', '=', memberId);
}

/** One page, newest first. */
export async function listApiKeys(db: Db, viewer: Viewer, page: Page) {
  return pageOf(visible(db, viewer), page);
}

/** Throws `not_found`, for a revoked key and for one that the viewer may not see too. */
export async function apiKeyOr404(db: Db | Tx, viewer: Viewer, id: string): Promise<ApiKeyRow> {
  const row = await visible(db, viewer).where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no API key with this id.');
  return row;
}

/** Ends a key at once. */
export async function revokeApiKey(
  tx: Tx,
  author: Author,
  { id, name, role, member_id }: ApiKeyRow,
): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ revoked_at: isoTime(author.app.clock.now()) })
    .where('id', '=', id)
    .execute();
  await audit(tx, author, {
    action: 'api_key.revoked',
    object: { type: 'api_key', id },
    details: { name, role, member_id },
  });
}

/** Keys that are neither revoked nor expired. */
function valid(db: Db | Tx, now: number) {
  return db
    .selectFrom('api_keys')
    .where('revoked_at', 'is', null)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', isoTime(now))]));
}

/** Whether a key that was let in may still be used. */
export async function isKeyValid(db: Db | Tx, id: string, now: number): Promise<boolean> {
  const row = await valid(db, now).select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** What cannot be written on a full disk must not keep anybody from reading. */
async function noteUse(db: Db, id: string, now: number): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: isoTime(now) })
    .where('id', '=', id)
    .execute()
    .catch(() => {});
}

/** Who a key stands for now: null where it is unknown, expired or revoked. */
export async function identifyKey({ db, clock }: TeamContext, key: string): Promise<Actor | null> {
  if (!key.startsWith('dlv_')) return null;
  const now = clock.now();
  const row = await valid(db, now)
    .innerJoin('members', 'members.id', 'api_keys.member_id')
    .select([
      'api_keys.id',
      'member_id',
      'livemode',
      'api_keys.role',
      'last_used_at',
      'members.role as member_role',
      'members.email',
    ])
    .where('hash', '=', sha256(key))
    .executeTakeFirst();
  if (!row) return null;
  if (row.last_used_at === null || Date.parse(row.last_used_at) <= now - LAST_USED_STEP_MS)
    await noteUse(db, row.id, now);
  return {
    memberId: row.member_id,
    email: row.email,
    keyId: row.id,
    sessionId: null,
    role: lowerRole(row.role, row.member_role),
    livemode: row.livemode === 1,
  };
}

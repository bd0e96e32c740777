/** API keys in the database: create, find, list, revoke, and identify them. */

import { type Actor, allows, lowerRole, type Role } from '../http/actor.ts';
import { narrower, readLimit } from '../http/limited.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import {
  type Db,
  lockIn,
  type PreparedParameter,
  prepared,
  shareIn,
  type Tx,
  transact,
} from '../store/open.ts';
import type { ApiKeyRow } from '../store/tables.generated.ts';
import { type Author, audit } from './audit.ts';
import { AUDITED_API_KEY } from './audited.ts';
import type { TeamContext } from './members.ts';

/** The length of the part that stays readable, so that users can tell keys apart. */
const PREFIX_LENGTH = 14;

/** `last_used_at` is updated at most this often. */
const LAST_USED_INTERVAL_MS = 60_000;

export interface NewKey {
  memberId: string;
  name: string;
  role: Role;
  livemode: boolean;
  /** Milliseconds from now; null for a key that does not expire. */
  expiresIn?: number | null;
  /** The latest expiry, in ISO 8601, whatever `expiresIn` is. */
  notAfter?: string | null;
  /** The tags to which it is limited; null for those of its member. */
  tags?: string[] | null;
}

export interface CreatedApiKey {
  /** The key itself. It is available only here; the database has its hash. */
  key: string;
  row: ApiKeyRow;
}

/** Creates a key for a command on the server. */
export async function createApiKey(context: TeamContext, newKey: NewKey): Promise<CreatedApiKey> {
  const author = { app: context, actor: null, caller: { ip: null } };
  return transact(context.db, (tx) => insertApiKey(tx, author, newKey));
}

export async function insertApiKey(
  tx: Tx,
  author: Author,
  { memberId, name, role, livemode, expiresIn = null, notAfter = null, tags = null }: NewKey,
): Promise<CreatedApiKey> {
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
    expires_at: earlierExpiry(expiresIn === null ? null : isoTime(now + expiresIn), notAfter),
    revoked_at: null,
    last_used_at: null,
    tags: tags && JSON.stringify(tags),
  };
  await tx.insertInto('api_keys').values(row).execute();
  await audit(tx, author, AUDITED_API_KEY, 'api_key.created', row.id, {
    name,
    role,
    livemode,
    member_id: memberId,
    expires_at: row.expires_at,
    ...(tags && { tags }),
  });
  return { key, row };
}

/** The earlier of two expiry times; null means never. */
function earlierExpiry(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return Date.parse(a) < Date.parse(b) ? a : b;
}

/** The expiry of a key; null if it never expires. Throws if there is no such key. */
export async function findKeyExpiry(tx: Tx, id: string): Promise<string | null> {
  const { expires_at } = await tx
    .selectFrom('api_keys')
    .select('expires_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return expires_at;
}

/** Admins and the owner see all keys; everyone else sees only their own. */
export type KeyReader = Pick<Actor, 'memberId' | 'role'>;

/** Keys that aren't revoked and that the viewer may see. */
function visibleKeys(db: Db | Tx, { memberId, role }: KeyReader) {
  const unrevoked = db.selectFrom('api_keys').selectAll().where('revoked_at', 'is', null);
  return allows(role, 'admin') ? unrevoked : unrevoked.where('member_id', '=', memberId);
}

/** One page, newest first. */
export async function listApiKeys(db: Db, viewer: KeyReader, page: Page) {
  return fetchPage(visibleKeys(db, viewer), page);
}

/** Throws `not_found`, including for revoked keys and for keys that the viewer may not see. */
export async function apiKeyOr404(db: Db | Tx, viewer: KeyReader, id: string): Promise<ApiKeyRow> {
  const row = await lockIn(db, visibleKeys(db, viewer).where('id', '=', id)).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such API key.');
  return row;
}

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
  await audit(tx, author, AUDITED_API_KEY, 'api_key.revoked', id, { name, role, member_id });
}

/** Keys that are neither revoked nor expired. */
function validKeys(db: Db | Tx, now: string) {
  return db
    .selectFrom('api_keys')
    .where('revoked_at', 'is', null)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));
}

/** A valid key and its limit. In a transaction, both stay as they are until it ends. */
export async function findValidKey(
  db: Db | Tx,
  id: string,
  now: number,
  lock: typeof lockIn = shareIn,
): Promise<Pick<ApiKeyRow, 'tags'> | undefined> {
  const query = validKeys(db, isoTime(now)).select('tags').where('id', '=', id);
  return lock(db, query).executeTakeFirst();
}

/** Ignores errors, because a full disk must not block requests that only read. */
export async function updateLastUsed(
  db: Db,
  table: 'api_keys' | 'connected_assistants',
  { id, last_used_at }: Pick<ApiKeyRow, 'id' | 'last_used_at'>,
  now: number,
): Promise<void> {
  if (last_used_at !== null && Date.parse(last_used_at) > now - LAST_USED_INTERVAL_MS) return;
  await db
    .updateTable(table as 'api_keys')
    .set({ last_used_at: isoTime(now) })
    .where('id', '=', id)
    .execute()
    .catch(() => {});
}

const findKeyByHash = prepared((db, parameter: PreparedParameter<{ hash: string; now: string }>) =>
  validKeys(db, parameter('now'))
    .innerJoin('members', 'members.id', 'api_keys.member_id')
    .select([
      'api_keys.id',
      'member_id',
      'livemode',
      'api_keys.role',
      'last_used_at',
      'members.role as member_role',
      'members.email',
      'api_keys.tags',
      'members.tags as member_tags',
    ])
    .where('hash', '=', parameter('hash')),
);

/** The actor who uses a key or a connected assistant. */
export const actorOfKey = (
  row: Pick<ApiKeyRow, 'id' | 'member_id' | 'livemode' | 'role' | 'tags'> & {
    member_role: Role;
    member_tags: string | null;
    email: string;
  },
): Actor => ({
  memberId: row.member_id,
  email: row.email,
  keyId: row.id,
  sessionId: null,
  role: lowerRole(row.role, row.member_role),
  livemode: row.livemode === 1,
  tags: narrower(readLimit(row.tags), readLimit(row.member_tags)),
});

/** The actor of a key; null if the key is unknown, expired, or revoked. */
export async function identifyKey({ db, clock }: TeamContext, key: string): Promise<Actor | null> {
  if (!key.startsWith('dlv_')) return null;
  const now = clock.now();
  const [row] = await findKeyByHash(db, { hash: sha256(key), now: isoTime(now) });
  if (!row) return null;
  await updateLastUsed(db, 'api_keys', row, now);
  return actorOfKey(row);
}

/** Assistants that members have connected by OAuth, in the database. */

import type { App } from '../app.ts';
import { type Actor, allows } from '../http/actor.ts';
import { protectedResourceOf } from '../http/protected-resource.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import type { Job } from '../scheduler/scheduler.ts';
import {
  type Db,
  lockIn,
  type PreparedParameter,
  prepared,
  shareIn,
  type Tx,
} from '../store/open.ts';
import type { ConnectedAssistantRow } from '../store/tables.generated.ts';
import { actorOfKey, type KeyReader, updateLastUsed } from './api-keys.ts';
import { type Author, audit } from './audit.ts';
import { AUDITED_ASSISTANT } from './audited.ts';

export const ACCESS_TOKEN_PREFIX = 'dlv_access_';

/** Those whose code was used. As for API keys, admins see all. */
function visibleAssistants(db: Db | Tx, { memberId, role }: KeyReader) {
  const connected = db
    .selectFrom('connected_assistants')
    .selectAll()
    .where('code_used_at', 'is not', null);
  return allows(role, 'admin') ? connected : connected.where('member_id', '=', memberId);
}

export const listAssistants = (
  { db, clock }: Pick<App, 'db' | 'clock'>,
  viewer: KeyReader,
  page: Page,
) =>
  fetchPage(
    visibleAssistants(db, viewer).where('expires_at', '>', isoTime(clock.now())),
    page,
    visibleAssistants(db, viewer),
  );

export async function assistantOr404(
  db: Db | Tx,
  viewer: KeyReader,
  id: string,
): Promise<ConnectedAssistantRow> {
  const query = visibleAssistants(db, viewer).where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such connected assistant.');
  return row;
}

/** Its tokens are deleted with it. */
export async function endConnection(
  tx: Tx,
  author: Author,
  action: (typeof AUDITED_ASSISTANT.actions)[number],
  assistant: Pick<ConnectedAssistantRow, 'id' | 'name' | 'host' | 'role' | 'member_id'>,
): Promise<void> {
  const { id, name, host, role, member_id } = assistant;
  await tx.deleteFrom('connected_assistants').where('id', '=', id).execute();
  await audit(tx, author, AUDITED_ASSISTANT, action, id, { name, host, role, member_id });
}

/** A connected assistant and its limit, as `findValidKey`. */
export async function findConnected(
  db: Db | Tx,
  id: string,
  now: number,
  lock: typeof lockIn = shareIn,
): Promise<Pick<ConnectedAssistantRow, 'tags'> | undefined> {
  const query = db
    .selectFrom('connected_assistants')
    .select('tags')
    .where('id', '=', id)
    .where('expires_at', '>', isoTime(now));
  return lock(db, query).executeTakeFirst();
}

type AccessTokenParameters = { hash: string; now: string; resource: string };

const findByAccessToken = prepared((db, parameter: PreparedParameter<AccessTokenParameters>) =>
  db
    .selectFrom('assistant_tokens')
    .innerJoin('connected_assistants as assistant', 'assistant.id', 'assistant_id')
    .innerJoin('members', 'members.id', 'assistant.member_id')
    .select([
      'assistant.id',
      'member_id',
      'livemode',
      'writes',
      'assistant.role',
      'last_used_at',
      'members.role as member_role',
      'members.email',
      'assistant.tags',
      'members.tags as member_tags',
    ])
    .where('hash', '=', parameter('hash'))
    .where('kind', '=', 'access')
    .where('assistant_tokens.expires_at', '>', parameter('now'))
    .where('resource', '=', parameter('resource')),
);

/** The actor of an access token; null if it is unknown, expired, or for another URL of the service. */
export async function identifyAssistant(
  { db, clock, config }: Pick<App, 'db' | 'clock' | 'config'>,
  token: string,
): Promise<Actor | null> {
  const resource = protectedResourceOf(config)?.resource;
  if (resource === undefined) return null;
  const now = clock.now();
  const parameters = { hash: sha256(token), now: isoTime(now), resource };
  const [row] = await findByAccessToken(db, parameters);
  if (!row) return null;
  await updateLastUsed(db, 'connected_assistants', row, now);
  return { ...actorOfKey(row), assistant: { writes: row.writes === 1 } };
}

export const expireAssistantsJob = (app: App): Job => ({
  name: 'assistants.expire',
  tick: '0 24 * * * *',
  run: () => expireAssistants(app),
});

export async function expireAssistants({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const now = isoTime(clock.now());
  for (const table of ['connected_assistants', 'assistant_tokens'] as const)
    await db
      .deleteFrom(table as 'assistant_tokens')
      .where('expires_at', '<=', now)
      .execute();
}

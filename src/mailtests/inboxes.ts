/** Inboxes: reusable addresses. Creates, finds, lists and deletes them. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { Actor } from '../http/actor.ts';
import { tagsToStore } from '../http/limited.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { randomToken } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { InboxRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { AUDITED_INBOX } from './audited.ts';
import { TOKEN_LENGTH } from './queries.ts';
import type { Inbox } from './schemas/inbox.ts';
import type { NewTest } from './schemas/request.ts';

/** More addresses than people can tell apart. */
const MAX_INBOXES = 1000;

/** Throws `conflict` if there are too many. Call it in `transact`. */
export async function createInbox(
  tx: Tx,
  author: Author & { app: App; actor: Actor },
  fields: NewTest,
): Promise<InboxRow> {
  const { app, actor } = author;
  await requireBelowLimit(tx, tx.selectFrom('inboxes'), { max: MAX_INBOXES, noun: 'inboxes' });
  const { name = null, kind, domain_id = null } = fields;
  const tags = tagsToStore(actor, fields.tags, domain_id !== null).toSorted();
  const row: InboxRow = {
    id: app.newId('ibx'),
    token: randomToken(TOKEN_LENGTH),
    name,
    kind,
    domain_id,
    livemode: actor.livemode ? 1 : 0,
    metadata: JSON.stringify(fields.metadata),
    tags: JSON.stringify(tags),
    limited_to: actor.tags && JSON.stringify(actor.tags),
    created_at: isoTime(app.clock.now()),
    last_received_at: null,
  };
  await tx.insertInto('inboxes').values(row).execute();
  await audit(tx, author, AUDITED_INBOX, 'inbox.created', row.id, {
    name,
    kind,
    domain_id,
    tags,
  });
  return row;
}

/** The inbox with this local part in its address, in any case. Locks it in a transaction. */
export async function findInboxByToken(db: Db | Tx, token: string): Promise<InboxRow | undefined> {
  const query = db.selectFrom('inboxes').selectAll().where('token', '=', token.toLowerCase());
  return lockIn(db, query).executeTakeFirst();
}

const inboxesOf = (db: Db | Tx, livemode: boolean) =>
  db
    .selectFrom('inboxes')
    .selectAll()
    .where('livemode', '=', livemode ? 1 : 0);

/** Throws `not_found`, also for an inbox of the other mode. */
export async function inboxOr404(db: Db | Tx, id: string, livemode: boolean): Promise<InboxRow> {
  const row = await lockIn(db, inboxesOf(db, livemode).where('id', '=', id)).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such inbox.');
  return row;
}

/** One page of the inboxes of this mode, newest first. */
export const listInboxes = (db: Db, livemode: boolean, page: Page) =>
  fetchPage(inboxesOf(db, livemode), page);

/** Deletes the inbox. Its tests stay. */
export async function deleteInbox(tx: Tx, author: Author, { id, name }: InboxRow): Promise<void> {
  await tx.deleteFrom('inboxes').where('id', '=', id).execute();
  await audit(tx, author, AUDITED_INBOX, 'inbox.deleted', id, { name });
}

export function presentInbox(row: InboxRow, { INBOX_DOMAIN }: Pick<Config, 'INBOX_DOMAIN'>): Inbox {
  return {
    id: row.id,
    object: 'inbox',
    name: row.name,
    address: `${row.token}@${INBOX_DOMAIN}`,
    token: row.token,
    kind: row.kind,
    metadata: JSON.parse(row.metadata),
    tags: JSON.parse(row.tags),
    domain_id: row.domain_id,
    livemode: row.livemode === 1,
    created_at: row.created_at,
    last_received_at: row.last_received_at,
  };
}

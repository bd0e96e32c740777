/** Changes of DNS records: queries, undoing, and their JSON for the API. */

import type { App } from '../app.ts';
import { fetchPage } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type { DnsChangeRow, DnsServerRow } from '../store/tables.generated.ts';
import type { Author } from '../team/audit.ts';
import { beginChanges, setOf } from './apply.ts';
import type { DnsChange, DnsChangeListQuery } from './schema.ts';

/** Throws `not_found`. */
export async function changeOr404(db: Db | Tx, id: string): Promise<DnsChangeRow> {
  const query = db.selectFrom('dns_changes').selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such DNS change.');
  return row;
}

export async function listChanges(
  db: Db,
  { domain_id, server_id, ...page }: DnsChangeListQuery,
): Promise<{ rows: DnsChangeRow[]; hasMore: boolean }> {
  const all = db.selectFrom('dns_changes').selectAll();
  let query = all;
  if (domain_id) query = query.where('domain_id', '=', domain_id);
  if (server_id) query = query.where('server_id', '=', server_id);
  return fetchPage(query, page, all);
}

const UNDOES = 'Undoes: ';
/** The undo of an undo has the first reason again. */
const withoutPrefix = (reason: string): string =>
  reason.startsWith(UNDOES) ? reason.slice(UNDOES.length) : reason;

const NOT_UNDOABLE: Record<Exclude<DnsChangeRow['status'], 'applied' | 'unknown'>, string> = {
  applying: 'This change is still being applied. Try again in a minute.',
  failed: 'This change failed, so there is nothing to undo.',
  undone: 'This change has already been undone.',
};

/** Also a change whose outcome is unknown: if it was not made, undoing it changes nothing. */
export const isUndoable = ({ status }: Pick<DnsChangeRow, 'status'>): boolean =>
  status === 'applied' || status === 'unknown';

/** Stores the change that undoes this one. Throws `conflict` if it can't be undone. */
export async function beginUndo(
  tx: Tx,
  author: Author & { app: App },
  row: DnsChangeRow,
  server: Pick<DnsServerRow, 'id' | 'name'>,
): Promise<DnsChangeRow> {
  if (!isUndoable(row))
    throw new AppError('conflict', NOT_UNDOABLE[row.status as keyof typeof NOT_UNDOABLE]);
  const reason = row.undoes === null ? `${UNDOES}${row.reason}` : withoutPrefix(row.reason);
  const [undo] = await beginChanges(tx, author, server, row.domain_id, [
    {
      zone: row.zone,
      before: setOf(row, row.after),
      after: setOf(row, row.before),
      reason,
      undoes: row.id,
    },
  ]);
  return undo!;
}

/** The server of a change. Throws `conflict` if it was removed. */
export async function serverOfChange(db: Db | Tx, row: DnsChangeRow): Promise<DnsServerRow> {
  const server = await db
    .selectFrom('dns_servers')
    .selectAll()
    .where('id', '=', row.server_id)
    .executeTakeFirst();
  if (server) return server;
  throw new AppError(
    'conflict',
    'The name server of this change was removed. Publish the old records by hand.',
  );
}

export function presentChange(row: DnsChangeRow): DnsChange {
  return {
    id: row.id,
    object: 'dns_change',
    server_id: row.server_id,
    domain_id: row.domain_id,
    zone: row.zone,
    name: row.name,
    type: row.type,
    before: JSON.parse(row.before),
    after: JSON.parse(row.after),
    reason: row.reason,
    status: row.status,
    error: row.error,
    undoes: row.undoes,
    cached_until: cachedUntil(row),
    created_at: row.created_at,
    finished_at: row.finished_at,
  };
}

/** How long resolvers remember that there were no records depends on the zone, so it is not known. */
function cachedUntil(row: DnsChangeRow): string | null {
  const { values, ttl } = setOf(row, row.before);
  if (row.status === 'failed' || row.finished_at === null || values.length === 0) return null;
  return isoTime(Date.parse(row.finished_at) + ttl * 1000);
}

/** Domains in the database: found, listed, and that which holds a From domain. */

import { pageOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { DomainRow } from '../store/watching-tables.ts';
import type { ListedRow } from './present.ts';
import type { DomainListQuery } from './schema.ts';

const LISTED = [
  'id',
  'name',
  'status',
  'token',
  'created_at',
  'verified_at',
  'pending_since',
  'last_checked_at',
  'last_check_detail',
  'next_check_at',
  'missing_since',
  'given_selectors',
  'learnt_selectors',
  'badge_enabled',
  'health_status',
  'health_score',
  'health_checked_at',
  'lease',
  'leased_until',
] as const satisfies (keyof ListedRow)[];

export async function findDomain(db: Db | Tx, id: string): Promise<DomainRow | undefined> {
  return db.selectFrom('domains').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Throws `not_found`. */
export async function domainOr404(db: Db | Tx, id: string): Promise<DomainRow> {
  const row = await findDomain(db, id);
  if (!row) throw new AppError('not_found', 'There is no domain with this id.');
  return row;
}

/** One page of those that match, newest first. */
export async function listDomains(
  db: Db,
  { status, ...page }: DomainListQuery,
): Promise<{ rows: ListedRow[]; hasMore: boolean }> {
  let query = db.selectFrom('domains').select(LISTED);
  if (status) query = query.where('status', '=', status);
  return pageOf(query, page);
}

/** The team's domain that is, or is a parent of, the From domain (in A-labels): the longest. */
export async function findDomainOf(
  db: Db | Tx,
  fromDomain: string,
): Promise<Pick<DomainRow, 'id' | 'name'> | undefined> {
  const labels = fromDomain.split('.');
  const names = labels.map((_, at) => labels.slice(at).join('.'));
  const found = await db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('name', 'in', names)
    .execute();
  return found.toSorted((a, b) => b.name.length - a.name.length)[0];
}

/** The ids of the alert rules that name a domain. */
export async function rulesNaming(db: Db | Tx, domainId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('alerts')
    .select('id')
    .where('domain_id', '=', domainId)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

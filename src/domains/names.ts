/** Names of the team's domains, for lists of other objects and for forms. */

import type { Db } from '../store/open.ts';

/** The domain with exactly this name, which must be normalized. */
export async function findDomainIdByName(db: Db, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('domains')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.id;
}

/** The names of these domains by their IDs. Deleted domains are missing. */
export async function readDomainNames(db: Db, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The first names in alphabetical order, for suggestions. */
export async function listDomainNames(db: Db, limit: number): Promise<string[]> {
  const rows = await db.selectFrom('domains').select('name').orderBy('name').limit(limit).execute();
  return rows.map(({ name }) => name);
}

/** The domains of a schedule by name, which people type and read. */

import type { Db } from '../../store/open.ts';

/** The names of the domains with these IDs, by ID. */
export async function findDomainNames(db: Db, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('id', 'in', ids)
    .orderBy('name')
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The IDs of the domains with these names in A-labels, by name. */
export async function findDomainsByName(db: Db, names: string[]): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('name', 'in', names)
    .execute();
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** Records that disappeared recently: fixes propose them again instead of new ones. */

import type { Db, Tx } from '../store/open.ts';
import { selectorsOf } from './selectors.ts';
import { type SetChange, type Watched, type WatchedSet, watchedSets } from './watched-records.ts';

interface GoneRecord {
  type: string;
  name: string;
  value: string;
}

/** The record that is gone; null if there were several, or an alias, or something is published instead. */
export const goneRecord = (
  { name, type }: { name: string; type: string },
  { was, is }: Pick<SetChange, 'was' | 'is'>,
): GoneRecord | null =>
  type === 'TXT' && was.length === 1 && is.length === 0 && !was[0]!.startsWith('CNAME ')
    ? { type, name, value: was[0]! }
    : null;

/** Those of the last day. */
export async function findGoneRecords(db: Db | Tx, domainId: string): Promise<GoneRecord[]> {
  const row = await db
    .selectFrom('domains')
    .select(['name', 'watched', 'given_selectors', 'learnt_selectors'])
    .where('id', '=', domainId)
    .executeTakeFirst();
  if (!row?.watched) return [];
  const { sets }: Watched = JSON.parse(row.watched);
  return watchedSets(row.name, selectorsOf(row)).flatMap((set: WatchedSet) => {
    const { was = [], values: is = [] } = sets[set.label] ?? {};
    return goneRecord(set, { was, is }) ?? [];
  });
}

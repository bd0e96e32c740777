/** Records that disappeared recently: fixes propose them again instead of new ones. */

import type { DomainCheck } from '../analysis/domain/health.ts';
import type { DomainRow } from '../store/tables.generated.ts';
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

const PUT_BACK = 'Publish this record again. It disappeared within the last day.';

/** The checks, with records of the last day instead of new ones where nothing is published anymore. */
export function proposeGoneRecords(
  row: Pick<DomainRow, 'name' | 'watched' | 'given_selectors' | 'learnt_selectors'>,
  checks: DomainCheck[],
): DomainCheck[] {
  const gone = findGoneRecords(row);
  return checks.map((check) => {
    const proposed = check.fix?.record;
    const record = gone.find(
      ({ name, type }) => name === proposed?.name.toLowerCase() && type === proposed.type,
    );
    return record ? { ...check, fix: { ...check.fix, text: PUT_BACK, record } } : check;
  });
}

function findGoneRecords(
  row: Pick<DomainRow, 'name' | 'watched' | 'given_selectors' | 'learnt_selectors'>,
): GoneRecord[] {
  if (!row.watched) return [];
  const { sets }: Watched = JSON.parse(row.watched);
  return watchedSets(row.name, selectorsOf(row)).flatMap((set: WatchedSet) => {
    const { was = [], values: is = [] } = sets[set.label] ?? {};
    return goneRecord(set, { was, is }) ?? [];
  });
}

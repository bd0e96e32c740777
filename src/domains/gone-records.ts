/** Records that disappeared recently: fixes propose them again instead of new ones. */

import { holdsPrivateKey } from '../analysis/dkim/key-record.ts';
import type { DomainCheck } from '../analysis/domain/health.ts';
import { isSpfRecord, parseSpfTerms } from '../analysis/spf/record.ts';
import { resemblesSpf } from '../analysis/spf/repair.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { selectorsOf } from './selectors.ts';
import { type SetChange, type Watched, type WatchedSet, watchedSets } from './watched-records.ts';

interface GoneRecord {
  type: string;
  name: string;
  value: string;
}

/** An alias, or a record that the domain inherited. */
const FOREIGN = /^CNAME | \(at \S+\)$/;

/**
 * The record that is gone. Null if there were several, or something is published instead. Null, too, if it was not the
 * domain's own, or if nobody should have it again.
 */
export const goneRecord = (
  { name, type }: { name: string; type: string },
  { was, is }: Pick<SetChange, 'was' | 'is'>,
): GoneRecord | null =>
  type === 'TXT' &&
  was.length === 1 &&
  is.length === 0 &&
  !FOREIGN.test(was[0]!) &&
  !isHarmful(was[0]!)
    ? { type, name, value: was[0]! }
    : null;

/** A private key, or SPF that no receiver reads, or that anyone passes. */
const isHarmful = (text: string): boolean =>
  holdsPrivateKey(text) ||
  (resemblesSpf(text) && !isSpfRecord(text)) ||
  (isSpfRecord(text) &&
    parseSpfTerms(text).some(
      ({ fault, name, qualifier, isModifier }) =>
        fault !== null || (name === 'all' && !isModifier && qualifier === '+'),
    ));

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
    // Nothing sends for such a domain any longer.
    const isClosed = proposed?.value === 'v=spf1 -all';
    return record && !isClosed
      ? { ...check, fix: { ...check.fix, text: PUT_BACK, record } }
      : check;
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

/** Numbers of seed mailboxes by provider and placement, as tests and their tallies store them. */

import type { PlacementRow } from '../store/tables.generated.ts';

/** By `provider placement`, such as `gmail inbox`. IDs of providers contain no spaces. */
export type PlacementCounts = Record<string, number>;

type Place = PlacementRow['placement'];

export function countPlacements(
  rows: Pick<PlacementRow, 'provider' | 'placement'>[],
): PlacementCounts {
  const counts: PlacementCounts = {};
  for (const { provider, placement } of rows) {
    const key = `${provider} ${placement}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** The parts of a key. */
export function readKey(key: string): { provider: string; place: Place } {
  const [provider = '', place] = key.split(' ');
  return { provider, place: place as Place };
}

/** Adds counts to stored ones, or subtracts them with `delta` -1. Counts that reach 0 are removed. */
export function addCounts(stored: string, counts: Record<string, number>, delta: 1 | -1): string {
  const sums: Record<string, number> = JSON.parse(stored);
  for (const [key, count] of Object.entries(counts)) {
    const sum = (sums[key] ?? 0) + delta * count;
    if (sum > 0) sums[key] = sum;
    else delete sums[key];
  }
  return JSON.stringify(sums);
}

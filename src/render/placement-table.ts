/** Where the seed mailboxes found the message: a row for each provider, and the rate. */

import type { SeedPlacement } from './report.ts';

/** In the order of the columns; the inbox and its tabs first. */
const PLACES: Record<string, string> = {
  inbox: 'Inbox',
  promotions: 'Promotions',
  social: 'Social',
  updates: 'Updates',
  forums: 'Forums',
  spam: 'Spam',
  missing: 'Missing',
  pending: 'Waiting',
  unknown: 'Unknown',
};
/** Neither an answer: they count in no rate. */
const UNSETTLED = ['pending', 'unknown'];
const IN_THE_INBOX = ['inbox', 'promotions', 'social', 'updates', 'forums'];

export interface PlacementRow {
  provider: string;
  seeds: number;
  /** As many as there are columns. */
  counts: number[];
  /** The first and the last arrival after the test address had it; null where none arrived. */
  seconds: [number, number] | null;
}

interface PlacementTable {
  columns: { place: string; name: string }[];
  rows: PlacementRow[];
  /** Seeds found in the inbox or one of its tabs, of those whose place is known. */
  inbox: number;
  settled: number;
}

export function placementTable(seeds: SeedPlacement[]): PlacementTable {
  const present = new Set(seeds.map(({ placement }) => placement));
  const known = Object.keys(PLACES).filter((place) => present.has(place));
  const places = [...known, ...[...present].filter((place) => !Object.hasOwn(PLACES, place))];
  const providers = [...new Set(seeds.map(({ provider }) => provider))];
  const settled = seeds.filter(({ placement }) => !UNSETTLED.includes(placement));
  return {
    columns: places.map((place) => ({
      place,
      name: Object.hasOwn(PLACES, place) ? PLACES[place]! : place,
    })),
    rows: providers.map((provider) => rowOf(provider, seeds, places)),
    inbox: settled.filter(({ placement }) => IN_THE_INBOX.includes(placement)).length,
    settled: settled.length,
  };
}

function rowOf(provider: string, seeds: SeedPlacement[], places: string[]): PlacementRow {
  const own = seeds.filter((seed) => seed.provider === provider);
  const times = own.map(({ seconds }) => seconds).filter((seconds) => seconds !== null);
  return {
    provider,
    seeds: own.length,
    counts: places.map((place) => own.filter(({ placement }) => placement === place).length),
    seconds: times.length === 0 ? null : [Math.min(...times), Math.max(...times)],
  };
}

/** Placement by provider in a period, from the counts that tests and tallies store. */

import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { valuesOf } from '../figures/figure.ts';
import { INBOX_RATE, LOST, PLACES, type PlaceCounts } from '../figures/placement.ts';
import { isInbox } from '../mailtests/placement.ts';
import { type PlacementCounts, readKey } from '../mailtests/placement-counts.ts';
import {
  inboxRate,
  MIN_PLACEMENT_SAMPLES,
  type ProviderPlacement,
} from '../report/placement-rates.ts';

/** Stored JSON texts with their number of occurrences. */
export type SlicePlacements = Map<string, number>;

type Figures = PlaceCounts & Pick<ProviderPlacement, 'tabs'>;

const NOTHING: Figures = { samples: 0, tabs: 0, ...valuesOf(PLACES, 'name', () => 0) };

/** A configured seed mailbox. */
export type SeedOf = Pick<SeedMailbox, 'provider'>;

/**
 * The providers with samples, by ID. Many samples of one mailbox show what happens in that mailbox, so a provider with
 * few seed mailboxes has no rate.
 */
export function placementByProvider(
  slices: { from: string; placements: SlicePlacements }[],
  seeds: readonly SeedOf[],
): ProviderPlacement[] {
  const figures = slices.map(({ placements }) => figuresOf(placements));
  const providers = [...new Set(figures.flatMap((slice) => [...slice.keys()]))].toSorted();
  return providers.flatMap((provider) => {
    const parts = figures.map((slice) => slice.get(provider) ?? NOTHING);
    const total = parts.reduce(sum);
    // Texts of a partial hour cancel out.
    if (total.samples === 0) return [];
    const seedCount = seeds.filter((seed) => seed.provider === provider).length;
    const rateOf = (inbox: number, samples: number) =>
      seedCount < MIN_PLACEMENT_SAMPLES ? null : inboxRate(inbox, samples);
    return [
      {
        provider,
        ...total,
        [INBOX_RATE.name]: rateOf(total.inbox, total.samples),
        trend: parts.map(({ tabs: _, ...part }, index) => ({
          from: slices[index]!.from,
          ...part,
          [INBOX_RATE.name]: rateOf(part.inbox, part.samples),
        })),
      },
    ];
  });
}

function figuresOf(placements: SlicePlacements): Map<string, Figures> {
  const byProvider = new Map<string, Figures>();
  for (const [text, occurrences] of placements)
    for (const [key, count] of Object.entries(JSON.parse(text) as PlacementCounts)) {
      const { provider, place } = readKey(key);
      const samples = occurrences * count;
      const found = {
        samples,
        inbox: isInbox(place) ? samples : 0,
        tabs: isInbox(place) && place !== 'inbox' ? samples : 0,
        ...valuesOf(LOST, 'name', ({ name }) => (place === name ? samples : 0)),
      };
      byProvider.set(provider, sum(byProvider.get(provider) ?? NOTHING, found));
    }
  return byProvider;
}

function sum(a: Figures, b: Figures): Figures {
  const sums = { ...a };
  for (const name of Object.keys(b) as (keyof Figures)[]) sums[name] += b[name];
  return sums;
}

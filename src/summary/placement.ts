/** Placement by provider in a period, from the counts that tests and tallies store. */

import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { isInbox } from '../mailtests/placement.ts';
import { type PlacementCounts, readKey } from '../mailtests/placement-counts.ts';
import {
  inboxRate,
  MIN_PLACEMENT_SAMPLES,
  type ProviderPlacement,
} from '../report/placement-rates.ts';

/** Stored JSON texts with their number of occurrences. */
export type SlicePlacements = Map<string, number>;

type Figures = Pick<ProviderPlacement, 'samples' | 'inbox' | 'tabs' | 'spam' | 'missing'>;

const NOTHING: Figures = { samples: 0, inbox: 0, tabs: 0, spam: 0, missing: 0 };

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
        inbox_rate: rateOf(total.inbox, total.samples),
        trend: parts.map(({ samples, inbox, spam, missing }, index) => ({
          from: slices[index]!.from,
          samples,
          inbox,
          spam,
          missing,
          inbox_rate: rateOf(inbox, samples),
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
        spam: place === 'spam' ? samples : 0,
        missing: place === 'missing' ? samples : 0,
      };
      byProvider.set(provider, sum(byProvider.get(provider) ?? NOTHING, found));
    }
  return byProvider;
}

const sum = (a: Figures, b: Figures): Figures => ({
  samples: a.samples + b.samples,
  inbox: a.inbox + b.inbox,
  tabs: a.tabs + b.tabs,
  spam: a.spam + b.spam,
  missing: a.missing + b.missing,
});

/** Placement by provider over many tests: rates with their samples, and the sentences about them. */

import { seedProvider } from '../config/seed-providers.ts';
import { stateOf } from '../figures/figure.ts';
import { INBOX_LIMITS, INBOX_RATE, lostInWords, type PlaceCounts } from '../figures/placement.ts';
import { oneLine } from './blocks.ts';

/** With fewer seed mailboxes of a provider, or samples, a rate says more about chance than about the provider. */
export const MIN_PLACEMENT_SAMPLES = 3;

interface PlacementFigures extends PlaceCounts {
  /** 0–1; null with too few samples. */
  [INBOX_RATE.name]: number | null;
}

/** How one provider has placed the messages of a period. */
export interface ProviderPlacement extends PlacementFigures {
  /** The ID of the provider. */
  provider: string;
  /** Of `inbox`, those in a tab such as Promotions. */
  tabs: number;
  /** The period in slices, oldest first. */
  trend: (PlacementFigures & { from: string })[];
}

/** Rounded to four decimals; null with too few samples. */
export const inboxRate = (inbox: number, samples: number): number | null =>
  samples < MIN_PLACEMENT_SAMPLES ? null : Math.round((inbox * 10_000) / samples) / 10_000;

/** Follows every table of rates. */
export const SAMPLE_NOTE =
  'Seed mailboxes are a sample. Nobody opens, moves or answers mail in them, so providers may decide differently for your recipients.';

/** Why some providers have no rate. */
export const TOO_FEW_NOTE = `No rate is shown for a provider with fewer than ${MIN_PLACEMENT_SAMPLES} seed mailboxes or samples.`;

/** Stands for a rate. */
export const TOO_FEW = 'too few';

/** The name of a provider for people. */
export const providerName = (id: string): string => oneLine(seedProvider(id).name, 60);

export const placementState = (rate: number | null): 'pass' | 'warn' | 'fail' | 'unknown' =>
  rate === null ? 'unknown' : stateOf(rate, INBOX_LIMITS);

/** Below the rate: “of 12 samples, 3 in spam, 1 missing”. */
export function basisOf({
  samples,
  tabs,
  ...figures
}: Omit<ProviderPlacement, 'trend' | 'provider'>): string {
  const parts = [
    `${figures[INBOX_RATE.name] === null ? '' : 'of '}${samples} ${samples === 1 ? 'sample' : 'samples'}`,
    ...(tabs > 0 ? [`${tabs} in tabs`] : []),
    ...lostInWords(figures),
  ];
  return parts.join(', ');
}

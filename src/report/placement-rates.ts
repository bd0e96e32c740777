/** Placement by provider over many tests: rates with their samples, and the sentences about them. */

import { seedProvider } from '../config/seed-providers.ts';
import { oneLine } from './blocks.ts';

/** With fewer seed mailboxes of a provider, or samples, a rate says more about chance than about the provider. */
export const MIN_PLACEMENT_SAMPLES = 3;

/** Numbers of seed mailboxes that have a result. `inbox` includes the inbox tabs. */
interface PlacementFigures {
  samples: number;
  inbox: number;
  spam: number;
  missing: number;
  /** 0–1; null with too few samples. */
  inbox_rate: number | null;
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

/** The shares below which the placement is a warning or a failure. */
export function placementState(rate: number | null): 'pass' | 'warn' | 'fail' | 'unknown' {
  if (rate === null) return 'unknown';
  return rate >= 0.9 ? 'pass' : rate >= 0.5 ? 'warn' : 'fail';
}

/** Below the rate: “of 12 samples, 3 in spam, 1 missing”. */
export function basisOf({
  samples,
  tabs,
  spam,
  missing,
  inbox_rate,
}: Omit<ProviderPlacement, 'trend' | 'provider'>): string {
  const parts = [
    `${inbox_rate === null ? '' : 'of '}${samples} ${samples === 1 ? 'sample' : 'samples'}`,
    ...(tabs > 0 ? [`${tabs} in tabs`] : []),
    ...(spam > 0 ? [`${spam} in spam`] : []),
    ...(missing > 0 ? [`${missing} missing`] : []),
  ];
  return parts.join(', ');
}

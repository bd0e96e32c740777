/** What sources read from, and over which days. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import type { Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';

export interface Reading extends Pick<App, 'clock' | 'config'> {
  db: Tx;
  domain: DomainRow;
}

/** What is read or published daily. What was so longer ago may no longer be. */
export const CURRENT_DAYS = 7;
/** Tests and placement: what is older says little about the mail of today. */
export const RECENT_DAYS = 30;

/** The time so many days ago. */
export const daysAgo = ({ clock }: Pick<Reading, 'clock'>, days: number): string =>
  isoTime(clock.now() - days * DAY_MS);

/** Waits for the first lookups at domains, for tests that store findings of their own. */

import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../src/app.ts';

/** Resolves when no new domain is waiting to be looked at. */
export async function firstLookupsDone({ db }: Pick<App, 'db'>): Promise<void> {
  const waiting = db
    .selectFrom('domains')
    .select('id')
    .where('status', '!=', 'verified')
    .where('next_look_at', 'is not', null);
  while ((await waiting.execute()).length > 0) await pause(5);
}

/** The columns of a domain that was never looked at. */
export const NOT_LOOKED_AT = {
  health_status: 'unknown',
  health_score: null,
  health_checks: '[]',
  health_checked_at: null,
} as const;

/** Deletes counted tests that no summary reads any more: of long ago, and of domains that are gone. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { ALL_TESTS } from './tally.ts';

/** A report of the last month, sent late in this one, holds it against the one before: three months, and some days. */
const KEPT_MS = 100 * 86_400_000;

export function expireTalliesJob(app: App): Job {
  return { name: 'tallies.expire', tick: '0 29 * * * *', run: () => expireTallies(app) };
}

export async function expireTallies({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const before = isoTime(clock.now() - KEPT_MS);
  await db.deleteFrom('test_tallies').where('hour', '<', before).execute();
  // Here, and not where a domain is deleted: its tests stay its, and may be analysed again.
  await db
    .deleteFrom('test_tallies')
    .where('domain_id', '!=', ALL_TESTS)
    .where('domain_id', 'not in', (eb) => eb.selectFrom('domains').select('id'))
    .execute();
}

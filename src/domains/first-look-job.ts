/**
 * The job that looks at domains once they were added, before anyone verifies them. They are stored first, so a look that is
 * due survives a crash. It causes no event and no alert.
 */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { lockIn, transact } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { HealthResult } from './health.ts';
import { lookAtName } from './look.ts';
import { selectorsOf } from './selectors.ts';
import { RETRY_DELAY_MS, recordHealth } from './transitions.ts';

export const FIRST_LOOK_JOB = 'domains.first-look';

const MAX_CONCURRENT_LOOKS = 8;
/** Longer than both results can take. */
const LEASE_MS = 120_000;

type ClaimedDomain = DomainRow & { lease: string };

export function firstLookJob(app: App): Job {
  return claimingJob({
    name: FIRST_LOOK_JOB,
    concurrency: MAX_CONCURRENT_LOOKS,
    claim: (limit) =>
      claimRows(app, {
        table: 'domains',
        due: app.db
          .selectFrom('domains')
          .selectAll()
          .where('next_look_at', '<=', isoTime(app.clock.now()))
          .where('status', '!=', 'verified')
          .orderBy('next_look_at')
          .orderBy('id')
          .limit(limit),
        leaseMs: LEASE_MS,
      }),
    work: (domain) => lookFirst(app, domain),
    // The domain is looked at again once the lease expires.
    onError: ({ id }, error) =>
      app.log.error('could not look at new domain', { domain: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wakeHere(FIRST_LOOK_JOB),
  });
}

/** What was answered in time is shown at once, the rest later. */
async function lookFirst(app: App, domain: ClaimedDomain): Promise<void> {
  const { latest, rest } = await lookAtName(app, domain.name, 'jobs', selectorsOf(domain));
  await record(app, domain, latest, rest === null);
  if (rest) await record(app, domain, await rest, true);
}

/** Does nothing if the lease was lost or the domain deleted. */
async function record(
  app: App,
  claimed: ClaimedDomain,
  result: HealthResult,
  isLast: boolean,
): Promise<void> {
  await transact(app.db, async (tx) => {
    const leased = tx
      .selectFrom('domains')
      .selectAll()
      .where('id', '=', claimed.id)
      .where('lease', '=', claimed.lease);
    const row = await lockIn(tx, leased).executeTakeFirst();
    if (!row) return;
    // A verified domain has health checks, which know more.
    const isDue = row.status !== 'verified' && row.next_look_at === claimed.next_look_at;
    if (isDue) await recordHealth(tx, app, row, result);
    if (!isLast) return;
    const isUnknown = result.health.status === 'unknown';
    const retry_at = isUnknown ? isoTime(app.clock.now() + RETRY_DELAY_MS) : null;
    await tx
      .updateTable('domains')
      .set({ lease: null, leased_until: null, ...(isDue && { next_look_at: retry_at }) })
      .where('id', '=', row.id)
      .execute();
  });
}

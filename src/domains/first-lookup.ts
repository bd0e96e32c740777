/**
 * The first lookup: the job that looks up the DNS of new domains before anyone verifies them. Domains are stored first, so a lookup that is
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
import { lookUpName } from './lookup.ts';
import { selectorsOf } from './selectors.ts';
import { RETRY_DELAY_MS, recordHealth } from './transitions.ts';

/** The job's name, which is used to wake it. */
export const FIRST_LOOKUP_JOB = 'domains.first-lookup';

const MAX_CONCURRENT_LOOKUPS = 8;
/** Longer than both results can take. */
const LEASE_MS = 120_000;

type ClaimedDomain = DomainRow & { lease: string };

type Source = Pick<App, 'db' | 'clock'>;

const dueLookups = ({ db, clock }: Source) =>
  db
    .selectFrom('domains')
    .where('next_look_at', '<=', isoTime(clock.now()))
    .where('status', '!=', 'verified');

/** Whether the first result of a domain, or the rest of it, is about to come. */
export async function isLookupInProgress(app: Source, id: string): Promise<boolean> {
  const row = await dueLookups(app).select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** How many of the domains that were added at this time still wait for their lookup. */
export async function countLookupsInProgress(app: Source, created_at: string): Promise<number> {
  const rows = await dueLookups(app).select('id').where('created_at', '=', created_at).execute();
  return rows.length;
}

export function firstLookupJob(app: App): Job {
  return claimingJob({
    name: FIRST_LOOKUP_JOB,
    concurrency: MAX_CONCURRENT_LOOKUPS,
    claim: (limit) =>
      claimRows(app, {
        table: 'domains',
        due: dueLookups(app).selectAll().orderBy('next_look_at').orderBy('id').limit(limit),
        leaseMs: LEASE_MS,
      }),
    work: (domain) => lookUpFirst(app, domain),
    // The lookup is repeated once the lease expires.
    onError: ({ id }, error) =>
      app.log.error('could not look up new domain', { domain: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wakeHere(FIRST_LOOKUP_JOB),
  });
}

/** What was answered in time is shown at once, the rest later. */
async function lookUpFirst(app: App, domain: ClaimedDomain): Promise<void> {
  const { latest, rest } = await lookUpName(app, domain.name, 'jobs', selectorsOf(domain));
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

/** The job that looks at domains when they are due: claim, look, record. */

import type { DomainHealth } from '../analysis/domain/health.ts';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { transact } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { type Look, lookAtHealth } from './health.ts';
import { afterLookup, FURTHEST_MS, RETRY_MS, recordHealth, recordLookup } from './transitions.ts';
import { type Lookup, lookUpVerification } from './verification.ts';

/** To wake it by. */
export const VERIFY_JOB = 'domains.verify';

/** So many at once: a look takes seconds, and others ask the DNS too. */
const AT_ONCE = 8;
/** How long others leave a claimed domain alone: longer than a look may take. */
const LEASE_MS = 120_000;

type Claimed = DomainRow & { lease: string };

export function verifyDomainsJob(app: App): Job {
  return claimingJob({
    name: VERIFY_JOB,
    concurrency: AT_ONCE,
    claim: (limit) => claimDue(app, limit),
    work: (domain) => checkOne(app, domain),
    // The lease runs out, and it is looked at again.
    failed: ({ id }, error) =>
      app.log.error('looking at a domain failed', {
        domain: id,
        error: errorMessage(error),
        fault: error instanceof Error ? error.stack : undefined,
      }),
    wake: () => app.scheduler.wake(VERIFY_JOB),
  });
}

/**
 * Takes due domains that nobody has, the longest due first; and those that would be due too far
 * away, because the clock has been set back since.
 */
async function claimDue(app: App, limit: number): Promise<Claimed[]> {
  const now = app.clock.now();
  const due = app.db
    .selectFrom('domains')
    .selectAll()
    .where(({ eb, or }) =>
      or([
        eb('next_check_at', '<=', isoTime(now)),
        eb('next_check_at', '>', isoTime(now + FURTHEST_MS)),
      ]),
    )
    .orderBy('next_check_at')
    .orderBy('id')
    .limit(limit);
  return claimRows(app, { table: 'domains', due, leaseMs: LEASE_MS });
}

async function checkOne(app: App, claimed: Claimed): Promise<void> {
  const { backgroundResolver: resolver, clock } = app;
  const lookup = await lookUpVerification({ resolver, clock }, claimed);
  // Where the DNS does not answer, a look at the rest would find out as little.
  const isHealthDue =
    claimed.status === 'verified' &&
    lookup.found !== 'unknown' &&
    afterLookup(claimed, lookup, clock.now()).event === null;
  const look = isHealthDue ? await lookAtHealth(app, claimed, 'jobs') : null;
  const row = await transact(app.db, (tx) => recordOutcome(app, tx, claimed, { lookup, look }));
  if (row?.status === 'verified' && claimed.status === 'pending') app.scheduler.wake(VERIFY_JOB);
}

const RELEASED = { lease: null, leased_until: null } as const;

/** Does nothing where the lease is no longer ours, or the domain is gone. */
async function recordOutcome(
  app: App,
  tx: Parameters<typeof recordLookup>[0],
  claimed: Claimed,
  { lookup, look }: { lookup: Lookup; look: Look | null },
): Promise<DomainRow | null> {
  const row = await tx
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', claimed.id)
    .where('lease', '=', claimed.lease)
    .executeTakeFirst();
  if (!row) return null;
  // Somebody had it looked up meanwhile, and what was found then is newer.
  if (row.status !== claimed.status || row.pending_since !== claimed.pending_since) {
    await tx.updateTable('domains').set(RELEASED).where('id', '=', row.id).execute();
    return null;
  }
  const after = await recordLookup(tx, app, row, lookup, {
    ...RELEASED,
    ...(look?.health.status === 'unknown' ? unknownHealth(app, look.health, lookup) : {}),
  });
  return look === null ? after : (await recordHealth(tx, app, after, look)).row;
}

/** It is looked at again soon, rather than tomorrow. */
function unknownHealth(
  { clock }: App,
  { summary }: DomainHealth,
  { found }: Lookup,
): Partial<DomainRow> {
  return {
    next_check_at: isoTime(clock.now() + RETRY_MS),
    ...(found === 'yes' ? { last_check_detail: summary } : {}),
  };
}

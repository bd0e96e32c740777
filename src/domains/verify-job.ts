/** The job that checks domains that are due: claim, check, record. */

import type { DomainHealth } from '../analysis/domain/health.ts';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { sameStateAs } from '../lib/memoize.ts';
import { isWorking } from '../net/dns/denials.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { claimRows, latestDueTime } from '../store/leases.ts';
import { transact } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { checkHealth, type HealthResult } from './health.ts';
import {
  afterLookup,
  MAX_CHECK_DELAY_MS,
  RETRY_DELAY_MS,
  recordHealth,
  recordLookup,
} from './transitions.ts';
import { type Lookup, lookUpVerification } from './verification.ts';

/** The job's name, which is used to wake it. */
export const VERIFY_JOB = 'domains.verify';

/** Checks take seconds, and other work needs the resolver too. */
const MAX_CONCURRENT_DOMAINS = 8;
/** Longer than a check can take. */
const LEASE_MS = 120_000;

type ClaimedDomain = DomainRow & { lease: string };

export function verifyDomainsJob(app: App): Job {
  return claimingJob({
    name: VERIFY_JOB,
    concurrency: MAX_CONCURRENT_DOMAINS,
    claim: (limit) => claimDue(app, limit),
    work: (domain) => checkDomain(app, domain),
    // The domain is checked again once the lease expires.
    onError: ({ id }, error) =>
      app.log.error('could not check domain', {
        domain: id,
        error: errorMessage(error),
        fault: error instanceof Error ? error.stack : undefined,
      }),
    wake: () => app.scheduler.wakeHere(VERIFY_JOB),
  });
}

/** Claims due domains, longest overdue first, and domains due implausibly far ahead after a clock change. */
async function claimDue(app: App, limit: number): Promise<ClaimedDomain[]> {
  const now = app.clock.now();
  const due = app.db
    .selectFrom('domains')
    .selectAll()
    .where(({ eb, or }) =>
      or([
        eb('next_check_at', '<=', isoTime(now)),
        eb('next_check_at', '>', latestDueTime(app, MAX_CHECK_DELAY_MS)),
      ]),
    )
    .orderBy('next_check_at')
    .orderBy('id')
    .limit(limit);
  return claimRows(app, { table: 'domains', due, leaseMs: LEASE_MS });
}

async function checkDomain(app: App, claimed: ClaimedDomain): Promise<void> {
  const { backgroundResolver: resolver, clock } = app;
  const lookup = await lookUpVerification(sameStateAs(app, { ...app, resolver }), claimed);
  const isHealthDue =
    claimed.status === 'verified' &&
    afterLookup(claimed, lookup, clock.now()).event === null &&
    (lookup.found !== 'unknown' || (await isSilent(resolver, claimed.name)));
  const result = isHealthDue ? await checkHealth(app, claimed, 'jobs') : null;
  const row = await transact(app.db, (tx) => recordOutcome(app, tx, claimed, { lookup, result }));
  if (row?.status === 'verified' && claimed.status === 'pending') app.scheduler.wake(VERIFY_JOB);
}

/** Whether DNS gives no answer about the domain. The health checks say why, unless the resolver itself is at fault. */
const isSilent = async (resolver: Resolver, name: string): Promise<boolean> =>
  (await resolver(name, 'NS')).status === 'error' && (await isWorking(resolver));

const RELEASED = { lease: null, leased_until: null } as const;

/** Does nothing if the lease was lost or the domain deleted. */
async function recordOutcome(
  app: App,
  tx: Parameters<typeof recordLookup>[0],
  claimed: ClaimedDomain,
  { lookup, result }: { lookup: Lookup; result: HealthResult | null },
): Promise<DomainRow | null> {
  const row = await tx
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', claimed.id)
    .where('lease', '=', claimed.lease)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) return null;
  // A user requested a verification in the meantime, and that result is newer.
  if (row.status !== claimed.status || row.pending_since !== claimed.pending_since) {
    await tx.updateTable('domains').set(RELEASED).where('id', '=', row.id).execute();
    return null;
  }
  const updatedRow = await recordLookup(tx, app, row, lookup, {
    ...RELEASED,
    // Records were changed during the check, so another one is due.
    ...(row.next_check_at === claimed.next_check_at ? {} : { next_check_at: row.next_check_at }),
    ...(result?.health.status === 'unknown' ? unknownHealth(app, result.health, lookup) : {}),
  });
  return result === null ? updatedRow : (await recordHealth(tx, app, updatedRow, result)).row;
}

/** Checks again soon instead of the next day. */
function unknownHealth(
  { clock }: App,
  { summary }: DomainHealth,
  { found }: Lookup,
): Partial<DomainRow> {
  return {
    next_check_at: isoTime(clock.now() + RETRY_DELAY_MS),
    ...(found === 'yes' ? { last_check_detail: summary } : {}),
  };
}

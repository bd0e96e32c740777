/** The job that analyses what has come: claim, analyse in a thread, record. */

import { JOBS_PER_THREAD, type PoolOutcome } from '../analysis/pool.ts';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { findMessageOf, MessageGone, readMessage } from './messages.ts';
import { ANALYZE_JOB, type ClaimedTest } from './queries.ts';
import { recordOutcome } from './record.ts';

/** How long others leave a claimed test alone; renewed while it is under way here. */
const LEASE_MS = 120_000;
const RENEW_EVERY_MS = 30_000;

/** A claim is a transaction, so a backlog is taken up by this part of the room at least. */
const REFILL_PART = 1 / 4;

/** Claims what is due, as much at once as the threads have room for. */
export function analyzeJob(app: App): Job {
  const underWay = new Map<string, Promise<void>>();
  const limit = app.config.WORKERS * JOBS_PER_THREAD;
  let renewedAt = app.clock.now();
  /** Whether the last claim took all that there was room for: then more may be due. */
  let more = false;
  const start = (test: ClaimedTest) => {
    const work = analyzeTest(app, test)
      .catch((error) => {
        if (!(error instanceof MessageGone))
          app.log.error('analysis failed', { test: test.id, error: errorMessage(error) });
      })
      .then(() => {
        underWay.delete(test.id);
        if (more && limit - underWay.size >= limit * REFILL_PART) app.scheduler.wake(ANALYZE_JOB);
      });
    underWay.set(test.id, work);
  };
  return {
    name: ANALYZE_JOB,
    tick: '* * * * * *',
    async run() {
      if (underWay.size > 0 && app.clock.now() - renewedAt >= RENEW_EVERY_MS) {
        renewedAt = app.clock.now();
        await renewLeases(app, [...underWay.keys()]);
      }
      const room = limit - underWay.size;
      if (room <= 0) return;
      const claimed = await claimDue(app, room);
      more = claimed.length === room;
      for (const test of claimed) start(test);
    },
    async idle() {
      await Promise.all(underWay.values());
    },
  };
}

async function renewLeases({ db, clock }: App, ids: string[]): Promise<void> {
  const leased_until = isoTime(clock.now() + LEASE_MS);
  await db
    .updateTable('tests')
    .set({ leased_until })
    .where('id', 'in', ids)
    .where('lease', 'is not', null)
    .execute();
}

/** Takes due tests that nobody has, the longest due first. */
export async function claimDue(app: App, limit: number): Promise<ClaimedTest[]> {
  const due = app.db
    .selectFrom('tests')
    .select(['id', 'kind', 'analysis_due_at'])
    .where('analysis_due_at', '<=', isoTime(app.clock.now()))
    .orderBy('analysis_due_at')
    .limit(limit);
  return claimRows(app, { table: 'tests', due, leaseMs: LEASE_MS });
}

async function analyzeTest(app: App, test: ClaimedTest): Promise<void> {
  const message = await findMessageOf(app.db, test.id);
  // Deleted since it was claimed.
  if (!message) return;
  const { SPAMD_URL, RSPAMD_URL, CHECK_LINKS } = app.config;
  const setup = {
    blocklists: await app.blocklists.inUse(),
    spamd: SPAMD_URL,
    rspamd: RSPAMD_URL,
    checkLinks: CHECK_LINKS,
  };
  const outcome: PoolOutcome = await app.pool.analyze(
    {
      raw: await readMessage(app.db, message),
      envelope: JSON.parse(message.envelope),
      receivedAt: Date.parse(message.received_at),
      kind: test.kind,
    },
    { setup },
  );
  // Shutting down: the next start takes it up again.
  if (!outcome.ok && outcome.reason === 'closed') return;
  await recordOutcome(app, test, outcome);
}

/** The job that analyzes received messages: claim, analyze in a thread, record. */

import type { Envelope } from '../analysis/check.ts';
import { MAX_JOBS_PER_THREAD, type PoolOutcome } from '../analysis/pool.ts';
import { receiptTime } from '../analysis/receipt/file.ts';
import type { App } from '../app.ts';
import { teamDomains } from '../domains/team-domains.ts';
import { traceOf } from '../events/traces.ts';
import { ownSenderOf } from '../feedback/sources/own-tests.ts';
import { isoTime, monotonicClock } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { inTrace } from '../lib/trace-context.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { MessageDeletedError, readMessage } from '../store/chunks.ts';
import { DatabaseUnavailableError } from '../store/errors.ts';
import { claimRows, renewLeases } from '../store/leases.ts';
import { untilAvailable } from '../store/until-available.ts';
import { visibleTo } from './limited-tests.ts';
import { clearSteps, recordStep } from './live.ts';
import { findMessageOf } from './messages.ts';
import { ANALYZE_JOB, type ClaimedTest } from './queries.ts';
import { recordOutcome } from './record.ts';

/** Renewed while the analysis runs. */
const LEASE_MS = 120_000;
const RENEW_INTERVAL_MS = 30_000;

/** A claim is a transaction, so a backlog is claimed only when this share of the capacity is free. */
const MIN_REFILL_SHARE = 1 / 4;

/** Claims as many due tests as the threads have capacity for. */
export function analyzeJob(app: App): Job {
  const running = new Map<string, { lease: string; work: Promise<void> }>();
  const limit = app.config.WORKERS * MAX_JOBS_PER_THREAD;
  let renewedAt = app.clock.now();
  /** Whether the last claim used the full capacity, so that more tests may be due. */
  let mayHaveMore = false;
  const start = (test: ClaimedTest) => {
    const work = inTrace(traceOf(app, test.id), () => analyzeTest(app, test))
      .catch((error) => {
        if (error instanceof MessageDeletedError) return;
        // The test is still due in the database: its lease ends, and a node analyzes it.
        const level = error instanceof DatabaseUnavailableError ? 'warn' : 'error';
        app.log[level]('analysis failed', { test: test.id, error: errorMessage(error) });
      })
      .then(() => {
        running.delete(test.id);
        if (mayHaveMore && limit - running.size >= limit * MIN_REFILL_SHARE)
          app.scheduler.wakeHere(ANALYZE_JOB);
      });
    running.set(test.id, { lease: test.lease, work });
  };
  return {
    name: ANALYZE_JOB,
    tick: '* * * * * *',
    async run() {
      if (running.size > 0 && app.clock.now() - renewedAt >= RENEW_INTERVAL_MS) {
        renewedAt = app.clock.now();
        const leases = [...new Set([...running.values()].map(({ lease }) => lease))];
        await renewLeases(app.db, app.clock, { table: 'tests', leases, leaseMs: LEASE_MS });
      }
      const capacity = limit - running.size;
      if (capacity <= 0) return;
      const claimed = await claimDue(app, capacity);
      mayHaveMore = claimed.length === capacity;
      for (const test of claimed) start(test);
    },
    async idle() {
      await Promise.all([...running.values()].map(({ work }) => work));
    },
  };
}

/** Claims due tests that are not leased, most overdue first. */
export async function claimDue(app: App, limit: number): Promise<ClaimedTest[]> {
  const due = app.db
    .selectFrom('tests')
    .select(['id', 'kind', 'analysis_due_at', 'limited_to'])
    .where('analysis_due_at', '<=', isoTime(app.clock.now()))
    .orderBy('analysis_due_at')
    .limit(limit);
  return claimRows(app, { table: 'tests', due, leaseMs: LEASE_MS });
}

async function analyzeTest(app: App, test: ClaimedTest): Promise<void> {
  const message = await untilAvailable(() => findMessageOf(app.db, test.id));
  // The test was deleted after it was claimed.
  if (!message) return;
  const { SPAMD_URL, RSPAMD_URL, CHECK_LINKS } = app.config;
  const envelope: Envelope = JSON.parse(message.envelope);
  const db = visibleTo(app.db, test.limited_to);
  const setup = {
    blocklists: await app.blocklists.inUse(),
    spamd: SPAMD_URL,
    rspamd: RSPAMD_URL,
    checkLinks: CHECK_LINKS,
    domains: await teamDomains({ ...app, db }),
    ownSenderOf: await ownSenderOf(db, envelope),
  };
  const at = receiptTime(envelope, message.received_at);
  clearSteps(app, test.id);
  const startedAt = monotonicClock.now();
  const outcome: PoolOutcome = await app.pool.analyze(
    {
      raw: { size: message.size, read: () => untilAvailable(() => readMessage(app.db, message)) },
      envelope,
      receivedAt: at === null ? null : Date.parse(at),
      kind: test.kind,
    },
    { setup, onStep: (step, outcome) => recordStep(app, test.id, step, outcome) },
  );
  // The service is stopping: the analysis runs again after the next start.
  if (!outcome.ok && outcome.reason === 'closed') return;
  app.metrics.analysisDuration.observe((monotonicClock.now() - startedAt) / 1000);
  app.metrics.analyses.inc({ outcome: outcome.ok ? 'result' : outcome.reason });
  await untilAvailable(() => recordOutcome(app, test, outcome));
  clearSteps(app, test.id);
}

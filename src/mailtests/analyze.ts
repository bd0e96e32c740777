/** Analyzes received messages: takes them as they are accepted, or claims them; then a thread, then the record. */

import type { Envelope } from '../analysis/check.ts';
import { MAX_JOBS_PER_THREAD, type PoolOutcome } from '../analysis/pool.ts';
import { receiptTime } from '../analysis/receipt/file.ts';
import type { App } from '../app.ts';
import { teamDomains } from '../domains/team-domains.ts';
import { traceOf } from '../events/traces.ts';
import { ownSenderOf } from '../feedback/sources/own-tests.ts';
import { isoTime, monotonicClock } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { inTrace } from '../lib/trace-context.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { MessageDeletedError, readMessage } from '../store/chunks.ts';
import { timeIn } from '../store/database-clock.ts';
import { DatabaseUnavailableError } from '../store/errors.ts';
import { claimRows, newLease, renewLeases } from '../store/leases.ts';
import { afterCommit, type Tx } from '../store/open.ts';
import type { MessageRow } from '../store/tables.generated.ts';
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

/** Longer messages are read again, so that those that wait for a thread take little memory. */
const MAX_KEPT_BYTES = 256 * 1024;

/** No commit takes longer. */
const MAX_COMMIT_MS = 10_000;

interface Running {
  tests: Map<string, { lease: string; work: Promise<void> }>;
  /** Whether the last claim used the full capacity, so that more tests may be due. */
  mayHaveMore: boolean;
  /** Leases of transactions that have not committed yet, with the time of the lease. */
  uncommitted: Map<string, number>;
}

const runningOf = memoizePerObject(
  (_app: App['signals']): Running => ({
    tests: new Map(),
    mayHaveMore: false,
    uncommitted: new Map(),
  }),
);

const limitOf = ({ config }: App): number => config.WORKERS * MAX_JOBS_PER_THREAD;

/**
 * Takes the lease of a test in the transaction that accepts its message, if a thread has room. The analysis starts after
 * the commit: this saves the claim, and reading the message again. Returns the columns to set. Without room, or with older
 * tests waiting, the test is left to the job: then they are empty.
 */
export function takeAccepted(
  tx: Tx,
  app: App,
  {
    test,
    message,
    raw,
  }: { test: Omit<ClaimedTest, 'lease'>; message: MessageRow; raw: Uint8Array },
) {
  const { tests, mayHaveMore, uncommitted } = runningOf(app.signals);
  const hasRoom = !mayHaveMore && tests.size < limitOf(app) && app.scheduler.running();
  if (!hasRoom || raw.byteLength > MAX_KEPT_BYTES) return {};
  const lease = newLease(app);
  uncommitted.set(lease, app.clock.now());
  afterCommit(tx, () => {
    uncommitted.delete(lease);
    // It may have stopped during the commit: the next start releases the lease.
    if (!app.scheduler.running()) return;
    // A copy, because the connection frees its own.
    start(app, { ...test, lease }, { message, raw: new Uint8Array(raw) });
  });
  return { lease, leased_until: timeIn(app.clock, LEASE_MS) };
}

/**
 * Ends the leases of transactions that were rolled back, or whose commit is unknown because the connection to the database was
 * lost: those tests are due again at once.
 */
async function endUncommitted(app: App): Promise<void> {
  const { uncommitted } = runningOf(app.signals);
  const latest = app.clock.now() - MAX_COMMIT_MS;
  const leases = [...uncommitted].flatMap(([lease, at]) => (at <= latest ? lease : []));
  if (leases.length === 0) return;
  await app.db
    .updateTable('tests')
    .set({ lease: null, leased_until: null })
    .where('lease', 'in', leases)
    .execute();
  for (const lease of leases) uncommitted.delete(lease);
}

function start(app: App, test: ClaimedTest, accepted?: Accepted): void {
  const running = runningOf(app.signals);
  const { tests } = running;
  const limit = limitOf(app);
  const work = inTrace(traceOf(app, test.id), () => analyzeTest(app, test, accepted))
    .catch((error) => {
      if (error instanceof MessageDeletedError) return;
      // The test is still due in the database: its lease ends, and a node analyzes it.
      const level = error instanceof DatabaseUnavailableError ? 'warn' : 'error';
      app.log[level]('analysis failed', { test: test.id, error: errorMessage(error) });
    })
    .then(() => {
      tests.delete(test.id);
      if (running.mayHaveMore && limit - tests.size >= limit * MIN_REFILL_SHARE)
        app.scheduler.wakeHere(ANALYZE_JOB);
    });
  tests.set(test.id, { lease: test.lease, work });
}

/** Claims as many due tests as the threads have capacity for. */
export function analyzeJob(app: App): Job {
  const running = runningOf(app.signals);
  const { tests } = running;
  let renewedAt = app.clock.now();
  return {
    name: ANALYZE_JOB,
    tick: '* * * * * *',
    async run() {
      await endUncommitted(app);
      if (tests.size > 0 && app.clock.now() - renewedAt >= RENEW_INTERVAL_MS) {
        renewedAt = app.clock.now();
        const leases = [...new Set([...tests.values()].map(({ lease }) => lease))];
        await renewLeases(app.db, app.clock, { table: 'tests', leases, leaseMs: LEASE_MS });
      }
      const capacity = limitOf(app) - tests.size;
      if (capacity <= 0) return;
      const claimed = await claimDue(app, capacity);
      running.mayHaveMore = claimed.length === capacity;
      for (const test of claimed) start(app, test);
    },
    async idle() {
      await Promise.all([...tests.values()].map(({ work }) => work));
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

/** A message that has just been stored, and is still in memory. */
interface Accepted {
  message: MessageRow;
  raw: Uint8Array;
}

async function analyzeTest(app: App, test: ClaimedTest, accepted?: Accepted): Promise<void> {
  const message = accepted?.message ?? (await untilAvailable(() => findMessageOf(app.db, test.id)));
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
  let inMemory = accepted?.raw;
  /** What is in memory is moved to the thread. If the analysis is repeated, the message is read. */
  const read = async () => {
    const raw = inMemory;
    inMemory = undefined;
    return raw ?? untilAvailable(() => readMessage(app.db, message));
  };
  const at = receiptTime(envelope, message.received_at);
  clearSteps(app, test.id);
  const startedAt = monotonicClock.now();
  const outcome: PoolOutcome = await app.pool.analyze(
    {
      raw: { size: message.size, read },
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

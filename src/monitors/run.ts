/** The job that runs monitors: claim, check, record. */

import type { App } from '../app.ts';
import { findDomain } from '../domains/queries.ts';
import { appendEvent, resultStored } from '../events/events.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { lockIn, transact } from '../store/open.ts';
import { deleteInBatches } from '../store/queries.ts';
import type { DomainRow, MonitorRow, MonitorRunRow } from '../store/tables.generated.ts';
import { queryBlocklists } from './check-blocklists.ts';
import { checkDomain } from './check-domain.ts';
import { compareRuns, type Outcome, unknownOutcome } from './findings.ts';
import { lastRun, presentMonitor, presentRun } from './queries.ts';
import {
  type ClaimedMonitor,
  catchUpSlot,
  correctedSlot,
  FREQUENCIES,
  maxSlotDelay,
  RUN_MONITORS_JOB,
  type RunType,
  slotAfterRun,
} from './schedule.ts';

const MAX_RUNNING: Record<RunType, number> = { domain_health: 8, blocklist: 32 };
const REPLAN_INTERVAL_MS = 60_000;

export function runMonitorsJob(app: App): Job {
  const inProgress = new Map<string, { type: RunType; work: Promise<void> }>();
  let replannedAt = app.clock.now();

  const start = (monitor: ClaimedMonitor, type: RunType) => {
    const work = runMonitor(app, monitor)
      .catch((error) =>
        app.log.error('monitor run failed', {
          monitor: monitor.id,
          error: errorMessage(error),
        }),
      )
      .then(() => {
        inProgress.delete(monitor.id);
        app.scheduler.wakeHere(RUN_MONITORS_JOB);
      });
    inProgress.set(monitor.id, { type, work });
  };

  return {
    name: RUN_MONITORS_JOB,
    tick: '* * * * * *',
    async run() {
      const now = app.clock.now();
      // Also right after the clock was set back.
      if (now < replannedAt || now - replannedAt >= REPLAN_INTERVAL_MS) {
        replannedAt = now;
        await rescheduleMonitors(app);
      }
      for (const type of Object.keys(MAX_RUNNING) as RunType[]) {
        const running = [...inProgress.values()].filter((run) => run.type === type).length;
        const capacity = MAX_RUNNING[type] - running;
        if (capacity <= 0) continue;
        for (const monitor of await claimDueMonitors(app, type, capacity, [...inProgress.keys()]))
          start(monitor, type);
      }
    },
    async idle() {
      await Promise.all([...inProgress.values()].map(({ work }) => work));
    },
  };
}

async function runMonitor(app: App, monitor: ClaimedMonitor): Promise<void> {
  const { domain_id } = monitor;
  const domain = domain_id === null ? null : await findDomain(app.db, domain_id);
  // The domain was deleted, and the monitor with it.
  if (domain === undefined) return;
  const targets = domain ? [domain.name] : (JSON.parse(monitor.targets ?? '[]') as string[]);
  const outcome = await runChecks(app, monitor, { domain, targets }).catch((error): Outcome => {
    // A bug: recording the run as unknown defers the next attempt to the next slot.
    app.log.error('monitor checks failed', { monitor: monitor.id, error: errorMessage(error) });
    return unknownOutcome(targets);
  });
  await recordRun(app, monitor, outcome);
}

const runChecks = (
  app: App,
  { type }: ClaimedMonitor,
  { domain, targets }: { domain: DomainRow | null; targets: string[] },
): Promise<Outcome> =>
  domain && type === 'domain_health' ? checkDomain(app, domain) : queryBlocklists(app, targets);

// Claiming monitors that are due, and rescheduling them after a clock change or an outage.

/** Longer than any run takes. */
const LEASE_MS = 120_000;

type Context = Pick<App, 'db' | 'clock'>;

/** Claims at most `limit` monitors of a type, most overdue first. Skips those in `running`. */
export async function claimDueMonitors(
  context: Context & Pick<App, 'newId' | 'node'>,
  type: RunType,
  limit: number,
  running: string[] = [],
): Promise<ClaimedMonitor[]> {
  const startedAt = context.clock.now();
  const due = context.db
    .selectFrom('monitors')
    .selectAll()
    .where('next_run_at', '<=', isoTime(startedAt))
    .where('type', '=', type)
    .where('id', 'not in', ['', ...running])
    .orderBy('next_run_at')
    .limit(limit);
  const claimed = await claimRows(context, { table: 'monitors', due, leaseMs: LEASE_MS });
  return claimed.map((row) => ({ ...row, next_run_at: row.next_run_at!, startedAt }));
}

/** Reschedules monitors whose next run is too far away because the clock was set back. */
export async function rescheduleMonitors(app: Context): Promise<void> {
  const { db, clock } = app;
  const now = clock.now();
  const misplanned = await db
    .selectFrom('monitors')
    .select('id')
    .where(({ eb, or, and }) =>
      or(
        FREQUENCIES.map((frequency) =>
          and([
            eb('frequency', '=', frequency),
            eb('next_run_at', '>', isoTime(now + maxSlotDelay(frequency))),
          ]),
        ),
      ),
    )
    .limit(1)
    .execute();
  if (misplanned.length > 0)
    await reschedule(app, (row, planned, at) => correctedSlot(row, planned, at));
}

/** On startup, runs each monitor that missed runs once, spread over an hour. */
export async function resumeMonitors(app: Context): Promise<void> {
  // A monitor that has never run has missed nothing.
  await reschedule(app, (row, planned, now) =>
    row.last_run_at === null ? planned : catchUpSlot(row, planned, now),
  );
}

type Plan = (row: PlannedRow, planned: number, now: number) => number;
type PlannedRow = Pick<MonitorRow, 'id' | 'frequency' | 'last_run_at'>;

async function reschedule({ db, clock }: Context, plan: Plan): Promise<void> {
  const now = clock.now();
  await transact(db, async (tx) => {
    const rows = await tx
      .selectFrom('monitors')
      .select(['id', 'frequency', 'last_run_at', 'next_run_at'])
      .where('next_run_at', 'is not', null)
      .execute();
    for (const { next_run_at, ...row } of rows) {
      const nextRunAt = isoTime(plan(row, Date.parse(next_run_at!), now));
      if (nextRunAt === next_run_at) continue;
      await tx
        .updateTable('monitors')
        .set({ next_run_at: nextRunAt })
        .where('id', '=', row.id)
        // Another node may have run or changed it since.
        .where('next_run_at', '=', next_run_at)
        .execute();
    }
  });
}

/**
 * Records a run with its changes, event, and the monitor's new state in one transaction. Writes nothing
 * if the lease is lost: the monitor was deleted, changed, or claimed again.
 */
export async function recordRun(
  app: App,
  claimed: ClaimedMonitor,
  outcome: Outcome,
): Promise<void> {
  const { newId, clock } = app;
  await transact(app.db, async (tx) => {
    const leased = tx
      .selectFrom('monitors')
      .selectAll()
      .where('id', '=', claimed.id)
      .where('lease', '=', claimed.lease);
    const current = await lockIn(tx, leased).executeTakeFirst();
    if (!current) return;
    const previous = await lastRun(tx, current.id);
    const comparison = compareRuns(previous ? JSON.parse(previous.findings) : [], outcome);
    const now = clock.now();
    const run: MonitorRunRow = {
      id: newId('run'),
      monitor_id: current.id,
      started_at: isoTime(claimed.startedAt),
      finished_at: isoTime(now),
      status: comparison.status,
      findings: JSON.stringify(comparison.findings),
      changes: JSON.stringify(comparison.changes),
    };
    await tx.insertInto('monitor_runs').values(run).execute();
    const change = {
      status: comparison.status,
      last_run_at: run.started_at,
      next_run_at: isoTime(
        slotAfterRun(current, {
          planned: Date.parse(claimed.next_run_at),
          now,
          isKnown: comparison.status !== 'unknown',
        }),
      ),
      lease: null,
      leased_until: null,
    };
    await tx.updateTable('monitors').set(change).where('id', '=', current.id).execute();
    const monitor: MonitorRow = { ...current, ...change };
    if (comparison.hasWorsened) {
      const data = { ...presentRun(run), monitor: presentMonitor(monitor, app) };
      await appendEvent(tx, { type: 'monitor.alert', livemode: true, data }, app);
    }
    await app.subscribers.publish(resultStored, tx, { kind: 'run', run, monitor });
  });
}

// Deletes runs after the event retention time, except the last run of each monitor: the next one is
// compared with it.

export function expireRunsJob(app: App): Job {
  return { name: 'monitors.expire', tick: '0 23 * * * *', run: () => expireRuns(app) };
}

export async function expireRuns({
  db,
  clock,
  config,
}: Pick<App, 'db' | 'clock' | 'config'>): Promise<void> {
  if (config.EVENT_RETENTION === 0) return;
  const cutoff = isoTime(clock.now() - config.EVENT_RETENTION);
  const old = db
    .selectFrom('monitor_runs as run')
    .select('run.id')
    .where('run.started_at', '<', cutoff)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('monitor_runs as later')
          .select('later.id')
          .whereRef('later.monitor_id', '=', 'run.monitor_id')
          .whereRef('later.id', '>', 'run.id'),
      ),
    );
  await deleteInBatches(db, 'monitor_runs', old);
}

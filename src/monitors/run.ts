/** The job that runs monitors: claim, check, record. */

import type { App } from '../app.ts';
import { checkHealthShared, type HealthResult } from '../domains/health.ts';
import { findDomain } from '../domains/queries.ts';
import { recordHealth } from '../domains/transitions.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { messageDeadline } from '../mailtests/monitor-mail.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { lockIn, type Tx, transact } from '../store/open.ts';
import { deleteInSteps } from '../store/queries.ts';
import type { DomainRow, MonitorRow } from '../store/tables.generated.ts';
import { queryBlocklists } from './check-blocklists.ts';
import { outcomeOf } from './check-domain.ts';
import { type Outcome, unknownOutcome } from './findings.ts';
import { missingMessageOutcome } from './placement.ts';
import { MONITOR_ROW } from './queries.ts';
import { storeRun } from './record-run.ts';
import {
  type ClaimedMonitor,
  catchUpSlot,
  correctedSlot,
  FREQUENCIES,
  maxSlotDelay,
  RUN_MONITORS_JOB,
  slotAfterRun,
} from './schedule.ts';
import type { MonitorType } from './types.ts';

const MAX_RUNNING: Record<MonitorType, number> = {
  domain_health: 8,
  blocklist: 32,
  placement: 8,
};
const REPLAN_INTERVAL_MS = 60_000;

export function runMonitorsJob(app: App): Job {
  const inProgress = new Map<string, { type: MonitorType; work: Promise<void> }>();
  let replannedAt = app.clock.now();

  const start = (monitor: ClaimedMonitor, type: MonitorType) => {
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
      for (const type of Object.keys(MAX_RUNNING) as MonitorType[]) {
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
  const targets = domain ? [domain.name] : (MONITOR_ROW.decode(monitor).targets ?? []);
  const checked = await runChecks(app, monitor, { domain, targets }).catch((error): Checked => {
    // A bug: recording the run as unknown defers the next attempt to the next slot.
    app.log.error('monitor checks failed', { monitor: monitor.id, error: errorMessage(error) });
    return { outcome: unknownOutcome(targets) };
  });
  await recordRun(app, monitor, checked.outcome, checked.result);
  app.signals.raise(monitor.id);
}

/** `result`: the result of the health checks of its domain, which the run also records there. */
interface Checked {
  outcome: Outcome;
  result?: HealthResult;
}

const runChecks = async (
  app: App,
  monitor: ClaimedMonitor,
  { domain, targets }: { domain: DomainRow | null; targets: string[] },
): Promise<Checked> => {
  if (monitor.type === 'placement') return { outcome: await missingMessageOutcome(app, monitor) };
  if (!domain || monitor.type !== 'domain_health')
    return { outcome: await queryBlocklists(app, targets) };
  const result = await checkHealthShared(app, domain, 'jobs');
  return { outcome: outcomeOf(domain.name, result.health), result };
};

// Claiming monitors that are due, and rescheduling them after a clock change or an outage.

/** Longer than any run takes. */
const LEASE_MS = 120_000;

type Context = Pick<App, 'db' | 'clock'>;

/** Claims at most `limit` monitors of a type, most overdue first. Skips those in `running`. */
export async function claimDueMonitors(
  context: Context & Pick<App, 'newId' | 'node'>,
  type: MonitorType,
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
  await reschedule(app, (row, planned, now) => {
    // Messages could not arrive meanwhile, and their senders may need some time to try again.
    if (row.type === 'placement') return planned > now ? planned : messageDeadline(row, now);
    // A monitor that has never run has missed nothing.
    return row.last_run_at === null ? planned : catchUpSlot(row, planned, now);
  });
}

type Plan = (row: PlannedRow, planned: number, now: number) => number;
type PlannedRow = Pick<MonitorRow, 'id' | 'type' | 'frequency' | 'last_run_at'>;

async function reschedule({ db, clock }: Context, plan: Plan): Promise<void> {
  const now = clock.now();
  await transact(db, async (tx) => {
    const rows = await tx
      .selectFrom('monitors')
      .select(['id', 'type', 'frequency', 'last_run_at', 'next_run_at'])
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

/** Records a run. Writes nothing if the lease is lost: the monitor was deleted, changed, or claimed again. */
export async function recordRun(
  app: App,
  claimed: ClaimedMonitor,
  outcome: Outcome,
  result?: HealthResult,
): Promise<void> {
  await transact(app.db, async (tx) => {
    // First, because others who record the health of a domain lock it before its monitors.
    const domain = result && (await lockDomain(tx, claimed.domain_id));
    const leased = tx
      .selectFrom('monitors')
      .selectAll()
      .where('id', '=', claimed.id)
      .where('lease', '=', claimed.lease);
    const current = await lockIn(tx, leased).executeTakeFirst();
    if (!current) return;
    await storeRun(tx, app, current, {
      outcome,
      startedAt: claimed.startedAt,
      nextRunAt: (isKnown) =>
        isoTime(nextRunAfter(current, Date.parse(claimed.next_run_at), app.clock.now(), isKnown)),
    });
    if (domain) await recordHealth(tx, app, domain, result!);
  });
}

const lockDomain = (tx: Tx, id: string | null): Promise<DomainRow | undefined> =>
  lockIn(tx, tx.selectFrom('domains').selectAll().where('id', '=', id)).executeTakeFirst();

/** A placement monitor runs again if the next message is missing too. */
const nextRunAfter = (
  monitor: MonitorRow,
  planned: number,
  now: number,
  isKnown: boolean,
): number =>
  monitor.type === 'placement'
    ? messageDeadline(monitor, now)
    : slotAfterRun(monitor, { planned, now, isKnown });

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
  await deleteInSteps(db, 'monitor_runs', old);
}

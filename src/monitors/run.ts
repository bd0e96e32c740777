/** The job that runs monitors: claim, look, record. */

import type { App } from '../app.ts';
import { findDomain } from '../domains/queries.ts';
import { appendEvent, resultStored } from '../events/events.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { transact } from '../store/open.ts';
import { deleteInBatches } from '../store/queries.ts';
import type { DomainRow, MonitorRow, MonitorRunRow } from '../store/tables.generated.ts';
import { askBlocklists } from './check-blocklists.ts';
import { lookAtDomain } from './check-domain.ts';
import { compare, nothingKnown, type Outcome } from './findings.ts';
import { lastRun, presentMonitor, presentRun } from './queries.ts';
import {
  type ClaimedMonitor,
  catchUpSlot,
  FREQUENCIES,
  furthestAhead,
  RUN_MONITORS_JOB,
  type RunType,
  replanned,
  slotAfterRun,
} from './schedule.ts';

/** How many of each type are under way at once. */
const MAX_RUNNING: Record<RunType, number> = { domain_health: 8, blocklist: 32 };
const REPLAN_EVERY_MS = 60_000;

export function runMonitorsJob(app: App): Job {
  const underWay = new Map<string, { type: RunType; work: Promise<void> }>();
  let replannedAt = app.clock.now();

  const start = (monitor: ClaimedMonitor, type: RunType) => {
    const work = runMonitor(app, monitor)
      .catch((error) =>
        app.log.error('a monitor could not be run', {
          monitor: monitor.id,
          error: errorMessage(error),
        }),
      )
      .then(() => {
        underWay.delete(monitor.id);
        app.scheduler.wake(RUN_MONITORS_JOB);
      });
    underWay.set(monitor.id, { type, work });
  };

  return {
    name: RUN_MONITORS_JOB,
    tick: '* * * * * *',
    async run() {
      const now = app.clock.now();
      // Also as soon as the clock has been set back.
      if (now < replannedAt || now - replannedAt >= REPLAN_EVERY_MS) {
        replannedAt = now;
        await replanMonitors(app);
      }
      for (const type of Object.keys(MAX_RUNNING) as RunType[]) {
        const running = [...underWay.values()].filter((one) => one.type === type).length;
        const room = MAX_RUNNING[type] - running;
        if (room <= 0) continue;
        for (const monitor of await claimDueMonitors(app, type, room, [...underWay.keys()]))
          start(monitor, type);
      }
    },
    async idle() {
      await Promise.all([...underWay.values()].map(({ work }) => work));
    },
  };
}

async function runMonitor(app: App, monitor: ClaimedMonitor): Promise<void> {
  const { domain_id } = monitor;
  const domain = domain_id === null ? null : await findDomain(app.db, domain_id);
  // Its domain has been deleted, and the monitor with it.
  if (domain === undefined) return;
  const targets = domain ? [domain.name] : (JSON.parse(monitor.targets ?? '[]') as string[]);
  const outcome = await look(app, monitor, { domain, targets }).catch((error): Outcome => {
    // A fault of ours: it is found out at the next slot, not again and again until then.
    app.log.error('a monitor could not look', { monitor: monitor.id, error: errorMessage(error) });
    return nothingKnown(targets);
  });
  await recordRun(app, monitor, outcome);
}

const look = (
  app: App,
  { type }: ClaimedMonitor,
  { domain, targets }: { domain: DomainRow | null; targets: string[] },
): Promise<Outcome> =>
  domain && type === 'domain_health' ? lookAtDomain(app, domain) : askBlocklists(app, targets);

// Takes monitors that are due, and plans anew where the clock or an outage has upset the plan.

/** How long others leave a claimed monitor alone: longer than any run takes. */
const LEASE_MS = 120_000;

type Context = Pick<App, 'db' | 'clock' | 'newId'>;

/** At most `limit` of a type, the longest due first, none of those that are in hand here. */
export async function claimDueMonitors(
  context: Context,
  type: RunType,
  limit: number,
  inHand: string[] = [],
): Promise<ClaimedMonitor[]> {
  const startedAt = context.clock.now();
  const due = context.db
    .selectFrom('monitors')
    .selectAll()
    .where('next_run_at', '<=', isoTime(startedAt))
    .where('type', '=', type)
    .where('id', 'not in', ['', ...inHand])
    .orderBy('next_run_at')
    .limit(limit);
  const claimed = await claimRows(context, { table: 'monitors', due, leaseMs: LEASE_MS });
  return claimed.map((row) => ({ ...row, next_run_at: row.next_run_at!, startedAt }));
}

/** A clock that was set back must not leave a monitor waiting for a time far away. */
export async function replanMonitors(app: Context): Promise<void> {
  const { db, clock } = app;
  const now = clock.now();
  const far = await db
    .selectFrom('monitors')
    .select('id')
    .where(({ eb, or, and }) =>
      or(
        FREQUENCIES.map((frequency) =>
          and([
            eb('frequency', '=', frequency),
            eb('next_run_at', '>', isoTime(now + furthestAhead(frequency))),
          ]),
        ),
      ),
    )
    .limit(1)
    .execute();
  if (far.length > 0) await planAnew(app, (row, planned, at) => replanned(row, planned, at));
}

/** At the start: what was missed is made up for once, spread over an hour. */
export async function resumeMonitors(app: Context): Promise<void> {
  // What has never run has missed nothing.
  await planAnew(app, (row, planned, now) =>
    row.last_run_at === null ? planned : catchUpSlot(row, planned, now),
  );
}

type Plan = (row: PlannedRow, planned: number, now: number) => number;
type PlannedRow = Pick<MonitorRow, 'id' | 'frequency' | 'last_run_at'>;

async function planAnew({ db, clock }: Context, plan: Plan): Promise<void> {
  const now = clock.now();
  await db.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('monitors')
      .select(['id', 'frequency', 'last_run_at', 'next_run_at'])
      .where('next_run_at', 'is not', null)
      .execute();
    for (const { next_run_at, ...row } of rows) {
      const wanted = isoTime(plan(row, Date.parse(next_run_at!), now));
      if (wanted === next_run_at) continue;
      await tx
        .updateTable('monitors')
        .set({ next_run_at: wanted })
        .where('id', '=', row.id)
        .execute();
    }
  });
}

// Writes down a run in one transaction with its news, the state of the monitor and the next time.

/** Writes nothing if the claim is no longer valid: the monitor was deleted, changed or claimed again meanwhile. */
export async function recordRun(
  app: App,
  claimed: ClaimedMonitor,
  outcome: Outcome,
): Promise<void> {
  const { newId, clock } = app;
  await transact(app.db, async (tx) => {
    const held = await tx
      .selectFrom('monitors')
      .selectAll()
      .where('id', '=', claimed.id)
      .where('lease', '=', claimed.lease)
      .executeTakeFirst();
    if (!held) return;
    const former = await lastRun(tx, held.id);
    const news = compare(former ? JSON.parse(former.findings) : [], outcome);
    const now = clock.now();
    const run: MonitorRunRow = {
      id: newId('run'),
      monitor_id: held.id,
      started_at: isoTime(claimed.startedAt),
      finished_at: isoTime(now),
      status: news.status,
      findings: JSON.stringify(news.findings),
      changes: JSON.stringify(news.changes),
    };
    await tx.insertInto('monitor_runs').values(run).execute();
    const change = {
      status: news.status,
      last_run_at: run.started_at,
      next_run_at: isoTime(
        slotAfterRun(held, {
          planned: Date.parse(claimed.next_run_at),
          now,
          isKnown: news.status !== 'unknown',
        }),
      ),
      lease: null,
      leased_until: null,
    };
    await tx.updateTable('monitors').set(change).where('id', '=', held.id).execute();
    const monitor: MonitorRow = { ...held, ...change };
    if (news.worse) {
      const data = { ...presentRun(run), monitor: presentMonitor(monitor, app) };
      await appendEvent(tx, { type: 'monitor.alert', livemode: true, data }, app);
    }
    await app.subscribers.publish(resultStored, tx, { kind: 'run', run, monitor });
  });
}

// Deletes runs as old as the events that are no longer kept, but the last of each monitor: the next is held against it.

export function expireRunsJob(app: App): Job {
  return { name: 'monitors.expire', tick: '0 23 * * * *', run: () => expireRuns(app) };
}

export async function expireRuns({
  db,
  clock,
  config,
}: Pick<App, 'db' | 'clock' | 'config'>): Promise<void> {
  if (config.EVENT_RETENTION === 0) return;
  const before = isoTime(clock.now() - config.EVENT_RETENTION);
  const old = db
    .selectFrom('monitor_runs as run')
    .select('run.id')
    .where('run.started_at', '<', before)
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

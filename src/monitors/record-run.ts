/** Stores a run of a monitor: what changed, its event, and the new state of the monitor. */

import type { App } from '../app.ts';
import { appendEvent } from '../events/events.ts';
import { observed } from '../events/observations.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tx } from '../store/open.ts';
import type { MonitorRow, MonitorRunRow } from '../store/tables.generated.ts';
import { compareRuns, type Outcome } from './findings.ts';
import { observeRun } from './observe.ts';
import { lastRun, presentMonitor, presentRun } from './queries.ts';

interface NewRun {
  outcome: Outcome;
  /** In milliseconds since the Unix epoch. */
  startedAt: number;
  /** As an ISO time. It may depend on whether the run had a result. */
  nextRunAt: string | null | ((isKnown: boolean) => string);
}

/** `monitor` must be locked. Call in `transact`. */
export async function storeRun(
  tx: Tx,
  app: App,
  monitor: MonitorRow,
  { outcome, startedAt, nextRunAt }: NewRun,
): Promise<void> {
  const previous = await lastRun(tx, monitor.id);
  const comparison = compareRuns(previous ? JSON.parse(previous.findings) : [], outcome);
  const { status } = comparison;
  const run: MonitorRunRow = {
    id: app.newId('run'),
    monitor_id: monitor.id,
    started_at: isoTime(startedAt),
    finished_at: isoTime(app.clock.now()),
    status,
    findings: JSON.stringify(comparison.findings),
    changes: JSON.stringify(comparison.changes),
  };
  await tx.insertInto('monitor_runs').values(run).execute();
  const change = {
    status,
    last_run_at: run.started_at,
    next_run_at: typeof nextRunAt === 'function' ? nextRunAt(status !== 'unknown') : nextRunAt,
    lease: null,
    leased_until: null,
  };
  await tx.updateTable('monitors').set(change).where('id', '=', monitor.id).execute();
  const changed: MonitorRow = { ...monitor, ...change };
  if (comparison.hasWorsened) {
    const data = { ...presentRun(run), monitor: presentMonitor(changed, app) };
    await appendEvent(tx, { type: 'monitor.alert', livemode: true, data }, app);
  }
  await app.subscribers.publish(observed, tx, await observeRun(tx, app.config, run, changed));
}

/** Writes down a run in one transaction with its news, the state of the monitor and the next time. */

import type { App } from '../app.ts';
import { appendEvent } from '../events/append.ts';
import { publishResult } from '../events/results.ts';
import { isoTime } from '../lib/clock.ts';
import { transact } from '../store/after-commit.ts';
import type { MonitorRow, MonitorRunRow } from '../store/watching-tables.ts';
import { compare } from './changes.ts';
import type { Outcome } from './findings.ts';
import type { ClaimedMonitor } from './jobs.ts';
import { presentMonitor, presentRun } from './present.ts';
import { lastRun } from './queries.ts';
import { slotAfterRun } from './schedule.ts';

/** Nothing is written where the claim holds no more: deleted, changed or taken over meanwhile. */
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
    await publishResult(tx, { kind: 'run', run, monitor }, app);
  });
}

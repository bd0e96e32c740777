/** Takes monitors that are due, and plans anew where the clock or an outage has upset the plan. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { claimRows } from '../store/leases.ts';
import type { MonitorRow } from '../store/watching-tables.ts';
import type { ClaimedMonitor, RunType } from './jobs.ts';
import { FREQUENCIES, furthestAhead, madeUpFor, replanned } from './schedule.ts';

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
export async function takeUpMonitors(app: Context): Promise<void> {
  // What has never run has missed nothing.
  await planAnew(app, (row, planned, now) =>
    row.last_run_at === null ? planned : madeUpFor(row, planned, now),
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

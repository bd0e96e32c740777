/** Takes monitors that are due, and plans anew where the clock or an outage has upset the plan. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { MonitorRow } from '../store/watching-tables.ts';
import type { ClaimedMonitor, RunType } from './jobs.ts';
import { madeUpFor, NEVER_FAR_MS, replanned } from './schedule.ts';

/** How long others leave a claimed monitor alone: longer than any run takes. */
const LEASE_MS = 120_000;

type Context = Pick<App, 'db' | 'clock' | 'newId'>;

/** At most `limit` of a type, the longest due first, none of those that are in hand here. */
export async function claimDueMonitors(
  { db, clock, newId }: Context,
  type: RunType,
  limit: number,
  inHand: string[] = [],
): Promise<ClaimedMonitor[]> {
  const startedAt = clock.now();
  const now = isoTime(startedAt);
  const due = () =>
    db
      .selectFrom('monitors')
      .selectAll()
      .where('next_run_at', '<=', now)
      .where('type', '=', type)
      .where(({ eb, or }) => or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]))
      .where('id', 'not in', ['', ...inHand])
      .orderBy('next_run_at')
      .limit(limit);
  // Mostly there is nothing: look before taking the write lock.
  if ((await due().limit(1).execute()).length === 0) return [];
  const lease = newId('req');
  const leased_until = isoTime(startedAt + LEASE_MS);
  return db.transaction().execute(async (tx) => {
    const { rows } = await tx.executeQuery(due());
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return [];
    await tx.updateTable('monitors').set({ lease, leased_until }).where('id', 'in', ids).execute();
    return rows.map((row) => ({ ...row, next_run_at: row.next_run_at!, lease, startedAt }));
  });
}

/** A clock that was set back must not leave a monitor waiting for a time far away. */
export async function replanMonitors(app: Context): Promise<void> {
  const { db, clock } = app;
  const far = await db
    .selectFrom('monitors')
    .select('id')
    .where('next_run_at', '>', isoTime(clock.now() + NEVER_FAR_MS))
    .limit(1)
    .execute();
  if (far.length > 0) await planAnew(app, (row, planned, now) => replanned(row, planned, now));
}

/** At the start: nobody has any in hand, and what was missed is made up for once, spread over an hour. */
export async function takeUpMonitors(app: Context): Promise<void> {
  await app.db
    .updateTable('monitors')
    .set({ lease: null, leased_until: null })
    .where('lease', 'is not', null)
    .execute();
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

/** The job that settles changes whose node stopped before the name server had answered. */

import type { App } from '../app.ts';
import { AppError, errorMessage } from '../lib/errors.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { timeIn } from '../store/database-clock.ts';
import { isUnleased } from '../store/leases.ts';
import type { DnsChangeRow } from '../store/tables.generated.ts';
import { LEASE_MS, settleChange } from './apply.ts';
import { openServer, serverOr404 } from './stored-servers.ts';

const BATCH_SIZE = 10;

export const settleJob = (app: App): Job => ({
  name: 'dns-changes.settle',
  tick: '20 * * * * *',
  run: () => settleStopped(app),
});

/** Changes whose lease has ended. Usually there are none. */
export async function settleStopped(app: App): Promise<void> {
  const stopped = await app.db
    .selectFrom('dns_changes')
    .selectAll()
    .where('status', '=', 'applying')
    .where(isUnleased(app.clock))
    .limit(BATCH_SIZE)
    .execute();
  for (const row of stopped) if (await takeLease(app, row)) await settle(app, row);
}

async function takeLease({ db, clock }: App, { id }: DnsChangeRow): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('dns_changes')
    .set({ leased_until: timeIn(clock, LEASE_MS) })
    .where('id', '=', id)
    .where('status', '=', 'applying')
    .where(isUnleased(clock))
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

async function settle(app: App, row: DnsChangeRow): Promise<void> {
  try {
    await settleChange(app, openServer(app, await serverOr404(app.db, row.server_id)), row);
  } catch (error) {
    // The server was removed, or its credentials can no longer be read.
    if (error instanceof AppError) return settleChange(app, error.detail, row);
    app.log.error('could not determine the outcome of a DNS change', {
      change: row.id,
      error: errorMessage(error),
      fault: error instanceof Error ? error.stack : undefined,
    });
  }
}

/** Deletes what receivers published past its retention period, and that about deleted domains. */

import type { App } from '../app.ts';
import { dayBefore } from '../feedback/sums.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { type Tx, transact } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';

const RETENTION_DAYS = 400;
/** A verdict that nobody has confirmed for that long says nothing any more. */
const UNCONFIRMED_DAYS = 30;

export const expireJob = (app: App): Job => ({
  name: 'receivers.expire',
  tick: '0 47 * * * *',
  run: () => expire(app),
});

export async function expire({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const today = isoTime(clock.now()).slice(0, 10);
  const oldest = dayBefore(today, RETENTION_DAYS);
  const confirmed = dayBefore(today, UNCONFIRMED_DAYS);
  await transact(db, async (tx) => {
    for (const table of ['receiver_days', 'receiver_addresses'] as const)
      await tx.deleteFrom(table).where('day', '<', oldest).execute();
    for (const table of ['receiver_requirements', 'receiver_blocks'] as const)
      await tx.deleteFrom(table).where('checked_at', '<', confirmed).execute();
    await tx.deleteFrom('receiver_domains').where('listed_at', '<', confirmed).execute();
  });
}

/** Call it in the transaction that deletes the domain. If it is added again, all of its days are fetched again. */
export async function deleteFiguresOfDomain(
  tx: Tx,
  { name }: Pick<DomainRow, 'name'>,
): Promise<void> {
  await tx.deleteFrom('receiver_days').where('name', '=', name).execute();
  await tx.deleteFrom('receiver_requirements').where('name', '=', name).execute();
  await tx
    .updateTable('receiver_domains')
    .set({ days_at: null, requirements_at: null, problem: null, problem_detail: null })
    .where('name', '=', name)
    .execute();
}

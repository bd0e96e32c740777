/** The job that says when a domain gets no more reports. */

import type { App } from '../app.ts';
import { feedbackAddress } from '../domains/feedback/address.ts';
import { isStopped } from '../domains/feedback/state.ts';
import { appendEvent } from '../events/events.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { transact } from '../store/open.ts';

export const stoppedJob = (app: App): Job => ({
  name: 'feedback.stopped',
  tick: '0 13 * * * *',
  run: () => announceStopped(app),
});

/** One event for each time that the reports stop, whichever node finds it. */
export async function announceStopped(app: App): Promise<void> {
  const now = app.clock.now();
  const rows = await app.db
    .selectFrom('feedback_domains')
    .innerJoin('domains', 'domains.id', 'feedback_domains.id')
    .select(['domains.id', 'domains.name', 'first_at', 'last_at'])
    .where('last_at', 'is not', null)
    .where(({ or, eb }) =>
      or([eb('stopped_at', 'is', null), eb('stopped_at', '<', eb.ref('last_at'))]),
    )
    .execute();
  for (const row of rows.filter((row) => isStopped(row, now)))
    await transact(app.db, async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable('feedback_domains')
        .set({ stopped_at: isoTime(now) })
        .where('id', '=', row.id)
        .where('last_at', '=', row.last_at)
        .where(({ or, eb }) =>
          or([eb('stopped_at', 'is', null), eb('stopped_at', '<', eb.ref('last_at'))]),
        )
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return;
      const data = {
        object: 'domain_feedback' as const,
        domain_id: row.id,
        name: row.name,
        address: feedbackAddress(app, row),
        state: 'stopped' as const,
        last_report_at: row.last_at!,
      };
      await appendEvent(tx, { type: 'feedback.stopped', livemode: true, data }, app);
    });
}

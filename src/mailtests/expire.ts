/** Jobs that expire tests without a message and delete data past its retention period. */

import type { App } from '../app.ts';
import { appendEvent } from '../events/events.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { lockIn, transact } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { deleteOrphanedChunks } from './messages.ts';
import { presentListed } from './present.ts';
import { deleteTests } from './queries.ts';
import { ALL_TESTS } from './tally.ts';

const BATCH_SIZE = 100;

export function expireTestsJob(app: App): Job {
  return { name: 'tests.expire', tick: '* * * * * *', run: () => expireTests(app) };
}

/** Marks waiting tests past their expiry as `failed`/`not_received` and emits their events. */
export async function expireTests(app: App): Promise<void> {
  const { db, clock } = app;
  for (;;) {
    const now = isoTime(clock.now());
    const due = db
      .selectFrom('tests')
      .selectAll()
      .where('status', '=', 'waiting')
      .where('expires_at', '<=', now)
      .orderBy('expires_at')
      .orderBy('id')
      .limit(BATCH_SIZE);
    if ((await due.select('id').limit(1).execute()).length === 0) return;
    const expired = await transact(db, async (tx) => {
      // Skips tests that another node is expiring, or whose message is arriving.
      const { rows } = await tx.executeQuery(due.forNoKeyUpdate().skipLocked());
      for (const row of rows) {
        const change = {
          status: 'failed',
          failure_reason: 'not_received',
          completed_at: now,
        } as const;
        await tx.updateTable('tests').set(change).where('id', '=', row.id).execute();
        const data = presentListed({ ...row, ...change } satisfies TestRow, app.config);
        await appendEvent(tx, { type: 'test.failed', livemode: row.livemode === 1, data }, app);
      }
      return rows;
    });
    // The next run finds those that are locked now.
    if (expired.length === 0) return;
    for (const { id } of expired) app.signals.raise(id);
  }
}

export function deleteOldTestsJob(app: App): Job {
  return { name: 'tests.retire', tick: '0 23 * * * *', run: () => deleteOldData(app) };
}

async function deleteOldData(app: App): Promise<void> {
  await deleteOldTests(app);
  await deleteOrphanedChunks(app);
}

/**
 * Deletes tests and postmaster mail older than `TEST_RETENTION`, except tests behind an active shared
 * link. Deleted tests stay in the tallies, which contain no content.
 */
export async function deleteOldTests({ db, clock, config }: App): Promise<void> {
  if (config.TEST_RETENTION === 0) return;
  const now = isoTime(clock.now());
  const cutoff = isoTime(clock.now() - config.TEST_RETENTION);
  for (;;) {
    const deleted = await transact(db, async (tx) => {
      const old = tx
        .selectFrom('tests')
        .select('id')
        .where('created_at', '<', cutoff)
        .where('status', 'in', ['completed', 'failed'])
        .where(({ eb, or }) => or([eb('keep_until', 'is', null), eb('keep_until', '<', now)]))
        .limit(BATCH_SIZE);
      // A test that has just been shared is kept.
      const ids = (await lockIn(tx, old).execute()).map(({ id }) => id);
      if (ids.length > 0) await deleteTests(tx, ids);
      return ids.length;
    });
    if (deleted < BATCH_SIZE) break;
  }
  await transact(db, async (tx) => {
    const old = tx
      .selectFrom('messages')
      .select('id')
      .where('test_id', 'is', null)
      .where('received_at', '<', cutoff);
    await tx.deleteFrom('message_chunks').where('message_id', 'in', old).execute();
    await tx.deleteFrom('messages').where('id', 'in', old).execute();
  });
}

// Deletes tallies that no summary reads anymore: old ones, and those of deleted domains.

/** A monthly report sent late in the next month compares two previous months: three months and some days. */
const TALLY_RETENTION_MS = 100 * 86_400_000;

export function expireTalliesJob(app: App): Job {
  return { name: 'tallies.expire', tick: '0 29 * * * *', run: () => expireTallies(app) };
}

export async function expireTallies({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const cutoff = isoTime(clock.now() - TALLY_RETENTION_MS);
  await db.deleteFrom('test_tallies').where('hour', '<', cutoff).execute();
  // Not done when a domain is deleted: its tests keep its id and may be reanalyzed.
  await db
    .deleteFrom('test_tallies')
    .where('domain_id', '!=', ALL_TESTS)
    .where('domain_id', 'not in', (eb) => eb.selectFrom('domains').select('id'))
    .execute();
}

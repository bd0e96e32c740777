/** Jobs that expire tests without a message and delete data past its retention period. */

import type { App } from '../app.ts';
import { appendEvent } from '../events/events.ts';
import { traceOf } from '../events/traces.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { inTrace } from '../lib/trace-context.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { deleteLaterChunks, deleteOrphanedChunks } from '../store/chunks.ts';
import { lockIn, transact } from '../store/open.ts';
import { inSteps } from '../store/steps.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { deleteMessages } from './messages.ts';
import { presentListed } from './present.ts';
import { deleteOldPublicTests, isPublic } from './public.ts';
import { deleteOldTestRows } from './queries.ts';
import { readTags } from './tags.ts';
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
      const tags = await readTags(
        tx,
        rows.map(({ id }) => id),
      );
      for (const row of rows) {
        const change = {
          status: 'failed',
          failure_reason: 'not_received',
          completed_at: now,
        } as const;
        await tx.updateTable('tests').set(change).where('id', '=', row.id).execute();
        if (isPublic(row)) continue;
        const failed = { ...row, ...change } satisfies TestRow;
        const data = presentListed(failed, app.config, tags.get(row.id) ?? []);
        const event = { type: 'test.failed', livemode: row.livemode === 1, data } as const;
        await inTrace(traceOf(app, row.id), () => appendEvent(tx, event, app));
      }
      return rows;
    });
    // The next run finds those that are locked now.
    if (expired.length === 0) return;
    for (const { id } of expired) app.signals.raise(id);
  }
}

/** Each test has rows in several tables. */
const TEST_STEPS = { first: 20, min: 5, max: 200 };

export function deleteOldTestsJob(app: App): Job {
  return { name: 'tests.retire', tick: '0 23 * * * *', run: () => deleteOldData(app) };
}

async function deleteOldData(app: App): Promise<void> {
  await deleteOldTests(app);
  await deleteOldPublicTests(app);
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
  await inSteps(async (limit) => {
    const { deleted, large } = await transact(db, async (tx) => {
      const old = tx
        .selectFrom('tests')
        .select('id')
        .where('created_at', '<', cutoff)
        .where('status', 'in', ['completed', 'failed'])
        .where(({ eb, or }) => or([eb('keep_until', 'is', null), eb('keep_until', '<', now)]))
        .limit(limit);
      // A test that has just been shared is kept.
      const ids = (await lockIn(tx, old).execute()).map(({ id }) => id);
      return { deleted: ids.length, large: ids.length > 0 ? await deleteOldTestRows(tx, ids) : [] };
    });
    await deleteLaterChunks(db, large);
    return deleted;
  }, TEST_STEPS);
  await inSteps(async (limit) => {
    const { deleted, large } = await transact(db, async (tx) => {
      const old = await tx
        .selectFrom('messages')
        .select(['id', 'size'])
        .where('test_id', 'is', null)
        .where('received_at', '<', cutoff)
        .limit(limit)
        .execute();
      return { deleted: old.length, large: await deleteMessages(tx, old) };
    });
    await deleteLaterChunks(db, large);
    return deleted;
  }, TEST_STEPS);
}

// Deletes tallies that no summary reads anymore: old ones, and those of deleted domains.

/** A monthly report sent late in the next month compares two previous months: three months and some days. */
const TALLY_RETENTION_MS = 100 * DAY_MS;

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

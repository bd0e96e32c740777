/** The job that ends the placement of tests: once every seed mailbox is final and the test has ended. */

import type { App } from '../app.ts';
import { appendEvent } from '../events/events.ts';
import { isoTime } from '../lib/clock.ts';
import { placementFigures } from '../mailtests/placement.ts';
import { presentListed } from '../mailtests/present.ts';
import { tagsOf } from '../mailtests/tags.ts';
import { countTest, issuesOf } from '../mailtests/tally.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { afterCommit, lockIn, transact } from '../store/open.ts';
import { channel } from '../store/subscribers.ts';
import type { PlacementRow, TestRow } from '../store/tables.generated.ts';
import { finalTime, placementsOf, recordChange } from './placements.ts';

export function settleJob(app: App): Job {
  const overdueSince: OverdueTests = new Map();
  return {
    name: 'placement.settle',
    tick: '* * * * * *',
    run: () => settleTests(app, overdueSince),
  };
}

/** When this node noticed that the placement of a test is overdue, by the ID of the test. */
type OverdueTests = Map<string, number>;

const BATCH_SIZE = 100;

/** Settles tests without open placements. Ends open placements that no node could look at in time. */
async function settleTests(app: App, overdueSince: OverdueTests): Promise<void> {
  const waiting = await app.db
    .selectFrom('tests')
    .select(['id', 'received_at', 'expires_at'])
    .select(({ selectFrom }) =>
      selectFrom('placements')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('placements.test_id', '=', 'tests.id')
        .where('placements.settled_at', 'is', null)
        .as('open'),
    )
    .where('placement_status', '=', 'waiting')
    .where('status', 'in', ['completed', 'failed'])
    .orderBy('id')
    .limit(BATCH_SIZE * 50)
    .execute();
  const now = app.clock.now();
  for (const id of overdueSince.keys())
    if (!waiting.some((test) => test.id === id)) overdueSince.delete(id);
  let settled = 0;
  for (const test of waiting) {
    if (settled >= BATCH_SIZE) return;
    const isOverdue = now >= finalTime(test, app.config) + OVERDUE_MS;
    if (Number(test.open) > 0) {
      if (!isOverdue) continue;
      if (!overdueSince.has(test.id)) overdueSince.set(test.id, now);
      await endOverdue(app, test.id, now - overdueSince.get(test.id)! < GRACE_MS);
    }
    settled += 1;
    await settleTest(app, test.id);
  }
}

/** Much longer than a node that is down keeps its lease. */
const OVERDUE_MS = 10 * 60_000;

/** For the first look after this machine was suspended, or the service did not run. */
const GRACE_MS = 2 * 60_000;

/** Seed mailboxes that were removed from the configuration, and, without grace, those that no node was there to read. */
async function endOverdue(app: App, testId: string, hasGrace: boolean): Promise<void> {
  const rows = await transact(app.db, (tx) => placementsOf(tx, testId));
  const isConfigured = ({ seed }: PlacementRow) =>
    app.config.SEED_MAILBOXES.some(({ name }) => name === seed);
  const ended = rows.filter((row) => row.settled_at === null && !(hasGrace && isConfigured(row)));
  for (const row of ended)
    await recordChange(app, row, {
      ...lastKnown(row),
      settled_at: isoTime(app.clock.now()),
    });
}

/** Where the message was seen, although it was not checked again. */
function lastKnown({ placement, message_key, problem, detail }: PlacementRow) {
  if (message_key !== null) return { placement };
  return {
    placement: 'unknown',
    problem: problem ?? 'not_read',
    detail: detail ?? 'The service couldn’t read this mailbox in time.',
  } as const;
}

/** Published in the transaction in which the placement of a test settles. */
export const placementSettled =
  channel<[test: TestRow, placements: PlacementRow[]]>('placement settled');

/** Records the figures, the event and the final state in one transaction; once. */
export async function settleTest(app: App, testId: string): Promise<void> {
  await transact(app.db, async (tx) => {
    const query = tx
      .selectFrom('tests')
      .selectAll()
      .where('id', '=', testId)
      .where('placement_status', '=', 'waiting');
    const before = await lockIn(tx, query).executeTakeFirst();
    if (!before) return;
    const rows = await placementsOf(tx, testId);
    if (rows.some(({ settled_at }) => settled_at === null)) return;
    const change = { placement_status: 'settled', ...placementFigures(rows) } as const;
    await tx.updateTable('tests').set(change).where('id', '=', testId).execute();
    const after = { ...before, ...change };
    const livemode = after.livemode === 1;
    const data = presentListed(after, app.config, await tagsOf(tx, testId));
    await appendEvent(tx, { type: 'test.placement_settled', livemode, data }, app);
    await app.subscribers.publish(placementSettled, tx, after, rows);
    const issues = issuesOf(before);
    // Last, because all results of an hour lock the same tally.
    await countTest(tx, before, -1, issues);
    await countTest(tx, after, 1, issues);
    afterCommit(tx, () => app.signals.raise(testId));
  });
}

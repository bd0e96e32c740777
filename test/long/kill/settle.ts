/** Waits until a service has done everything that is due. */

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isoTime, systemClock } from '../../../src/lib/clock.ts';
import type { Db } from '../../../src/store/open.ts';

/**
 * Longer than any lease: that of a schedule is five minutes. If the database stops between the commit of a claim and its
 * answer, no node knows who has the row. Work on it then begins when the lease ends.
 */
const MAX_SETTLE_MS = 330_000;

/** Retries that are due in minutes or hours are made due now. */
export async function settle(db: Db): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const open = await openWork(db);
    if (Object.values(open).every((rows) => rows === 0)) return;
    const ms = performance.now() - startedAt;
    assert.ok(ms < MAX_SETTLE_MS, `after ${ms} ms, there is still work: ${JSON.stringify(open)}`);
    await hurry(db);
    await pause(200);
  }
}

async function openWork(db: Db): Promise<Record<string, number>> {
  const now = isoTime(systemClock.now());
  const queries = {
    tests: db.selectFrom('tests').where('analysis_due_at', 'is not', null),
    placements: db
      .selectFrom('tests')
      .where('placement_status', '=', 'waiting')
      .where('status', '!=', 'waiting'),
    deliveries: db.selectFrom('webhook_deliveries').where('due_at', 'is not', null),
    mails: db.selectFrom('outbox').where('status', '=', 'queued'),
    posts: db.selectFrom('alert_notifications').where('due_at', 'is not', null),
    schedules: db.selectFrom('report_schedules').where('next_send_at', '<=', now),
    feedback: db.selectFrom('feedback_mails').where('due_at', 'is not', null),
  };
  const counts = Object.entries(queries).map(async ([name, query]) => {
    const { count } = await (query as (typeof queries)['tests'])
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return [name, Number(count)] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

async function hurry(db: Db): Promise<void> {
  const now = isoTime(systemClock.now());
  for (const table of [
    'webhook_deliveries',
    'outbox',
    'alert_notifications',
    'feedback_mails',
  ] as const)
    await db
      .updateTable(table)
      .set({ due_at: now })
      .where('due_at', '>', now)
      .where('lease', 'is', null)
      .execute();
  await db
    .updateTable('tests')
    .set({ analysis_due_at: now })
    .where('analysis_due_at', '>', now)
    .where('lease', 'is', null)
    .execute();
}

/** What several nodes have done: waits until all work is done, and verifies it. */

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { deleteOrphanedChunks } from '../../src/store/chunks.ts';
import type { Db } from '../../src/store/open.ts';
import type { MailSink } from '../outbox/mail-sink.ts';
import { mailIdOf } from './due-reports.ts';
import { type Load, uploadedMails } from './node-load.ts';
import type { Nodes } from './nodes.ts';
import { assertAllStored, type StoredFigures } from './stored-messages.ts';
import { compareWithDatabase, type DeliveryFigures } from './webhook-endpoints.ts';

/**
 * Longer than any lease: that of a schedule is five minutes. If the database stops between the commit of a claim and its
 * answer, no node knows who has the row. Work on it then begins when the lease ends.
 */
const MAX_SETTLE_MS = 330_000;

/** Waits until nothing is due. Retries that are due in minutes or hours are made due now. */
export async function settle({ store: { db } }: Nodes): Promise<void> {
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
  const tables = {
    tests: db.selectFrom('tests').where('analysis_due_at', 'is not', null),
    deliveries: db.selectFrom('webhook_deliveries').where('due_at', 'is not', null),
    mails: db.selectFrom('outbox').where('status', '=', 'queued'),
    schedules: db.selectFrom('report_schedules').where('next_send_at', '<=', now),
  };
  const counts = Object.entries(tables).map(async ([name, query]) => {
    const { count } = await (query as (typeof tables)['tests'])
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return [name, count] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

async function hurry(db: Db): Promise<void> {
  const now = isoTime(systemClock.now());
  for (const table of ['webhook_deliveries', 'outbox'] as const)
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

const HOUR_MS = 3_600_000;

interface Figures extends StoredFigures, DeliveryFigures {
  reports: number;
  reportCopies: number;
  /** Copies that were received more than once. */
  repeatedCopies: number;
}

/** Nothing acknowledged is lost, nothing is done twice, and each event was delivered. Call it after `settle`. */
export async function assertAllDone(
  { store: { db }, receiver, sink }: Nodes,
  load: Load,
  recipients: string[],
): Promise<Figures> {
  const uploads = await uploadedMails(db, load);
  assert.deepEqual(load.faults.slice(0, 10), []);
  // What a crash between the transactions of a large message leaves behind is deleted after an hour.
  await deleteOrphanedChunks({ db, clock: { now: () => systemClock.now() + 2 * HOUR_MS } });
  const stored = await assertAllStored(db, [...load.mails, ...uploads]);
  await assertEventsComplete(db, stored);
  const { faults, figures } = await compareWithDatabase(receiver, db);
  assert.deepEqual(faults.slice(0, 10), []);
  const reports = await assertReportsOnce(db);
  return { ...stored, ...figures, reports, ...countCopies(sink, recipients) };
}

/** One event for each stored message, and no others: `assertAllStored` has compared their tests. */
async function assertEventsComplete(db: Db, stored: StoredFigures): Promise<void> {
  const events = await db.selectFrom('events').select('type').execute();
  const completed = events.filter(({ type }) => type === 'test.completed').length;
  assert.equal(completed, stored.kept + stored.unansweredButKept);
  assert.equal(events.length, completed);
}

/** Each schedule ran once, and each of its copies is in the outbox once. */
async function assertReportsOnce(db: Db): Promise<number> {
  const runs = await db.selectFrom('report_runs').select(['schedule_id', 'error']).execute();
  const schedules = await db.selectFrom('report_schedules').select('id').execute();
  assert.equal(runs.length, schedules.length);
  assert.equal(new Set(runs.map(({ schedule_id }) => schedule_id)).size, runs.length);
  assert.deepEqual(
    runs.filter(({ error }) => error !== null),
    [],
  );
  return runs.length;
}

/** Each recipient got one email, some of them again. */
function countCopies({ taken }: MailSink, recipients: string[]) {
  const mails = Map.groupBy(taken, mailIdOf);
  const reached = [...mails.values()].map(([mail]) => mail!.to[0]!);
  assert.deepEqual(reached.toSorted(), recipients.toSorted());
  return { reportCopies: mails.size, repeatedCopies: taken.length - mails.size };
}

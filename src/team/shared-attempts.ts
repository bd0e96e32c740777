/** Delays after failed attempts on several nodes: the counters are rows in PostgreSQL. */

import type { App } from '../app.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { engineOf, type Tx, transact } from '../store/open.ts';
import {
  type AttemptThrottle,
  counterNames,
  delayOf,
  FORGET_AFTER_MS,
  isForgotten,
  tooManyAttempts,
} from './attempts.ts';

type Context = Pick<App, 'db' | 'clock'>;

/** `kind` separates the counters of different operations. */
export function createSharedAttemptThrottle(context: Context, kind: string): AttemptThrottle {
  const { db } = context;
  return {
    async attempt(attempt, check) {
      const names = counterNames(attempt).map((name) => `${kind} ${name}`);
      const started = await startAttempt(context, names);
      let result: Awaited<ReturnType<typeof check>> = null;
      let isUndone = true;
      try {
        result = await check();
        isUndone = result !== null;
      } finally {
        if (isUndone) await undo(context, started);
        else await recordFailure(context, names);
      }
      if (result !== null)
        await db.deleteFrom('failed_attempts').where('name', '=', names[0]!).execute();
      return result;
    },
    async clear(account) {
      const [name] = counterNames({ account, ip: null });
      await db.deleteFrom('failed_attempts').where('name', '=', `${kind} ${name}`).execute();
    },
  };
}

interface StartedAttempt {
  name: string;
  startedAt: number;
  /** When the last failed attempt before it ended. */
  lastFailedAt: number;
}

/** Counts the attempt as failed until it ends, so that concurrent guesses gain nothing. Throws `rate_limited`. */
async function startAttempt(context: Context, names: string[]): Promise<StartedAttempt[]> {
  const { db, clock } = context;
  // First without a lock, because a flood of attempts during a delay should cost little.
  requireNoDelay(await counters(db, names).execute(), clock.now());
  return transact(db, async (tx) => {
    await createMissing(tx, names);
    const rows = await counters(tx, names).orderBy('name').forNoKeyUpdate().execute();
    const now = clock.now();
    requireNoDelay(rows, now);
    for (const { name, failed, last_failed_at } of rows)
      await tx
        .updateTable('failed_attempts')
        .set({ failed: isForgotten(last_failed_at, now) ? 1 : failed + 1, last_failed_at: now })
        .where('name', '=', name)
        .execute();
    return rows.map(({ name, last_failed_at }) => ({
      name,
      startedAt: now,
      lastFailedAt: last_failed_at,
    }));
  });
}

const counters = (db: App['db'] | Tx, names: string[]) =>
  db.selectFrom('failed_attempts').selectAll().where('name', 'in', names);

async function createMissing(tx: Tx, names: string[]): Promise<void> {
  await tx
    .insertInto('failed_attempts')
    .values(names.toSorted().map((name) => ({ name, failed: 0, last_failed_at: 0 })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function requireNoDelay(rows: { failed: number; last_failed_at: number }[], now: number): void {
  const delays = rows.map(({ failed, last_failed_at }) => {
    // Setting the clock back must not extend a delay.
    const lastFailedAt = Math.min(last_failed_at, now);
    if (isForgotten(lastFailedAt, now)) return 0;
    return delayOf({ failed, lastFailedAt, running: 0 }, now);
  });
  const delay = Math.max(0, ...delays);
  if (delay > 0) throw tooManyAttempts(delay);
}

/** The delay counts from the end of the attempt. */
async function recordFailure({ db, clock }: Context, names: string[]): Promise<void> {
  await db
    .updateTable('failed_attempts')
    .set({ last_failed_at: clock.now() })
    .where('name', 'in', names)
    .execute();
}

/** An attempt that succeeded or could not be made is not counted. */
async function undo({ db }: Context, started: StartedAttempt[]): Promise<void> {
  for (const { name, startedAt, lastFailedAt } of started)
    await db
      .updateTable('failed_attempts')
      .set((eb) => ({
        failed: eb('failed', '-', 1),
        last_failed_at: eb
          .case()
          .when('last_failed_at', '=', startedAt)
          .then(lastFailedAt)
          .else(eb.ref('last_failed_at'))
          .end(),
      }))
      .where('name', '=', name)
      .where('failed', '>', 0)
      .execute();
}

export function expireAttemptsJob(app: App): Job {
  return {
    name: 'failed_attempts.expire',
    tick: '50 * * * * *',
    run: () => deleteForgottenAttempts(app),
  };
}

/** Deletes counters whose attempts no longer count. On SQLite, there are none. */
async function deleteForgottenAttempts({ db, clock }: Context): Promise<void> {
  if (engineOf(db) === 'sqlite') return;
  await db
    .deleteFrom('failed_attempts')
    .where('last_failed_at', '<', clock.now() - FORGET_AFTER_MS)
    .execute();
}

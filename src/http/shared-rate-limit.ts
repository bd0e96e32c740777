/** Rate limits of several nodes on PostgreSQL: one row per limit and caller, with the same sliding window. */

import { type RawBuilder, sql } from 'kysely';
import type { App } from '../app.ts';
import type { Rate } from '../config/readers.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { type Db, engineOf } from '../store/open.ts';
import type { RateLimitRow } from '../store/tables.generated.ts';
import { createRateLimit, type RateLimit, type RateLimitDecision, SLOTS } from './rate-limit.ts';

/**
 * Counts in memory on SQLite, which a single process uses, and in the database on PostgreSQL. There, a request of more
 * units than are left is rejected, and uses up what is left.
 */
export function rateLimitFor(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  name: string,
  rate: Rate,
): RateLimit {
  if (engineOf(db) === 'sqlite') return createRateLimit(name, rate, clock);
  return { name, ...rate, consume: createConsume({ db, clock }, name, rate) };
}

/** Bounds memory. */
const MAX_REJECTED_CALLERS = 20_000;

function createConsume(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  name: string,
  { requests, seconds }: Rate,
): RateLimit['consume'] {
  const window = seconds * 1000;
  const slotMs = window / SLOTS;
  /** When the next request of a caller can be allowed. Until then, a flood costs no statements. */
  const rejectedUntil = new Map<string, number>();
  const decide = (allowed: boolean, left: number, until: number): RateLimitDecision => ({
    allowed,
    left,
    reset: Math.max(1, Math.ceil((until - clock.now()) / 1000)),
  });
  return async (caller, units = 1) => {
    const now = clock.now();
    const until = rejectedUntil.get(caller) ?? 0;
    if (now < until && until <= now + window) return decide(false, 0, until);
    rejectedUntil.delete(caller);
    const { row, start } = await batchesOf(db).add({
      name: `${name} ${caller}`,
      slot: Math.floor(now / slotMs),
      capacity: requests,
      units,
      expires_at: Math.ceil(now + window + slotMs),
    });
    const counts = row.counts.split(',').map(Number);
    const left = requests - counts.reduce((sum, count) => sum + count, 0);
    const oldestSlot = row.slot - counts.findLastIndex((count) => count > 0);
    const end = (oldestSlot + SLOTS) * slotMs;
    const isAllowed = start + units <= row.allowed;
    if (!isAllowed) {
      if (rejectedUntil.size >= MAX_REJECTED_CALLERS) rejectedUntil.clear();
      rejectedUntil.set(caller, end);
    }
    // Requests of the same batch that were allowed after this one.
    const later = isAllowed ? row.allowed - units - start : 0;
    return decide(isAllowed, left + later, end);
  };
}

// Requests that arrive during a statement share the next one, so that a busy node uses one connection.

type Count = Pick<RateLimitRow, 'name' | 'slot' | 'capacity' | 'expires_at'>;
type Counted = Pick<RateLimitRow, 'name' | 'slot' | 'counts' | 'allowed'>;

interface Waiter extends Count {
  units: number;
  resolve(result: { row: Counted; start: number }): void;
  reject(error: unknown): void;
}

const MAX_BATCH_SIZE = 500;

const batchesOf = memoizePerObject((db: Db) => {
  let waiting: Waiter[] = [];
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH_SIZE);
      waiting = waiting.slice(MAX_BATCH_SIZE);
      await countBatch(db, batch).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
    }
    isRunning = false;
  };
  return {
    add: (count: Count & { units: number }) =>
      new Promise<{ row: Counted; start: number }>((resolve, reject) => {
        waiting.push({ ...count, resolve, reject });
        if (!isRunning) void run();
      }),
  };
});

async function countBatch(db: Db, batch: Waiter[]): Promise<void> {
  const byName = Map.groupBy(batch, ({ name }) => name);
  // Sorted, so that two nodes lock the rows in the same order.
  const names = [...byName.keys()].sort();
  const values = names.map((name) => {
    const waiters = byName.get(name)!;
    const { capacity } = waiters[0]!;
    // A clock that was just set may differ within a batch.
    const slot = Math.max(...waiters.map((waiter) => waiter.slot));
    const expires_at = Math.max(...waiters.map((waiter) => waiter.expires_at));
    const units = waiters.reduce((sum, waiter) => sum + waiter.units, 0);
    const allowed = Math.min(units, capacity);
    return { name, slot, counts: String(allowed), allowed, capacity, expires_at };
  });
  const rows = await db
    .insertInto('rate_limits')
    .values(values)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(UPDATE as never))
    .returning(['name', 'slot', 'counts', 'allowed'])
    .execute();
  const counted = new Map(rows.map((row) => [row.name, row]));
  for (const [name, waiters] of byName) {
    let start = 0;
    for (const { units, resolve } of waiters) {
      resolve({ row: counted.get(name)!, start });
      start += units;
    }
  }
}

/** A slot further ahead was counted before the clock was set back. Its requests count from now. */
const NEW_SLOT = sql<number>`case when rate_limits.slot > excluded.slot + 1 then excluded.slot
  else greatest(rate_limits.slot, excluded.slot) end`;
const AGE = sql<number>`least(${sql.lit(SLOTS)}, greatest(0, excluded.slot - rate_limits.slot))::int`;
/** The stored counts by their age in slots at the new time, newest first. */
const COUNTS = sql`(array_fill(0::bigint, array[${AGE}])
  || string_to_array(rate_limits.counts, ',')::bigint[])[1:${sql.lit(SLOTS)}]`;
const ALLOWED = sql<number>`least(excluded.allowed, greatest(0,
  excluded.capacity - (select sum(count) from unnest(${COUNTS}) as count)))`;
const UPDATE: Record<keyof Omit<RateLimitRow, 'name'>, RawBuilder<unknown>> = {
  slot: NEW_SLOT,
  counts: sql`array_to_string(array[(${COUNTS})[1] + ${ALLOWED}] || (${COUNTS})[2:], ',')`,
  allowed: ALLOWED,
  capacity: sql`excluded.capacity`,
  expires_at: sql`excluded.expires_at`,
};

/** Deletes counts without requests for a whole window. On SQLite, there are none. */
export async function deleteExpiredCounts({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  if (engineOf(db) === 'sqlite') return;
  await db.deleteFrom('rate_limits').where('expires_at', '<', clock.now()).execute();
}

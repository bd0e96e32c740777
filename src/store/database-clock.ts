/** The clock of the PostgreSQL server, which all nodes share, because the clocks of machines differ. */

import { type RawBuilder, sql } from 'kysely';
import { type Clock, isoTime, monotonicClock, systemClock } from '../lib/clock.ts';
import type { Db } from './types.ts';

/** Monotonic clocks drift by a few milliseconds in this time. */
const SYNC_INTERVAL_MS = 5_000;
/** After the first measurement, one that took longer is too inexact. */
const MAX_MEASUREMENT_MS = 500;

export interface DatabaseClock extends Clock {
  readonly source: 'database';
  /** By how many milliseconds the clock of this machine is ahead of the server's. */
  skewMs(): number;
  /** Measures again. If the server doesn't respond, the time continues from the previous measurement. */
  sync(): Promise<void>;
  stop(): void;
}

interface LocalClocks {
  /** Advances the time between two measurements. */
  timer?: Clock;
  /** Only compared with the server's clock. */
  machine?: Clock;
}

/**
 * Follows the server's clock: the time at the last measurement, plus what has passed since. It doesn't depend
 * on the clock of this machine, even if that is set while the service runs. Rejects if the first measurement fails.
 */
export async function createDatabaseClock(
  db: Db,
  { timer = monotonicClock, machine = systemClock }: LocalClocks = {},
): Promise<DatabaseClock> {
  let measured = await measure(db, timer);
  const now = () => Math.round(measured.time + timer.now() - measured.at);
  const sync = async () => {
    const latest = await measure(db, timer).catch(() => measured);
    if (latest.tookMs <= MAX_MEASUREMENT_MS) measured = latest;
  };
  const interval = setInterval(sync, SYNC_INTERVAL_MS).unref();
  return {
    source: 'database',
    now,
    skewMs: () => machine.now() - now(),
    sync,
    stop: () => clearInterval(interval),
  };
}

interface Measurement {
  /** The server's time in the middle of a query, in milliseconds. */
  time: number;
  /** The time of the timer at that moment. */
  at: number;
  tookMs: number;
}

async function measure(db: Db, timer: Clock): Promise<Measurement> {
  const before = timer.now();
  const { rows } = await sql<{ time: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::double precision as time`.execute(db);
  const after = timer.now();
  return { time: rows[0]!.time, at: (before + after) / 2, tookMs: after - before };
}

/**
 * The current time plus `ms`, for a query. If `clock` follows PostgreSQL's, the server evaluates it, once for
 * each statement. A process that was suspended, or whose measurement is old, then takes no lease too early.
 */
export function timeIn(clock: Clock, ms = 0): RawBuilder<string> | string {
  if (clock.source !== 'database') return isoTime(clock.now() + ms);
  const interval = sql`${ms}::double precision * interval '1 millisecond'`;
  return sql`(select to_char(clock_timestamp() at time zone 'UTC' + ${interval}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') collate "C")`;
}

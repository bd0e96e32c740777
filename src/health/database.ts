/** Which database this node uses, and how far their clocks differ. */

import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Clock, systemClock } from '../lib/clock.ts';
import { type Db, type Engine, engineOf } from '../store/open.ts';

export interface DatabaseFacts {
  engine: Engine;
  /** Null if the database does not respond. */
  version: string | null;
  /** By how many milliseconds the machine's clock is ahead of the database's; null on SQLite and without a response. */
  clock_skew_ms: number | null;
}

/** Load balancers need a quick response. */
const TIMEOUT_MS = 1_000;

/** Never rejects. `machine` is the clock to compare, even if the service follows another. */
export async function describeDatabase(
  db: Db,
  machine: Clock = systemClock,
): Promise<DatabaseFacts> {
  const engine = engineOf(db);
  const none = { engine, version: null, clock_skew_ms: null };
  const facts = engine === 'sqlite' ? askSqlite(db) : askPostgres(db, machine);
  return Promise.race([facts, pause(TIMEOUT_MS, none, { ref: false })]).catch(() => none);
}

async function askSqlite(db: Db): Promise<DatabaseFacts> {
  const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(db);
  return { engine: 'sqlite', version: rows[0]!.version, clock_skew_ms: null };
}

async function askPostgres(db: Db, machine: Clock): Promise<DatabaseFacts> {
  const query = sql<{ version: string; time: number }>`
    select current_setting('server_version') as version,
      (extract(epoch from clock_timestamp()) * 1000)::double precision as time`;
  // The query that opens a connection would take too long to compare clocks.
  return db.connection().execute(async (connection) => {
    await sql`select 1`.execute(connection);
    const before = machine.now();
    const { rows } = await query.execute(connection);
    const { version, time } = rows[0]!;
    const skew = Math.round((before + machine.now()) / 2 - time);
    // Packagers append their own version: `15.14 (Debian 15.14-0+deb12u1)`.
    return { engine: 'postgres', version: version.split(' ')[0]!, clock_skew_ms: skew };
  });
}

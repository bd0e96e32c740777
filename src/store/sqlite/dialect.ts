/** Kysely's dialect for one better-sqlite3 connection, with a cache of prepared statements. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Database as Sqlite, Statement } from 'better-sqlite3';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { monotonicClock } from '../../lib/clock.ts';
import { isLocked } from '../errors.ts';
import { cleanParameter } from '../text.ts';
import type { WalSync } from './wal-sync.ts';

/** Enough for every combination of filters and list lengths, but bounded. */
const MAX_STATEMENTS = 500;

/** `sync` makes commits durable. A write resolves only after the sync; other queries proceed meanwhile. */
export function sqliteDialect(sqlite: Sqlite, sync: WalSync): Dialect {
  return {
    createAdapter: () => new UnqueuedAdapter(),
    createDriver: () => createDriver(sqlite, sync),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new Compiler(),
  };
}

class Compiler extends SqliteQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    super.addParameter(cleanParameter(parameter));
  }

  /** SQLite has one writer and no row locks: `forUpdate()` and `skipLocked()` add nothing to a query. */
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (!LOCKS.has(node.modifier ?? '')) super.visitSelectModifier(node);
  }
}

const LOCKS = new Set<string>(['ForUpdate', 'ForNoKeyUpdate', 'ForShare', 'SkipLocked', 'NoWait']);

/** Kysely's own queue would hold the connection during the WAL sync; the driver's mutex does not. */
class UnqueuedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** Lends the single connection to one caller at a time, so that transactions and other queries never interleave. */
function createDriver(sqlite: Sqlite, sync: WalSync): Driver {
  const mutex = createMutex();
  const run = (sql: string) => void statementOf(sqlite, sql).run();
  const asBorrowed = (connection: DatabaseConnection) => connection as BorrowedConnection;
  /** Writes the WAL into the database file, with SQLite's own syncs. */
  const checkpoint = async () => {
    await mutex.acquire();
    try {
      sqlite.pragma(`busy_timeout = ${CHECKPOINT_TIMEOUT_MS}`);
      const [{ busy }] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
      if (busy) throw new Error('could not write the WAL to disk: the checkpoint is blocked');
    } finally {
      sqlite.pragma('busy_timeout = 0');
      mutex.release();
    }
  };
  return {
    async init() {},
    async acquireConnection() {
      await mutex.acquire();
      return lendConnection(sqlite, {
        retryWhileBusy: (work) => retryWhileBusy(mutex, work),
        async releaseAndSync(connection) {
          connection.released = true;
          mutex.release();
          await sync.waitForSync(checkpoint);
        },
      });
    },
    async releaseConnection(connection) {
      if (!asBorrowed(connection).released) mutex.release();
    },
    // IMMEDIATE, so that a conflict with another process occurs here, not later.
    async beginTransaction(connection) {
      await retryWhileBusy(mutex, () => run('begin immediate'));
      asBorrowed(connection).inTransaction = true;
    },
    async commitTransaction(connection) {
      run('commit');
      const borrowed = asBorrowed(connection);
      if (borrowed.hasUnsyncedWrites) await borrowed.releaseAndSync();
    },
    async rollbackTransaction(connection) {
      // A full disk may have rolled back the transaction already.
      if (!asBorrowed(connection).released && sqlite.inTransaction) run('rollback');
    },
    async destroy() {
      await sync.close();
      sqlite.close();
    },
  };
}

/** How long a write waits for another process. Requests then get an error, which says what to do. */
const MAX_BUSY_MS = 3_000;
const RETRY_INTERVAL_MS = 20;
/** Only in the rare case that the log itself could not be synced. */
const CHECKPOINT_TIMEOUT_MS = 10;

/**
 * Waits for another process to finish writing. Meanwhile, this one goes on: other callers get the connection, so reads
 * succeed, and writes wait at the same time, not one after the other.
 */
async function retryWhileBusy<T>(mutex: Mutex, work: () => T): Promise<T> {
  const startedAt = monotonicClock.now();
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isLocked(error) || monotonicClock.now() - startedAt > MAX_BUSY_MS) throw error;
    }
    mutex.release();
    await pause(RETRY_INTERVAL_MS);
    await mutex.acquire();
  }
}

type Mutex = ReturnType<typeof createMutex>;

/** The connection's mutex; waiters acquire it in FIFO order. */
function createMutex() {
  const waiting: (() => void)[] = [];
  let locked = false;
  return {
    async acquire() {
      if (locked) await new Promise<void>((resolve) => waiting.push(resolve));
      locked = true;
    },
    release() {
      const next = waiting.shift();
      // Passed on directly, so that no other caller can jump the queue.
      if (next) next();
      else locked = false;
    },
  };
}

const caches = new WeakMap<Sqlite, Map<string, Statement>>();

function statementOf(sqlite: Sqlite, sql: string): Statement {
  let cache = caches.get(sqlite);
  if (!cache) {
    cache = new Map();
    caches.set(sqlite, cache);
  }
  let statement = cache.get(sql);
  if (!statement) {
    statement = sqlite.prepare(sql);
    if (cache.size >= MAX_STATEMENTS) cache.delete(cache.keys().next().value!);
    cache.set(sql, statement);
  }
  return statement;
}

/** The connection as lent to one caller. */
interface BorrowedConnection extends DatabaseConnection {
  inTransaction: boolean;
  /** Whether it has made writes that are not on disk yet. */
  hasUnsyncedWrites: boolean;
  /** Whether the connection was released to other callers, before the WAL sync. */
  released: boolean;
  releaseAndSync(): Promise<void>;
}

interface Lender {
  retryWhileBusy<T>(work: () => T): Promise<T>;
  releaseAndSync(connection: BorrowedConnection): Promise<void>;
}

function lendConnection(
  sqlite: Sqlite,
  { retryWhileBusy, releaseAndSync }: Lender,
): BorrowedConnection {
  const connection: BorrowedConnection = {
    inTransaction: false,
    hasUnsyncedWrites: false,
    released: false,
    releaseAndSync: () => releaseAndSync(connection),
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      if (connection.released) throw new Error('the connection was released after a write');
      // A full disk rolls back the transaction; later statements would each commit by themselves.
      if (connection.inTransaction && !sqlite.inTransaction) throw rolledBackError();
      const statement = statementOf(sqlite, sql);
      const work = INCREMENTAL_VACUUM.test(sql)
        ? () => executeAll<Row>(sqlite, sql)
        : () => execute<Row>(statement, parameters);
      const result = connection.inTransaction ? work() : await retryWhileBusy(work);
      if (!statement.readonly) connection.hasUnsyncedWrites = true;
      if (connection.hasUnsyncedWrites && !connection.inTransaction)
        await connection.releaseAndSync();
      return result;
    },
    // Not cached, because a statement cannot run again while it is iterated.
    async *streamQuery<Row>({ sql, parameters }: CompiledQuery): AsyncGenerator<QueryResult<Row>> {
      for (const row of sqlite.prepare(sql).iterate(...parameters)) yield { rows: [row as Row] };
    },
  };
  return connection;
}

const rolledBackError = () =>
  Object.assign(new Error('SQLite rolled back the transaction'), { code: 'SQLITE_FULL' });

/** SQLite frees one page per step of this statement, and better-sqlite3 would stop after the first. */
const INCREMENTAL_VACUUM = /^\s*pragma incremental_vacuum/i;

function executeAll<Row>(sqlite: Sqlite, sql: string): QueryResult<Row> {
  sqlite.exec(sql);
  return { rows: [] };
}

function execute<Row>(statement: Statement, parameters: readonly unknown[]): QueryResult<Row> {
  if (statement.reader) return { rows: statement.all(...parameters) as Row[] };
  const { changes, lastInsertRowid } = statement.run(...parameters);
  return {
    rows: [],
    numAffectedRows: BigInt(changes),
    insertId: BigInt(lastInsertRowid),
  };
}

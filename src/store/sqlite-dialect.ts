/** Kysely's dialect for one better-sqlite3 connection, with every prepared statement kept. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Database as Sqlite, Statement } from 'better-sqlite3';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { WalSync } from './wal-sync.ts';

/** Statements differ with the filters that are set, and with the length of lists: enough for all, yet bounded. */
const MAX_STATEMENTS = 500;

/** `sync` is what makes commits durable: who wrote is answered only then, while the next goes on. */
export function sqliteDialect(sqlite: Sqlite, sync: WalSync): Dialect {
  return {
    createAdapter: () => new UnqueuedAdapter(),
    createDriver: () => createDriver(sqlite, sync),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Kysely's own queue would also wait for the disk between two users; the driver's mutex does not. */
class UnqueuedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** One connection, lent to one user at a time: a transaction is never mixed with other queries. */
function createDriver(sqlite: Sqlite, sync: WalSync): Driver {
  const mutex = createMutex();
  const run = (sql: string) => void statementOf(sqlite, sql).run();
  const borrowed = (connection: DatabaseConnection) => connection as BorrowedConnection;
  /** From the log into the database, with the syncs of SQLite itself. */
  const checkpoint = async () => {
    await mutex.acquire();
    try {
      const [{ busy }] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
      if (busy) throw new Error('the log of the database can be brought to the disk by no means');
    } finally {
      mutex.release();
    }
  };
  return {
    async init() {},
    async acquireConnection() {
      await mutex.acquire();
      return lendConnection(sqlite, async (own) => {
        own.released = true;
        mutex.release();
        await sync.synced(checkpoint);
      });
    },
    async releaseConnection(connection) {
      if (!borrowed(connection).released) mutex.release();
    },
    // IMMEDIATE: another process that writes is met here, and not halfway.
    async beginTransaction(connection) {
      await retryWhileBusy(() => run('begin immediate'));
      borrowed(connection).inTransaction = true;
    },
    async commitTransaction(connection) {
      run('commit');
      const own = borrowed(connection);
      if (own.wrote) await own.end();
    },
    async rollbackTransaction(connection) {
      // A full disk may have ended the transaction already.
      if (!borrowed(connection).released && sqlite.inTransaction) run('rollback');
    },
    async destroy() {
      await sync.close();
      sqlite.close();
    },
  };
}

/** Together five seconds, beside what SQLITE_BUSY itself has waited for. */
const PAUSE_MS = 20;
const MAX_TRIES = 250;

/** Another process that writes is waited for without holding up what needs no database. */
async function retryWhileBusy<T>(work: () => T): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return work();
    } catch (error) {
      const busy = (error as { code?: string }).code?.startsWith('SQLITE_BUSY');
      if (!busy || tries >= MAX_TRIES) throw error;
    }
    await pause(PAUSE_MS);
  }
}

/** Who has the connection, first come first served. */
function createMutex() {
  const waiting: (() => void)[] = [];
  let taken = false;
  return {
    async acquire() {
      if (taken) await new Promise<void>((resolve) => waiting.push(resolve));
      taken = true;
    },
    release() {
      const next = waiting.shift();
      // Handed straight on, so that nobody slips in between.
      if (next) next();
      else taken = false;
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

/** The connection as it is lent to one user. */
interface BorrowedConnection extends DatabaseConnection {
  inTransaction: boolean;
  /** Whether something was written in it that is not on the disk yet. */
  wrote: boolean;
  /** It waits for the disk, and another user has the connection. */
  released: boolean;
  end(): Promise<void>;
}

function lendConnection(
  sqlite: Sqlite,
  end: (own: BorrowedConnection) => Promise<void>,
): BorrowedConnection {
  const own: BorrowedConnection = {
    inTransaction: false,
    wrote: false,
    released: false,
    end: () => end(own),
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      if (own.released) throw new Error('the connection was given back after a write');
      // A full disk ends a transaction by itself; what comes after it would stand alone.
      if (own.inTransaction && !sqlite.inTransaction) throw undoneError();
      const statement = statementOf(sqlite, sql);
      const work = () => execute<Row>(statement, parameters);
      const result = own.inTransaction ? work() : await retryWhileBusy(work);
      if (!statement.readonly) own.wrote = true;
      if (own.wrote && !own.inTransaction) await own.end();
      return result;
    },
    // Not from the cache: a cached statement that is being stepped through cannot be run again.
    async *streamQuery<Row>({ sql, parameters }: CompiledQuery): AsyncGenerator<QueryResult<Row>> {
      for (const row of sqlite.prepare(sql).iterate(...parameters)) yield { rows: [row as Row] };
    },
  };
  return own;
}

const undoneError = () =>
  Object.assign(new Error('the transaction was undone by the database'), { code: 'SQLITE_FULL' });

function execute<Row>(statement: Statement, parameters: readonly unknown[]): QueryResult<Row> {
  if (statement.reader) return { rows: statement.all(...parameters) as Row[] };
  const { changes, lastInsertRowid } = statement.run(...parameters);
  return {
    rows: [],
    numAffectedRows: BigInt(changes),
    insertId: BigInt(lastInsertRowid),
  };
}

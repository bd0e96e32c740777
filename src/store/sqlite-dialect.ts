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
    createAdapter: () => new OwnTurns(),
    createDriver: () => createDriver(sqlite, sync),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Kysely would let nobody begin before the one before has its answer; the driver's own turns do. */
class OwnTurns extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** One connection, handed to one user at a time: a transaction is never mixed with other queries. */
function createDriver(sqlite: Sqlite, sync: WalSync): Driver {
  const turns = createTurns();
  const run = (sql: string) => void statementOf(sqlite, sql).run();
  const turnOf = (connection: DatabaseConnection) => connection as Turn;
  /** From the log into the database, with the syncs of SQLite itself. */
  const checkpoint = async () => {
    await turns.take();
    try {
      const [{ busy }] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
      if (busy) throw new Error('the log of the database can be brought to the disk by no means');
    } finally {
      turns.pass();
    }
  };
  return {
    async init() {},
    async acquireConnection() {
      await turns.take();
      return createTurn(sqlite, async (turn) => {
        turn.over = true;
        turns.pass();
        await sync.synced(checkpoint);
      });
    },
    async releaseConnection(connection) {
      if (!turnOf(connection).over) turns.pass();
    },
    // IMMEDIATE: another process that writes is met here, and not halfway.
    async beginTransaction(connection) {
      await patiently(() => run('begin immediate'));
      turnOf(connection).inTransaction = true;
    },
    async commitTransaction(connection) {
      run('commit');
      const turn = turnOf(connection);
      if (turn.wrote) await turn.end();
    },
    async rollbackTransaction(connection) {
      // A full disk may have ended the transaction already.
      if (!turnOf(connection).over && sqlite.inTransaction) run('rollback');
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
async function patiently<T>(work: () => T): Promise<T> {
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

/** Whose turn it is with the connection, first come first served. */
function createTurns() {
  const waiting: (() => void)[] = [];
  let taken = false;
  return {
    async take() {
      if (taken) await new Promise<void>((resolve) => waiting.push(resolve));
      taken = true;
    },
    pass() {
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

/** The connection as it is handed to one user. */
interface Turn extends DatabaseConnection {
  inTransaction: boolean;
  /** Whether something was written in it that is not on the disk yet. */
  wrote: boolean;
  /** It waits for the disk, and somebody else has the connection. */
  over: boolean;
  end(): Promise<void>;
}

function createTurn(sqlite: Sqlite, end: (turn: Turn) => Promise<void>): Turn {
  const turn: Turn = {
    inTransaction: false,
    wrote: false,
    over: false,
    end: () => end(turn),
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      if (turn.over) throw new Error('the connection was given back after a write');
      // A full disk ends a transaction by itself; what comes after it would stand alone.
      if (turn.inTransaction && !sqlite.inTransaction) throw undone();
      const statement = statementOf(sqlite, sql);
      const work = () => execute<Row>(statement, parameters);
      const result = turn.inTransaction ? work() : await patiently(work);
      if (!statement.readonly) turn.wrote = true;
      if (turn.wrote && !turn.inTransaction) await turn.end();
      return result;
    },
    // Not from the cache: a cached statement that is being stepped through cannot be run again.
    async *streamQuery<Row>({ sql, parameters }: CompiledQuery): AsyncGenerator<QueryResult<Row>> {
      for (const row of sqlite.prepare(sql).iterate(...parameters)) yield { rows: [row as Row] };
    },
  };
  return turn;
}

const undone = () =>
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

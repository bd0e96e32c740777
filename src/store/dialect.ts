/** Kysely's dialect for one better-sqlite3 connection, with every prepared statement kept. */

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

/** Statements differ with the filters that are set, and with the length of lists: enough for all, yet bounded. */
const MAX_STATEMENTS = 500;

export function sqliteDialect(sqlite: Sqlite): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(sqlite),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** One connection, handed to one user at a time: a transaction is never mixed with other queries. */
function createDriver(sqlite: Sqlite): Driver {
  const connection = createConnection(sqlite);
  const waiting: (() => void)[] = [];
  let taken = false;
  return {
    async init() {},
    async acquireConnection() {
      if (taken) await new Promise<void>((resolve) => waiting.push(resolve));
      taken = true;
      return connection;
    },
    async releaseConnection() {
      const next = waiting.shift();
      // Handed straight on, so that nobody slips in between.
      if (next) next();
      else taken = false;
    },
    // IMMEDIATE: another process that writes is waited for here, not met halfway with SQLITE_BUSY.
    async beginTransaction() {
      run(sqlite, 'begin immediate');
    },
    async commitTransaction() {
      run(sqlite, 'commit');
    },
    async rollbackTransaction() {
      // A full disk may have ended the transaction already.
      if (sqlite.inTransaction) run(sqlite, 'rollback');
    },
    async destroy() {
      sqlite.close();
    },
  };
}

const run = (sqlite: Sqlite, sql: string): void => {
  statementOf(sqlite, sql).run();
};

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

function createConnection(sqlite: Sqlite): DatabaseConnection {
  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const statement = statementOf(sqlite, sql);
      if (statement.reader) return { rows: statement.all(...parameters) as Row[] };
      const { changes, lastInsertRowid } = statement.run(...parameters);
      return {
        rows: [],
        numAffectedRows: BigInt(changes),
        insertId: BigInt(lastInsertRowid),
      };
    },
    // Not from the cache: a cached statement that is being stepped through cannot be run again.
    async *streamQuery<Row>({ sql, parameters }: CompiledQuery): AsyncGenerator<QueryResult<Row>> {
      for (const row of sqlite.prepare(sql).iterate(...parameters)) yield { rows: [row as Row] };
    },
  };
}

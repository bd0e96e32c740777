/** Opens a database to look at it: creates, upgrades and locks nothing, whoever else uses it. */

import { existsSync } from 'node:fs';
import BetterSqlite from 'better-sqlite3';
import { Kysely } from 'kysely';
import type { ClientBase } from 'pg';
import { isPostgresUrl } from '../lib/database-url.ts';
import { errorMessage } from '../lib/errors.ts';
import { StoreError } from './errors.ts';
import { postgresDialect } from './postgres/dialect.ts';
import { startError } from './postgres/errors.ts';
import { readVersion } from './postgres/migrate.ts';
import { sqliteDialect } from './sqlite/dialect.ts';
import { NO_WAL_SYNC } from './sqlite/wal-sync.ts';
import type { Tables } from './tables.generated.ts';
import type { Db } from './types.ts';

export interface InspectedStore {
  db: Db;
  /** The version of its schema; 0 for an empty database. */
  version: number;
  close(): Promise<void>;
}

/** Throws a StoreError if the database doesn't exist, doesn't respond or isn't suitable. */
export async function inspectStore(location: string): Promise<InspectedStore> {
  return isPostgresUrl(location) ? inspectPostgres(location) : inspectSqlite(location);
}

function inspectSqlite(path: string): InspectedStore {
  if (!existsSync(path)) throw new StoreError(`There is no database at ${path}.`);
  try {
    const sqlite = new BetterSqlite(path, { readonly: true, timeout: 2_000 });
    try {
      const version = sqlite.pragma('user_version', { simple: true }) as number;
      const db: Db = new Kysely<Tables>({ dialect: sqliteDialect(sqlite, NO_WAL_SYNC) });
      return { db, version, close: async () => void sqlite.close() };
    } catch (error) {
      sqlite.close();
      throw error;
    }
  } catch (error) {
    throw new StoreError(`Could not read the database ${path}: ${errorMessage(error)}.`);
  }
}

/** Not the name of a service or of an exclusive command, so that no other program waits for it. */
const SESSION = 'deliverability-doctor';

async function inspectPostgres(url: string): Promise<InspectedStore> {
  const { checkServer } = await import('./postgres/open.ts');
  const { createPool, SERVICE_LIMITS } = await import('./postgres/pool.ts');
  /** Of each connection, so that no query can change anything. The server itself must accept writes. */
  const verify = async (client: ClientBase) => {
    await checkServer(client);
    await client.query('SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY');
  };
  const limits = { ...SERVICE_LIMITS, connections: 2, silenceMs: 10_000 };
  const options = { name: SESSION, limits, verify };
  try {
    const pool = createPool(url, options);
    try {
      const client = await pool.connect();
      let version: number;
      try {
        version = (await readVersion(client)).version;
      } finally {
        client.release();
      }
      const db: Db = new Kysely<Tables>({ dialect: postgresDialect(pool) });
      return { db, version, close: () => pool.end() };
    } catch (error) {
      await pool.end().catch(() => {});
      throw error;
    }
  } catch (error) {
    throw startError(url, error);
  }
}

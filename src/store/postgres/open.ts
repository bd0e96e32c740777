/** Opens a PostgreSQL database after checking that it keeps what the service relies on. */

import { Kysely } from 'kysely';
import type { ClientBase, Pool } from 'pg';
import { StoreError } from '../errors.ts';
import type { Tables } from '../tables.generated.ts';
import type { Db, MigrationResult, Store } from '../types.ts';
import { postgresDialect } from './dialect.ts';
import { startError } from './errors.ts';
import { createHints } from './hints.ts';
import { migrate } from './migrate.ts';
import { createPool, type PoolLimits, withPatientConnection } from './pool.ts';

const MIN_VERSION = 14;

/** Throws a StoreError if the server is unreachable or unsuitable. */
export async function openPostgres(url: string, limits?: PoolLimits): Promise<Store> {
  const pool = createOrExplain(url, limits);
  try {
    const migration = await prepare(pool);
    const db: Db = new Kysely<Tables>({ dialect: postgresDialect(pool) });
    let closed: Promise<void> | undefined;
    const close = () => {
      // `destroy` ends the pool only after a first query.
      closed ??= db.destroy().then(() => (pool.ended ? undefined : pool.end()));
      return closed;
    };
    return { db, engine: 'postgres', migration, hints: createHints(url, db), close };
  } catch (error) {
    await pool.end().catch(() => {});
    throw startError(url, error);
  }
}

function createOrExplain(url: string, limits?: PoolLimits): Pool {
  try {
    return createPool(url, limits);
  } catch (error) {
    // For example, a file in `sslrootcert` that cannot be read.
    throw startError(url, error);
  }
}

const prepare = (pool: Pool): Promise<MigrationResult> =>
  withPatientConnection(pool, async (client) => {
    await checkServer(client);
    const migration = await migrate(client);
    await checkCollations(client);
    return migration;
  });

interface ServerSettings {
  version: number;
  version_text: string;
  encoding: string;
  commits: string;
  read_only: string;
}

async function checkServer(client: ClientBase): Promise<void> {
  const { rows } = await client.query<ServerSettings>(
    `SELECT current_setting('server_version_num')::bigint AS version,
       current_setting('server_version') AS version_text,
       current_setting('server_encoding') AS encoding,
       current_setting('synchronous_commit') AS commits,
       current_setting('transaction_read_only') AS read_only`,
  );
  const { version, version_text, encoding, commits, read_only } = rows[0]!;
  if (version < MIN_VERSION * 10_000)
    throw new StoreError(
      `The PostgreSQL server has version ${version_text}, but the service needs version ${MIN_VERSION} or later.`,
    );
  if (encoding !== 'UTF8')
    throw new StoreError(
      `The PostgreSQL database has the encoding ${encoding}. Create one with ENCODING 'UTF8'.`,
    );
  if (commits === 'off')
    throw new StoreError(
      'The PostgreSQL server has synchronous_commit = off, so acknowledged messages could be lost. Turn it on for this database or user.',
    );
  if (read_only === 'on')
    throw new StoreError(
      'The PostgreSQL server accepts no writes. Connect to the primary, not to a standby.',
    );
}

/** IDs and cursors need the order of bytes. The schema sets it, but a restored or edited one may differ. */
async function checkCollations(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'
     ORDER BY 1 LIMIT 1`,
  );
  if (rows.length > 0)
    throw new StoreError(
      `The column ${rows[0]!.name} in the PostgreSQL database does not have the collation "C". Restore the original schema.`,
    );
}

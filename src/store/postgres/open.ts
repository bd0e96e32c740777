/** Opens a PostgreSQL database after checking that it keeps what the service relies on. */

import { Kysely } from 'kysely';
import type { ClientBase, Pool } from 'pg';
import { DatabaseReadOnlyError, StoreError } from '../errors.ts';
import type { Tables } from '../tables.generated.ts';
import type { Db, MigrationResult, SchemaMode, Store } from '../types.ts';
import { postgresDialect } from './dialect.ts';
import { READ_ONLY_TEXT, startError } from './errors.ts';
import { createHints } from './hints.ts';
import { migrate, requireSupported } from './migrate.ts';
import {
  createPool,
  type PoolLimits,
  SERVICE_LIMITS,
  UNLIMITED,
  withPatientConnection,
} from './pool.ts';
import { EXCLUSIVE_SESSION, runningPrograms, SERVICE_SESSION } from './sessions.ts';

const MIN_VERSION = 14;

/** Throws a StoreError if the server is unreachable or unsuitable. */
export async function openPostgres(
  url: string,
  mode: SchemaMode = 'upgrade',
  limits: PoolLimits = mode === 'upgrade' ? SERVICE_LIMITS : UNLIMITED,
): Promise<Store> {
  let isOpen = false;
  const pool = createOrExplain(url, {
    name: mode === 'upgrade' ? SERVICE_SESSION : EXCLUSIVE_SESSION,
    limits,
    async verify(client) {
      if (!isOpen) return;
      await requireSupported(client);
      await requireWritable(client);
    },
  });
  try {
    const migration = await prepare(pool, mode, limits);
    isOpen = true;
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

function createOrExplain(...options: Parameters<typeof createPool>): Pool {
  try {
    return createPool(...options);
  } catch (error) {
    // For example, a file in `sslrootcert` that cannot be read.
    throw startError(options[0], error);
  }
}

const prepare = (pool: Pool, mode: SchemaMode, limits: PoolLimits): Promise<MigrationResult> =>
  withPatientConnection(pool, limits, async (client) => {
    await checkServer(client);
    if (mode !== 'upgrade') await requireNoService(client);
    const migration = await migrate(client, undefined, mode);
    await checkCollations(client);
    return migration;
  });

/** What a service writes during a copy would be missing in it. */
async function requireNoService(client: ClientBase): Promise<void> {
  if ((await runningPrograms(client)).length > 0)
    throw new StoreError(
      'A service is connected to the PostgreSQL database. Stop all nodes first. A connection pooler may keep a connection for a while.',
    );
}

/** During a failover, a host name or a balancer may lead to a standby. The next attempt connects again. */
async function requireWritable(client: ClientBase): Promise<void> {
  const { rows } = await client.query<Pick<ServerSettings, 'read_only'>>(
    "SELECT current_setting('transaction_read_only') AS read_only",
  );
  if (rows[0]!.read_only === 'on') throw new DatabaseReadOnlyError(READ_ONLY_TEXT);
}

interface ServerSettings {
  version: number;
  version_text: string;
  encoding: string;
  commits: string;
  read_only: string;
}

export async function checkServer(client: ClientBase): Promise<void> {
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
    `SELECT c.relname || '.' || a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
       AND a.attnum > 0 AND a.atttypid = 'text'::regtype AND a.attcollation <> '"C"'::regcollation
     ORDER BY 1 LIMIT 1`,
  );
  if (rows.length > 0)
    throw new StoreError(
      `The column ${rows[0]!.name} in the PostgreSQL database does not have the collation "C". Restore the original schema.`,
    );
}

/**
 * Creates or upgrades the schema in PostgreSQL, one node at a time, while others may be running. A program
 * supports the schema of its own version. It also runs on a newer one that keeps what it needs:
 * the table `schema_version` names the oldest program that can use the database.
 */

import { sql } from 'kysely';
import type { ClientBase } from 'pg';
import { DatabaseUnavailableError, StoreError } from '../errors.ts';
import { MIGRATIONS, type Migration, SCHEMA_VERSION } from '../migrations/index.ts';
import { SCHEMA } from '../schema.generated.ts';
import { requireMode } from '../schema-mode.ts';
import type { MigrationResult, SchemaMode, Tx } from '../types.ts';
import { runningPrograms } from './sessions.ts';
import { withPostgresTypes } from './types.ts';

export interface MigrationTarget {
  schema: string;
  version: number;
  steps: Pick<Migration, 'version' | 'postgres' | 'sideBySide'>[];
}

const CURRENT: MigrationTarget = {
  schema: withPostgresTypes(SCHEMA),
  version: SCHEMA_VERSION,
  steps: MIGRATIONS,
};

/** Any constant. Nodes that start at the same time wait for each other. */
const MIGRATION_LOCK = 4_712_388_553;

const VERSION_TABLE =
  'CREATE TABLE schema_version (version bigint NOT NULL, oldest_program bigint NOT NULL)';

/**
 * Runs the generated schema on an empty database, and the missing steps on an older one, in one
 * transaction. Throws a StoreError for a database of another program, a version before `FIRST_VERSION`, or a newer version
 * that this program can't use. Also throws if running nodes could not use the new version.
 */
export async function migrate(
  client: ClientBase,
  target: MigrationTarget = CURRENT,
  mode: SchemaMode = 'upgrade',
): Promise<MigrationResult> {
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  try {
    // Released with the transaction, so it also works through a proxy that pools transactions.
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const found = await readVersion(client);
    requireMode(mode, found.version);
    const to = await upgrade(client, found, target);
    await client.query('COMMIT');
    return { from: found.version, to, backup: null };
  } catch (error) {
    // The connection may be lost, which also rolls back.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Makes nodes that start wait until the transaction ends. */
export async function lockMigrations(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(tx);
}

interface SchemaVersion {
  /** 0 for an empty database. */
  version: number;
  oldestProgram: number;
}

export async function readVersion(client: ClientBase): Promise<SchemaVersion> {
  const { rows: tables } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  );
  if (tables.length === 0) return { version: 0, oldestProgram: 0 };
  if (!tables.some(({ name }) => name === 'schema_version'))
    throw new StoreError(
      'The PostgreSQL database contains the tables of another program. Create a database for this program alone.',
    );
  return readVersionRow(client);
}

async function readVersionRow(client: ClientBase): Promise<SchemaVersion> {
  const { rows } = await client.query<{ version: number; oldest_program: number }>(
    'SELECT version, oldest_program FROM schema_version',
  );
  return {
    version: Number(rows[0]?.version ?? 0),
    oldestProgram: Number(rows[0]?.oldest_program ?? 0),
  };
}

/** Resolves with the version that the database has afterwards. */
async function upgrade(
  client: ClientBase,
  { version: from, oldestProgram }: SchemaVersion,
  { schema, version: to, steps }: MigrationTarget,
): Promise<number> {
  if (oldestProgram > to) throw new StoreError(unsupportedText(from, to));
  if (from >= to) return from;
  const oldest = steps.at(-1)?.sideBySide ? to - 1 : to;
  if (from === 0) {
    await client.query(schema);
    await client.query(VERSION_TABLE);
    await client.query('INSERT INTO schema_version VALUES ($1, $2)', [to, oldest]);
    return to;
  }
  await requireNoProgramBefore(client, oldest);
  for (const { version, postgres } of steps) if (version > from) await client.query(postgres);
  await client.query('UPDATE schema_version SET version = $1, oldest_program = $2', [to, oldest]);
  return to;
}

const unsupportedText = (version: number, supported: number): string =>
  `The database has schema version ${version}, but this program supports only versions up to ${supported}. Run the newer program, or restore a backup.`;

async function requireNoProgramBefore(client: ClientBase, oldest: number): Promise<void> {
  const old = (await runningPrograms(client)).filter((version) => version < oldest);
  if (old.length > 0)
    throw new StoreError(
      `The database needs an upgrade that nodes with an older program can't work with, and some are connected (schema version ${Math.min(...old)}). Stop them all, then start this program.`,
    );
}

/**
 * Throws a DatabaseUnavailableError if the database was upgraded to a version that this program can't use.
 * Every new connection of a running node is checked, in case none was open during the upgrade.
 */
export async function requireSupported(client: ClientBase): Promise<void> {
  const { version, oldestProgram } = await readVersionRow(client);
  if (oldestProgram > SCHEMA_VERSION)
    throw new DatabaseUnavailableError(unsupportedText(version, SCHEMA_VERSION));
}

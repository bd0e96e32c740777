/** Creates or upgrades the schema in PostgreSQL, one node at a time. */

import type { ClientBase } from 'pg';
import { StoreError } from '../errors.ts';
import { MIGRATIONS, type Migration, SCHEMA_VERSION } from '../migrations/index.ts';
import type { MigrationResult } from '../types.ts';
import { SCHEMA } from './schema.generated.ts';

export interface MigrationTarget {
  schema: string;
  version: number;
  steps: Pick<Migration, 'version' | 'postgres'>[];
}

const CURRENT: MigrationTarget = { schema: SCHEMA, version: SCHEMA_VERSION, steps: MIGRATIONS };

/** Any constant. Nodes that start at the same time wait for each other. */
const MIGRATION_LOCK = 4_712_388_553;

const VERSION_TABLE = 'CREATE TABLE schema_version (version bigint NOT NULL)';

/**
 * Runs the generated schema on an empty database, and the missing steps on an older one, in one
 * transaction. Throws a StoreError for a database of a newer version or of another program.
 */
export async function migrate(
  client: ClientBase,
  target: MigrationTarget = CURRENT,
): Promise<MigrationResult> {
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  try {
    // Released with the transaction, so it also works through a proxy that pools transactions.
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const from = await readVersion(client);
    await upgrade(client, from, target);
    await client.query('COMMIT');
    return { from, to: target.version, backup: null };
  } catch (error) {
    // The connection may be lost, which also rolls back.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** 0 for an empty database. */
async function readVersion(client: ClientBase): Promise<number> {
  const { rows: tables } = await client.query<{ name: string }>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
  );
  if (tables.length === 0) return 0;
  if (!tables.some(({ name }) => name === 'schema_version'))
    throw new StoreError(
      'The PostgreSQL database contains the tables of another program. Create a database for this program alone.',
    );
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  return Number(rows[0]?.version ?? 0);
}

async function upgrade(
  client: ClientBase,
  from: number,
  { schema, version: to, steps }: MigrationTarget,
): Promise<void> {
  if (from > to)
    throw new StoreError(
      `The database has schema version ${from}, but this program supports only versions up to ${to}. Run the newer program, or restore a backup.`,
    );
  if (from === to) return;
  if (from === 0) {
    await client.query(schema);
    await client.query(VERSION_TABLE);
    await client.query('INSERT INTO schema_version VALUES ($1)', [to]);
    return;
  }
  for (const { version, postgres } of steps) {
    if (version <= from) continue;
    if (postgres === undefined) throw new Error(`Step ${version} has no form for PostgreSQL`);
    await client.query(postgres);
  }
  await client.query('UPDATE schema_version SET version = $1', [to]);
}

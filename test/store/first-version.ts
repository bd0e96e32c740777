/** A filled database of the oldest schema that the program upgrades, as its last program with that schema left it. */

import { readFileSync } from 'node:fs';
import BetterSqlite from 'better-sqlite3';
import pg from 'pg';
import { FIRST_VERSION, MIGRATIONS } from '../../src/store/migrations/index.ts';
import { migrate as migratePostgres } from '../../src/store/postgres/migrate.ts';
import { withPostgresTypes } from '../../src/store/postgres/types.ts';
import { migrate as migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import { postgresDatabase } from '../helpers/postgres.ts';
import { databaseIn, onPostgres } from '../helpers/store.ts';

export type Row = Record<string, unknown>;

const fixture = (type: string): string =>
  readFileSync(new URL(`../fixtures/schemas/v${FIRST_VERSION}.${type}`, import.meta.url), 'utf8');

/** Without comments, except where PostgreSQL needs an unlogged table. */
export const FIRST_SCHEMA = fixture('sql');

/** By table, in an order that satisfies references, the values of each row in the order of the columns. */
const VALUES = Object.entries(
  JSON.parse(fixture('json'), (_, value) =>
    typeof value?.base64 === 'string' ? Buffer.from(value.base64, 'base64') : value,
  ) as Record<string, unknown[][]>,
);

const stepsTo = (version: number) => MIGRATIONS.filter((step) => step.version <= version);

const insertInto = (table: string, values: unknown[], placeholder: (i: number) => string): string =>
  `INSERT INTO ${table} VALUES (${values.map((_, i) => placeholder(i + 1)).join()})`;

/** Creates it as an SQLite database, upgraded to `version`. */
export function makeFirstDatabase(path: string, version = FIRST_VERSION): BetterSqlite.Database {
  const sqlite = new BetterSqlite(path);
  sqlite.exec(FIRST_SCHEMA);
  sqlite.pragma(`user_version = ${FIRST_VERSION}`);
  for (const [table, rows] of VALUES)
    for (const values of rows) sqlite.prepare(insertInto(table, values, () => '?')).run(values);
  migrateSqlite(sqlite, { schema: '', version, steps: stepsTo(version) });
  return sqlite;
}

async function makeFirstPostgres(url: string, version: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const schema = withPostgresTypes(FIRST_SCHEMA);
  await migratePostgres(client, { schema, version: FIRST_VERSION, steps: [] });
  for (const [table, rows] of VALUES)
    for (const values of rows)
      await client.query(
        insertInto(table, values, (i) => `$${i}`),
        values,
      );
  await migratePostgres(client, { schema, version, steps: stepsTo(version) });
  await client.end();
}

/** Creates it where a service with this data folder looks for its database, upgraded to `version`. Returns its location. */
export async function storeFirstDatabase(folder: string, version = FIRST_VERSION): Promise<string> {
  // Before `databaseIn`, which would create one with the current schema.
  if (onPostgres) await makeFirstPostgres(await postgresDatabase(folder, 'template0'), version);
  const location = await databaseIn(folder);
  if (!onPostgres) makeFirstDatabase(location, version).close();
  return location;
}

/** The rows of each table, with the columns that the schema had then. */
export function firstRows(): Map<string, Row[]> {
  const sqlite = new BetterSqlite(':memory:');
  sqlite.exec(FIRST_SCHEMA);
  return new Map(
    VALUES.map(([table, rows]) => {
      const columns = sqlite.pragma(`table_info(${table})`) as { name: string }[];
      const named = (values: unknown[]) =>
        Object.fromEntries(columns.map(({ name }, i) => [name, values[i]]));
      return [table, rows.map(named)];
    }),
  );
}

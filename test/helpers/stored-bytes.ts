/** What the database contains: to search for secrets, and to cause failures of writes. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Db, engineOf } from '../../src/store/open.ts';

/** The names of all tables of the schema. */
export async function tableNames(db: Db): Promise<string[]> {
  const { rows } = await (engineOf(db) === 'sqlite'
    ? sql<{ name: string }>`
        SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
    : sql<{ name: string }>`
        SELECT table_name AS name FROM information_schema.tables
        WHERE table_schema = current_schema()`
  ).execute(db);
  return rows.map(({ name }) => name);
}

/**
 * The bytes of SQLite's files in `folder`, with what was deleted recently; or the text of all PostgreSQL
 * rows. Binary values are included as they are.
 */
export async function storedBytes({ db }: { db: Db }, folder: string): Promise<Buffer> {
  if (engineOf(db) === 'sqlite') {
    const files = readdirSync(folder).filter((name) => /\.db(-wal)?$/.test(name));
    return Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
  }
  const parts: Buffer[] = [];
  for (const name of await tableNames(db)) {
    const { rows } = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(name)}`.execute(
      db,
    );
    for (const value of rows.flatMap((row) => Object.values(row)))
      parts.push(Buffer.isBuffer(value) ? value : Buffer.from(`${value}\n`));
  }
  return Buffer.concat(parts);
}

/** Makes updates of a table, or of one column, fail until the returned function is called. */
export async function rejectUpdates(
  db: Db,
  table: string,
  column?: string,
): Promise<() => Promise<void>> {
  const target = `${column === undefined ? '' : ` OF ${column}`} ON ${table}`;
  const run = (statement: string) => sql.raw(statement).execute(db);
  if (engineOf(db) === 'sqlite') {
    await run(
      `CREATE TRIGGER rejected BEFORE UPDATE${target} BEGIN SELECT RAISE(ABORT, 'no'); END`,
    );
    return async () => void (await run('DROP TRIGGER rejected'));
  }
  await run(`CREATE OR REPLACE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'no'; END $$`);
  await run(
    `CREATE TRIGGER rejected BEFORE UPDATE${target} FOR EACH ROW EXECUTE FUNCTION reject()`,
  );
  return async () => void (await run(`DROP TRIGGER rejected ON ${table}`));
}

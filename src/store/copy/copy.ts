/** Copies a whole database into an empty one, and proves that both are equal. */

import { sql } from 'kysely';
import { StoreError } from '../errors.ts';
import { lockMigrations } from '../postgres/migrate.ts';
import type { Store, Tx } from '../types.ts';
import { createRowHash, type Row, readRows } from './rows.ts';
import { type Table, tablesInOrder } from './tables.ts';

export interface CopiedTable {
  name: string;
  rows: number;
  /** The SHA-256 of all rows in the order of the key, the same on both sides. */
  sha256: string;
}

export interface CopyProgress {
  step: 'copy' | 'compare';
  table: string;
  rows: number;
  /** The number of rows in the table of the source. */
  total: number;
}

/**
 * Copies all tables in one transaction, which also reads them back. The target is either equal to the source
 * afterwards, or still empty. The source is read as it is at one moment. Throws a StoreError if the
 * target is not empty, or if what it returns differs.
 */
export async function copyDatabase(
  source: Store,
  target: Store,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<CopiedTable[]> {
  const tables = tablesInOrder();
  return snapshot(source, (from) =>
    target.db.transaction().execute(async (to) => {
      // A service that starts meanwhile waits.
      if (target.engine === 'postgres') await lockMigrations(to);
      await requireEmpty(to, tables);
      const copied: CopiedTable[] = [];
      for (const table of tables) copied.push(await copyTable(from, to, table, onProgress));
      for (const [i, table] of tables.entries())
        await requireEqual(to, table, copied[i]!, onProgress);
      return copied;
    }),
  );
}

/** Reads in one transaction, so that what others change meanwhile is not copied in part. */
function snapshot<T>({ db, engine }: Store, read: (tx: Tx) => Promise<T>): Promise<T> {
  const transaction = db.transaction();
  if (engine === 'sqlite') return transaction.execute(read);
  return transaction.setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}

async function requireEmpty(tx: Tx, tables: Table[]): Promise<void> {
  for (const { name } of tables) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(tx);
    if (rows.length > 0)
      throw new StoreError(
        `The database to copy to is not empty: the table ${name} has rows. Nothing was changed.`,
      );
  }
}

async function copyTable(
  from: Tx,
  to: Tx,
  table: Table,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopiedTable> {
  const { name } = table;
  const total = await countRows(from, table);
  const hash = createRowHash(table);
  let rows = 0;
  for await (const batch of readRows(from, table)) {
    for (const row of batch) hash.add(row);
    await insertRows(to, name, batch);
    rows += batch.length;
    onProgress({ step: 'copy', table: name, rows, total });
  }
  if (rows !== total)
    throw new StoreError(`The table ${name} has ${total} rows, but ${rows} of them were read.`);
  return { name, rows, sha256: hash.digest() };
}

async function insertRows(to: Tx, table: string, rows: Row[]): Promise<void> {
  try {
    await to
      .insertInto(table as 'tests')
      .values(rows as never)
      .execute();
  } catch (error) {
    if (error instanceof Error)
      error.message = `Could not copy rows of the table ${table}: ${error.message}`;
    throw error;
  }
}

async function countRows(tx: Tx, { name }: Table): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(name)}`.execute(tx);
  return rows[0]!.count;
}

async function requireEqual(
  to: Tx,
  table: Table,
  expected: CopiedTable,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const { name } = table;
  const hash = createRowHash(table);
  let rows = 0;
  for await (const batch of readRows(to, table)) {
    for (const row of batch) hash.add(row);
    rows += batch.length;
    onProgress({ step: 'compare', table: name, rows, total: expected.rows });
  }
  if (rows !== expected.rows || hash.digest() !== expected.sha256)
    throw new StoreError(
      `The copy of the table ${name} differs from the original (${rows} of ${expected.rows} rows). Nothing was changed.`,
    );
}

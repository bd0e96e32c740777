/** Reads the rows of a table in batches, and hashes them in the same form on both databases. */

import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { cleanParameter } from '../text.ts';
import type { Tx } from '../types.ts';
import type { Table } from './tables.ts';

export type Value = string | number | Uint8Array | null;
export type Row = Record<string, Value>;

/** Batches of about this size: rows are between 50 bytes and the half megabyte of a piece of a message. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** The size of the first batch of a table, and the largest one. */
const ROWS = { first: 16, max: 512 };
/** SQLite allows 32,766 parameters, PostgreSQL 65,535. */
const MAX_PARAMETERS = 30_000;

/**
 * All rows in the order of the primary key. The order is the same on both databases: PostgreSQL compares
 * text with the collation C, SQLite by its bytes. Text is as it will be stored.
 */
export async function* readRows(tx: Tx, table: Table): AsyncGenerator<Row[]> {
  const maxRows = largestPowerOfTwo(
    Math.min(ROWS.max, Math.floor(MAX_PARAMETERS / table.columns.length)),
  );
  let limit = ROWS.first;
  let last: Value[] | null = null;
  for (;;) {
    const { rows } = await batchQuery(table, last, limit).execute(tx);
    if (rows.length === 0) return;
    // Before cleaning, because the next batch is selected by the stored value.
    last = table.key.map((column) => rows.at(-1)![column]!);
    for (const row of rows) clean(row);
    yield rows;
    if (rows.length < limit) return;
    const average = rows.reduce((sum, row) => sum + sizeOf(row), 0) / rows.length;
    limit = largestPowerOfTwo(
      Math.max(1, Math.min(maxRows, limit * 4, Math.floor(BATCH_BYTES / average))),
    );
  }
}

function batchQuery({ name, columns, key }: Table, last: Value[] | null, limit: number) {
  const list = (names: string[]): RawBuilder<unknown> => sql.join(names.map((n) => sql.ref(n)));
  const rest = last ? sql`where (${list(key)}) > (${sql.join(last)})` : sql``;
  return sql<Row>`select ${list(columns)} from ${sql.table(name)} ${rest} order by ${list(key)} limit ${limit}`;
}

/** Few different numbers of rows need few prepared statements. */
const largestPowerOfTwo = (max: number): number => 2 ** Math.floor(Math.log2(max));

/** Databases of older programs may hold text that only SQLite accepts. */
function clean(row: Row): void {
  for (const [column, value] of Object.entries(row)) row[column] = cleanParameter(value) as Value;
}

const sizeOf = (row: Row): number =>
  Object.values(row).reduce<number>((sum, value) => sum + lengthOf(value), 0);

const lengthOf = (value: Value): number =>
  value === null || typeof value === 'number' ? 8 : value.length;

export interface RowHash {
  add(row: Row): void;
  /** Hexadecimal. */
  digest(): string;
}

/** SHA-256 of rows in order. Every value is preceded by its type and its length, so that no two rows look alike. */
export function createRowHash({ columns }: Table): RowHash {
  const hash = createHash('sha256');
  return {
    add(row) {
      for (const column of columns) addValue(hash, row[column]!);
    },
    digest: () => hash.digest('hex'),
  };
}

function addValue(hash: ReturnType<typeof createHash>, value: Value): void {
  if (value === null) hash.update('n');
  else if (typeof value === 'number') hash.update(`d${value};`);
  else if (typeof value === 'string') hash.update(`s${Buffer.byteLength(value)};${value}`);
  else hash.update(`b${value.byteLength};`).update(value);
}

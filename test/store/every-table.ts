/** Rows in every table of an SQLite database, for tests of copies. */

import BetterSqlite from 'better-sqlite3';
import { openStore } from '../../src/store/open.ts';

/** Ordered differently by most collations. */
const KEYS = ['a', 'B', '_', 'é', '😀', 'Z', '-', 'ß'];
const TEXTS = ['', 'x', '{"a": 1}', 'a 😀 b', `\\x00 '" $1 ?`, 'line\r\nline', 'n5;s0;', 'a\0b'];
const NUMBERS = [0, 1, -1, 2 ** 40, Number.MAX_SAFE_INTEGER];

interface Column {
  name: string;
  type: string;
  pk: number;
  notnull: number;
}

/** Creates the database, with as many rows in each table. Returns the names of the tables. */
export async function fillEveryTable(path: string, rows: number): Promise<string[]> {
  await (await openStore(path)).close();
  const sqlite = new BetterSqlite(path);
  sqlite.pragma('foreign_keys = OFF');
  const tables = sqlite
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all() as { name: string; sql: string }[];
  sqlite.exec('BEGIN');
  for (const { name, sql } of tables) {
    const columns = sqlite.pragma(`table_info(${name})`) as Column[];
    const references = sqlite.pragma(`foreign_key_list(${name})`) as {
      from: string;
      table: string;
    }[];
    const tableOf = (column: string) => references.find(({ from }) => from === column)?.table;
    // Columns that a CHECK makes null together get their values from the same index.
    const valueIndex = ({ name: column }: Column, j: number) => {
      const partner = new RegExp(`\\(${column} IS NULL\\) = \\((\\w+) IS NULL\\)`).exec(sql)?.[1];
      return partner ? columns.findIndex((other) => other.name === partner) : j;
    };
    const insert = sqlite.prepare(
      `INSERT INTO ${name} VALUES (${columns.map(() => '?').join(', ')})`,
    );
    for (let i = 0; i < rows; i++)
      insert.run(
        columns.map((column, j) =>
          column.name === 'id' || tableOf(column.name)
            ? keyOf(tableOf(column.name) ?? name, i)
            : (allowedValue(sql, column.name) ?? madeUpValue(column, i, valueIndex(column, j))),
        ),
      );
  }
  sqlite.exec('COMMIT');
  const broken = sqlite.pragma('foreign_key_check') as unknown[];
  sqlite.close();
  if (broken.length > 0)
    throw new Error(`Rows refer to missing ones: ${JSON.stringify(broken[0])}`);
  return tables.map(({ name }) => name);
}

const keyOf = (table: string, i: number): string => `${table}_${KEYS[i % KEYS.length]}${i}`;

/** The last value of a CHECK, because the first role is that of the only owner. */
function allowedValue(sql: string, column: string): string | undefined {
  const list = new RegExp(`\\(${column} IN\\s+\\(([^)]*)\\)`).exec(sql)?.[1];
  return list
    ?.match(/'[^']*'/g)
    ?.at(-1)
    ?.slice(1, -1);
}

function madeUpValue({ name, type, pk, notnull }: Column, i: number, j: number) {
  if (!notnull && pk === 0 && (i + j) % 5 === 0) return null;
  if (type === 'INTEGER') return pk > 0 ? i : NUMBERS[(i + j) % NUMBERS.length];
  if (type === 'REAL') return [0, 0.1, 1 / 3, 1e-9, 12][(i + j) % 5];
  if (type === 'BLOB')
    return Buffer.from(Array.from({ length: (i * 37) % 300 }, (_, k) => (k * i) % 256));
  // Keys and unique columns must differ. A key with a NUL would be stored as another key.
  return pk > 0 ? keyOf(name, i) : `${i} ${TEXTS[(i + j) % TEXTS.length]}`;
}

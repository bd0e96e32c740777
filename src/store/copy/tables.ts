/** The tables of the current schema: their columns, their keys, and an order in which rows can be inserted. */

import BetterSqlite from 'better-sqlite3';
import { SCHEMA } from '../schema.generated.ts';

export interface Table {
  name: string;
  columns: string[];
  /** The columns of the primary key, in its order. */
  key: string[];
}

/** Referenced tables come first. Read from an empty SQLite database, because the schema is written for SQLite. */
export function tablesInOrder(): Table[] {
  const sqlite = new BetterSqlite(':memory:');
  try {
    sqlite.exec(SCHEMA);
    const names = sqlite
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
      .pluck()
      .all() as string[];
    return sortByReferences(names, (name) => referencesOf(sqlite, name)).map((name) => ({
      name,
      ...columnsOf(sqlite, name),
    }));
  } finally {
    sqlite.close();
  }
}

function columnsOf(sqlite: BetterSqlite.Database, table: string): Omit<Table, 'name'> {
  const columns = sqlite.pragma(`table_info(${table})`) as { name: string; pk: number }[];
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  if (key.length === 0) throw new Error(`The table ${table} has no primary key`);
  return { columns: columns.map(({ name }) => name), key: key.map(({ name }) => name) };
}

const referencesOf = (sqlite: BetterSqlite.Database, table: string): string[] =>
  (sqlite.pragma(`foreign_key_list(${table})`) as { table: string }[]).map(
    (reference) => reference.table,
  );

function sortByReferences(names: string[], referencesTo: (name: string) => string[]): string[] {
  const sorted: string[] = [];
  const addAfterReferenced = (name: string, path: string[]): void => {
    if (sorted.includes(name)) return;
    if (path.includes(name)) throw new Error(`Tables reference each other: ${path.join(', ')}`);
    for (const referenced of referencesTo(name)) addAfterReferenced(referenced, [...path, name]);
    sorted.push(name);
  };
  for (const name of names) addAfterReferenced(name, []);
  return sorted;
}

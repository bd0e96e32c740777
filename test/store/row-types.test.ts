/** The generated row types match the database that SQLite creates from the schema. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { rowTypesModule } from '../../scripts/row-types.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';

const GENERATED = readFileSync(
  new URL('../../src/store/tables.generated.ts', import.meta.url),
  'utf8',
);

/** A database with the current schema, without foreign keys. */
function freshDatabase(): BetterSqlite.Database {
  const sqlite = new BetterSqlite(':memory:');
  migrate(sqlite);
  sqlite.pragma('foreign_keys = OFF');
  return sqlite;
}

interface Column {
  name: string;
  type: string;
  notnull: 0 | 1;
}

const tablesOf = (sqlite: BetterSqlite.Database): string[] =>
  sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
const columnsOf = (sqlite: BetterSqlite.Database, table: string): Column[] =>
  sqlite.pragma(`table_info(${table})`) as Column[];

/** By table, the columns with their types in the generated file. */
function declaredTypes(): Map<string, Map<string, string>> {
  const interfaces = new Map(
    [...GENERATED.matchAll(/^export interface (\w+) \{\n(.*?)^\}/gms)].map(([, name, body]) => [
      name!,
      new Map([...body!.matchAll(/^ {2}(\w+): (.+);$/gm)].map(([, key, type]) => [key!, type!])),
    ]),
  );
  const tables = interfaces.get('Tables')!;
  return new Map([...tables].map(([table, row]) => [table, interfaces.get(row)!]));
}

test('Generated row types match the columns, types and nullability of every table', () => {
  const sqlite = freshDatabase();
  const types = declaredTypes();
  assert.deepEqual([...types.keys()].sort(), tablesOf(sqlite).sort());
  for (const [table, fields] of types) {
    const columns = columnsOf(sqlite, table);
    assert.deepEqual(
      [...fields.keys()],
      columns.map(({ name }) => name),
    );
    for (const { name, type, notnull } of columns) {
      const declared = fields.get(name)!;
      assert.equal(/ \| null$/.test(declared), notnull === 0, `${table}.${name}`);
      // A vocabulary that the program declares has a name.
      const stored = { TEXT: /^(?:string|'.*'|[A-Z]\w+)/, INTEGER: /^number/, REAL: /^number/ }[
        type
      ];
      assert.match(declared, stored ?? /^Uint8Array/, `${table}.${name}`);
    }
  }
});

test('Columns with enumerated values accept exactly the values of their row type', () => {
  const sqlite = freshDatabase();
  let limited = 0;
  for (const [table, fields] of declaredTypes())
    for (const [name, type] of fields) {
      // The program declares a vocabulary that grows, and the database takes any text.
      if (type.startsWith('Vocabularies')) continue;
      const values = [...type.matchAll(/'(\w+)'/g)].map(([, value]) => value!);
      if (values.length === 0) continue;
      limited += 1;
      for (const value of values) insertRow(sqlite, table, { [name]: value });
      const other = () => insertRow(sqlite, table, { [name]: 'some_other_value' });
      assert.throws(other, /CHECK constraint failed/, `${table}.${name}`);
    }
  // Every CHECK in the schema is on such a column, or makes two columns null together.
  const schema = sqlite.prepare("SELECT group_concat(sql, ' ') FROM sqlite_schema").pluck().get();
  const checks =
    String(schema)
      .replace(/--[^\n]*/g, '')
      .split(/\bCHECK\b(?! \(\(\w+ IS NULL\) = \()/).length - 1;
  assert.equal(limited, checks);
});

let inserted = 0;

/** A row with the given values, and any allowed value in other required columns. */
function insertRow(
  sqlite: BetterSqlite.Database,
  table: string,
  given: Record<string, string>,
): void {
  inserted += 1;
  const types = declaredTypes().get(table)!;
  const needed = columnsOf(sqlite, table).filter(({ notnull, name }) => notnull || name in given);
  const values = needed.map(({ name, type }) => {
    const literal = /'(\w+)'/.exec(types.get(name)!)?.[1];
    return given[name] ?? literal ?? (type === 'TEXT' ? `value ${inserted}` : inserted);
  });
  // There can be only one owner.
  if (table === 'members') sqlite.exec('DELETE FROM members');
  sqlite
    .prepare(
      `INSERT INTO ${table} (${needed.map(({ name }) => name)}) VALUES (${needed.map(() => '?')})`,
    )
    .run(values);
}

test('rowTypesModule rejects unsupported column types and CHECK constraints', () => {
  assert.throws(() => rowTypesModule('CREATE TABLE a (b DATETIME NOT NULL);'), /type DATETIME/);
  assert.throws(
    () => rowTypesModule('CREATE TABLE a (b INTEGER NOT NULL CHECK (b > 1));'),
    /Unsupported CHECK in a/,
  );
  const pair = 'CHECK ((b IS NULL) = (c IS NULL))';
  const types = rowTypesModule(`CREATE TABLE a (b TEXT, c TEXT ${pair});`);
  assert.match(types, /c: string \| null/);
});

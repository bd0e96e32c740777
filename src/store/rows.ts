/**
 * Inserts and updates of single rows whose SQL is built once for each list of columns, for what every message does.
 * Building a query takes longer than SQLite needs to run it.
 */

import { type CompiledQuery, type Insertable, isExpression } from 'kysely';
import { engineOf } from './engine.ts';
import { isLimited } from './limited.ts';
import type { Tables } from './tables.generated.ts';
import { cleanParameter } from './text.ts';
import type { Db, Tx } from './types.ts';

/** Bounded by the lists of columns in the code. */
const compiled = new Map<string, CompiledQuery>();

async function run(
  db: Db | Tx,
  name: string,
  values: unknown[],
  build: () => { compile(): CompiledQuery },
): Promise<void> {
  // An expression is part of the SQL, not a parameter, and so is a limit.
  if (isLimited(db) || values.some(isExpression)) {
    await db.executeQuery(build().compile());
    return;
  }
  const key = `${engineOf(db)} ${name}`;
  let query = compiled.get(key);
  if (!query) {
    query = build().compile();
    compiled.set(key, query);
  }
  await db.executeQuery({ ...query, parameters: values.map(cleanParameter) });
}

/** Inserts a row. Every value is set: none may be undefined. */
export const insertRow = <Table extends keyof Tables>(
  db: Db | Tx,
  table: Table,
  row: Insertable<Tables[Table]>,
): Promise<void> =>
  run(db, `insert ${table} ${Object.keys(row)}`, Object.values(row), () =>
    db.insertInto(table).values(row as never),
  );

type TableWithId = {
  [Table in keyof Tables]: Tables[Table] extends { id: string } ? Table : never;
}[keyof Tables];

/** Sets columns of the row with this ID. None may be undefined. */
export const updateRow = <Table extends TableWithId>(
  db: Db | Tx,
  table: Table,
  id: string,
  change: { [Column in keyof Tables[Table]]?: unknown },
): Promise<void> =>
  run(db, `update ${table} ${Object.keys(change)}`, [...Object.values(change), id], () =>
    db
      .updateTable(table as 'tests')
      .set(change as never)
      .where('id', '=', id),
  );

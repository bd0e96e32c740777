/** Queries that are built and compiled once, for reads that every request makes. */

import type { Compilable, CompiledQuery } from 'kysely';
import { engineOf } from './engine.ts';
import { isLimited } from './limited.ts';
import { cleanParameter } from './text.ts';
import type { Db, Tx } from './types.ts';

/** Stands for a value in the compiled query. */
class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Returns what stands for the value with this name. */
export type PreparedParameter<Values> = <Name extends keyof Values & string>(
  name: Name,
) => Values[Name];

/** More parameters than those of most queries: what has more is built each time. */
const MAX_LISTED = 20;

/** As `prepared`, with lists instead of values: one query is built for each combination of their lengths. */
export function preparedLists<Lists extends Record<string, unknown[]>, Row>(
  build: (db: Db | Tx, list: PreparedParameter<Lists>) => Compilable<Row>,
): (db: Db | Tx, lists: Lists) => Promise<Row[]> {
  const byLengths = new Map<string, ReturnType<typeof prepared<Record<string, unknown>, Row>>>();
  return async (db, lists) => {
    const all = Object.values(lists);
    if (all.flat().length > MAX_LISTED)
      return (await db.executeQuery<Row>(build(db, (name) => lists[name]).compile())).rows;
    const key = all.map(({ length }) => length).join(' ');
    let run = byLengths.get(key);
    if (!run) {
      run = prepared<Record<string, unknown>, Row>((db, parameter) =>
        build(db, (name) => lists[name]!.map((_, i) => parameter(`${name} ${i}`)) as never),
      );
      byLengths.set(key, run);
    }
    const values = Object.entries(lists).flatMap(([name, list]) =>
      list.map((value, i) => [`${name} ${i}`, value] as const),
    );
    return run(db, Object.fromEntries(values));
  };
}

/**
 * Returns a function that runs the query with the given values. The query must depend
 * on nothing but these, the kind of the database, and whether it runs in a transaction (`lockIn`).
 */
export function prepared<Values extends object, Row>(
  build: (db: Db | Tx, parameter: PreparedParameter<Values>) => Compilable<Row>,
): (db: Db | Tx, values: Values) => Promise<Row[]> {
  const compiled = new Map<string, CompiledQuery<Row>>();
  return async (db, values) => {
    const kind = db.isTransaction ? `${engineOf(db)} transaction` : engineOf(db);
    let query = isLimited(db) ? undefined : compiled.get(kind);
    if (!query) {
      query = build(db, (name) => new Parameter(name) as never).compile();
      if (!isLimited(db)) compiled.set(kind, query);
    }
    const parameters = query.parameters.map((parameter) =>
      parameter instanceof Parameter
        ? cleanParameter(values[parameter.name as keyof Values])
        : parameter,
    );
    return (await db.executeQuery<Row>({ ...query, parameters })).rows;
  };
}

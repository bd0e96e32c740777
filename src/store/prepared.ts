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

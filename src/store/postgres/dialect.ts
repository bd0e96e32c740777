/** Kysely's PostgreSQL dialect with clean text, explicit isolation, and recognizable connection errors. */

import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresDialect,
  PostgresDriver,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import type { Pool } from 'pg';
import { cleanParameter } from '../text.ts';
import { translateError } from './errors.ts';

export function postgresDialect(pool: Pool): Dialect {
  const dialect = new PostgresDialect({ pool });
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: (): Driver => new TranslatingDriver({ pool }),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => new CleanQueryCompiler(),
  };
}

export class CleanQueryCompiler extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    super.addParameter(cleanParameter(parameter));
  }
}

/** PostgreSQL itself rejects a statement with more, but with an unclear message. */
const MAX_PARAMETERS = 65_535;

class TranslatingDriver extends PostgresDriver {
  readonly #translating = new WeakSet<DatabaseConnection>();

  override async acquireConnection(): Promise<DatabaseConnection> {
    try {
      const connection = await super.acquireConnection();
      if (!this.#translating.has(connection)) translateErrors(connection);
      this.#translating.add(connection);
      return connection;
    } catch (error) {
      throw translateError(error);
    }
  }

  /** Explicit, because administrators can change the server's default. */
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    await super.beginTransaction(connection, {
      isolationLevel: 'read committed',
      ...definedOf(settings),
    });
  }
}

const definedOf = ({ isolationLevel, ...rest }: TransactionSettings): TransactionSettings =>
  isolationLevel ? { ...rest, isolationLevel } : rest;

/** Replaces `executeQuery`, through which Kysely also begins, commits and rolls back. */
function translateErrors(connection: DatabaseConnection): void {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = async <Row>(query: CompiledQuery) => {
    if (query.parameters.length > MAX_PARAMETERS)
      throw new Error(
        `The query has ${query.parameters.length} parameters, but PostgreSQL allows ${MAX_PARAMETERS}.`,
      );
    try {
      return await execute<Row>(query);
    } catch (error) {
      throw translateError(error);
    }
  };
}

/** Empty databases of each kind, for the tests that all of them must pass. */

import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import type { ClientBase } from 'pg';
import { type Db, openStore } from '../../src/store/open.ts';
import { CleanQueryCompiler } from '../../src/store/postgres/dialect.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { parseNumber } from '../../src/store/postgres/pool.ts';
import type { Tables } from '../../src/store/tables.generated.ts';
import {
  postgresDatabase,
  releasePostgresDatabase,
  skipUnlessOnPostgres,
} from '../helpers/postgres.ts';
import { postgresPrograms } from '../helpers/postgres-server.ts';
import { onPostgres } from '../helpers/store.ts';

interface DatabaseKind {
  name: string;
  skip: string | false;
  open(t: TestContext): Promise<Db>;
}

/** They ran on the others before. */
const SKIP_ON_POSTGRES = onPostgres && 'Runs without TEST_DATABASE=postgres';

/** It takes many seconds, and is for machines without PostgreSQL. */
const SKIP_PGLITE =
  postgresPrograms() !== null && 'PostgreSQL is installed: run with TEST_DATABASE=postgres';

export const DATABASES: DatabaseKind[] = [
  { name: 'SQLite', skip: SKIP_ON_POSTGRES, open: (t) => openAt(t, ':memory:') },
  { name: 'PGlite', skip: SKIP_PGLITE, open: openPglite },
  {
    name: 'PostgreSQL',
    skip: skipUnlessOnPostgres(),
    async open(t) {
      const key = randomUUID();
      t.after(() => releasePostgresDatabase(key));
      return openAt(t, await postgresDatabase(key));
    },
  },
];

async function openAt(t: TestContext, location: string): Promise<Db> {
  const { db, close } = await openStore(location);
  t.after(close);
  return db;
}

class CleanDialect extends PGliteDialect {
  override createQueryCompiler() {
    return new CleanQueryCompiler();
  }
}

const [INT8, NUMERIC] = [20, 1700];

/**
 * PostgreSQL in WebAssembly: one connection, so it shows neither races nor the types of `pg`. It takes
 * seconds to start, so the tests of a process share it.
 */
let shared: ReturnType<typeof createPglite> | undefined;

async function createPglite() {
  const pglite = await PGlite.create({
    parsers: { [INT8]: parseNumber, [NUMERIC]: parseNumber },
  });
  // A statement with parameters stands alone; a text without any may have several.
  const query = async (text: string, values?: unknown[]) =>
    values ? pglite.query(text, values) : (await pglite.exec(text)).at(-1);
  await migrate({ query } as unknown as ClientBase);
  const db: Db = new Kysely<Tables>({ dialect: new CleanDialect({ pglite }) });
  const { rows } = await pglite.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version'",
  );
  const clear = () => pglite.exec(`TRUNCATE ${rows.map(({ name }) => name).join()}`);
  return { db, clear };
}

async function openPglite(): Promise<Db> {
  shared ??= createPglite();
  const { db, clear } = await shared;
  await clear();
  return db;
}

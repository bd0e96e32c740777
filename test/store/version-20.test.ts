/** The upgrade to version 20 plans the first look at verified domains, on both databases. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import pg from 'pg';
import { postgresSchema } from '../../scripts/postgres-schema.ts';
import { migrate as migratePostgres } from '../../src/store/postgres/migrate.ts';
import { migrate as migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import {
  postgresDatabase,
  releasePostgresDatabase,
  skipUnlessOnPostgres,
} from '../helpers/postgres.ts';

const PREVIOUS = readFileSync(new URL('../fixtures/schemas/v19.sql', import.meta.url), 'utf8');

const domain = (id: string, status: string): string =>
  `INSERT INTO domains (id, name, status, token, created_at, pending_since, next_check_at, given_selectors, learnt_selectors, health_status, health_checks)
    VALUES ('${id}', '${id}.example', '${status}', 't', '2026-11-01', '2026-11-01', '2026-11-29', '[]', '[]', 'unknown', '[]');`;

const OLD_ROWS = `${domain('one', 'verified')}${domain('two', 'pending')}`;
const QUERY =
  "SELECT id || ' ' || coalesce(next_look_at, 'never') AS line FROM domains WHERE watched IS NULL ORDER BY id";
const EXPECTED = ['one 2026-11-29', 'two never'];

test('Migration step 20 plans the first look at verified domains (SQLite)', () => {
  const old = new BetterSqlite(':memory:');
  old.exec(PREVIOUS);
  old.pragma('user_version = 19');
  old.exec(OLD_ROWS);
  migrateSqlite(old);
  assert.deepEqual(old.prepare(QUERY).pluck().all(), EXPECTED);
});

test('Migration step 20 plans the first look at verified domains (PostgreSQL)', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  const client = new pg.Client({ connectionString: await postgresDatabase(key, 'template0') });
  await client.connect();
  t.after(() => client.end());
  await migratePostgres(client, { schema: postgresSchema(PREVIOUS), version: 19, steps: [] });
  await client.query(OLD_ROWS);
  await migratePostgres(client);
  const { rows } = await client.query<{ line: string }>(QUERY);
  assert.deepEqual(
    rows.map(({ line }) => line),
    EXPECTED,
  );
});

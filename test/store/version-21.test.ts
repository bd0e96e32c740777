/** The upgrade to version 21 trusts no name, and leaves reports to be attributed, on both databases. */

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

const PREVIOUS = readFileSync(new URL('../fixtures/schemas/v20.sql', import.meta.url), 'utf8');

const report = (id: string, status: string, identity: string): string =>
  `INSERT INTO feedback_reports (id, mail_id, position, type, status, identity, messages, passed, failed, source, repaired,
    content, row_count, stored_rows, counted_rows, received_at)
    VALUES ('${id}', '${id}', 0, 'dmarc', '${status}', ${identity}, 1, 1, 0, 'smtp', '[]', '{}', 0, 0, 0, '2026-11-01');`;

const OLD_ROWS = `${report('one', 'counted', "'a'")}${report('two', 'refused', 'NULL')}
  INSERT INTO feedback_reporters (id, name, trusted, first_at, last_at, reports, counted)
    VALUES ('rep', 'google.com', 1, '2026-11-01', '2026-11-01', 1, 1);`;
const QUERY = `SELECT id || ' ' || coalesce(file_identity, 'none') || ' ' || attributed AS line FROM feedback_reports
  UNION ALL SELECT name || ' ' || trusted FROM feedback_reporters WHERE kind IS NULL ORDER BY 1`;
const EXPECTED = ['google.com 0', 'one a 0', 'two none 1'];

test('Migration step 21 leaves reports to be attributed and trusts no name (SQLite)', () => {
  const old = new BetterSqlite(':memory:');
  old.exec(PREVIOUS);
  old.pragma('user_version = 20');
  old.exec(OLD_ROWS);
  migrateSqlite(old);
  assert.deepEqual(old.prepare(QUERY).pluck().all(), EXPECTED);
});

test('Migration step 21 leaves reports to be attributed and trusts no name (PostgreSQL)', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  const client = new pg.Client({ connectionString: await postgresDatabase(key, 'template0') });
  await client.connect();
  t.after(() => client.end());
  await migratePostgres(client, { schema: postgresSchema(PREVIOUS), version: 20, steps: [] });
  await client.query(OLD_ROWS);
  await migratePostgres(client);
  const { rows } = await client.query<{ line: string }>(QUERY);
  assert.deepEqual(
    rows.map(({ line }) => line),
    EXPECTED,
  );
});

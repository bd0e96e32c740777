/** The upgrade to version 17 adds images of tests, and shared links from before it show no message, on both databases. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import pg from 'pg';
import { postgresSchema } from '../../scripts/postgres-schema.ts';
import { MIGRATIONS } from '../../src/store/migrations/index.ts';
import { migrate as migratePostgres } from '../../src/store/postgres/migrate.ts';
import { migrate as migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import {
  postgresDatabase,
  releasePostgresDatabase,
  skipUnlessOnPostgres,
} from '../helpers/postgres.ts';

const fixture = (version: number): string =>
  readFileSync(new URL(`../fixtures/schemas/v${version}.sql`, import.meta.url), 'utf8');

const stepsTo = (version: number) => MIGRATIONS.filter((step) => step.version <= version);

const share = (id: string, columns = '', values = ''): string =>
  `INSERT INTO shared_reports (id, livemode, token_hash, token, created_at, expires_at${columns})
    VALUES ('${id}', 1, '${id}', 'x', '2026-11-01', '2026-12-01'${values});`;

const OLD_ROWS = `
INSERT INTO tests (id, token, livemode, name, kind, metadata, status, created_at, expires_at)
  VALUES ('test_1', 'a', 1, 'Newsletter', 'auto', '{}', 'completed', '2026-11-01', '2026-11-02');
${share('rpt_old')}`;

const NEW_ROWS = `
${share('rpt_new', ', preview', ", 'with_images'")}
INSERT INTO image_loads (id, requested_at) VALUES ('test_1', '2026-11-03');
INSERT INTO test_images (test_id, position, kind, url, status)
  VALUES ('test_1', 0, 'content', 'https://example.com/a.png', 'failed');`;

const PREVIEWS = "SELECT id || ' ' || preview AS line FROM shared_reports ORDER BY id";
const EXPECTED_PREVIEWS = ['rpt_new with_images', 'rpt_old none'];
const DELETE_TEST = "DELETE FROM tests WHERE id = 'test_1'";
const REST = `SELECT 'image' AS line FROM test_images UNION ALL SELECT 'load' AS line FROM image_loads`;
const UNKNOWN_PREVIEW = share('rpt_bad', ', preview', ", 'everything'");

test('Migration step 17 keeps messages out of earlier links, and images go with their test (SQLite)', () => {
  const old = new BetterSqlite(':memory:');
  old.pragma('foreign_keys = ON');
  old.exec(fixture(13));
  old.pragma('user_version = 13');
  migrateSqlite(old, { schema: '', version: 16, steps: stepsTo(16) });
  old.exec(OLD_ROWS);
  migrateSqlite(old);
  old.exec(NEW_ROWS);
  assert.deepEqual(old.prepare(PREVIEWS).pluck().all(), EXPECTED_PREVIEWS);
  assert.throws(() => old.exec(UNKNOWN_PREVIEW), /CHECK/);
  old.exec(DELETE_TEST);
  assert.deepEqual(old.prepare(REST).all(), []);
});

test('Migration step 17 keeps messages out of earlier links, and images go with their test (PostgreSQL)', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  const client = new pg.Client({ connectionString: await postgresDatabase(key, 'template0') });
  await client.connect();
  t.after(() => client.end());
  const schema = postgresSchema(fixture(8));
  await migratePostgres(client, { schema, version: 8, steps: [] });
  const upgradeTo = (version: number) =>
    migratePostgres(client, { schema, version, steps: stepsTo(version) });
  await upgradeTo(16);
  await client.query(OLD_ROWS);
  await upgradeTo(17);
  await client.query(NEW_ROWS);
  const linesOf = async (query: string) =>
    (await client.query<{ line: string }>(query)).rows.map(({ line }) => line);
  assert.deepEqual(await linesOf(PREVIEWS), EXPECTED_PREVIEWS);
  await assert.rejects(client.query(UNKNOWN_PREVIEW), /check constraint/);
  await client.query(DELETE_TEST);
  assert.deepEqual(await linesOf(REST), []);
});

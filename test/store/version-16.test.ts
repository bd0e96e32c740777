/** The upgrade to version 16 sums up what is stored, on both databases. */

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

const sourceDay = (source: string, day: string, messages: number): string =>
  `INSERT INTO feedback_source_days (source_id, domain_id, day, messages, passed, dkim, spf, quarantined, rejected, forwarded)
    VALUES ('${source}', 'dom_1', '${day}', ${messages}, 1, 2, 3, 4, 5, 6);`;

const report = (id: string, type: string, status: string): string =>
  `INSERT INTO feedback_reports (id, mail_id, position, type, status, messages, passed, failed, source, repaired, content,
      row_count, stored_rows, counted_rows, received_at)
    VALUES ('${id}', '${id}', 0, '${type}', '${status}', 0, 0, 0, 'smtp', '[]', '{}', 0, 0, 0, '');`;

const bounce = (reportId: string, position: number, day: string, code: string): string =>
  `INSERT INTO bounces (id, report_id, position, domain_id, received_at, day, class, action, status_code, provider)
    VALUES ('${reportId}${position}', '${reportId}', ${position}, 'dom_1', '', '${day}', 'hard', 'failed', ${code}, 'gmail.com');`;

const complaint = (reportId: string, kind: string): string =>
  `INSERT INTO complaints (id, report_id, domain_id, kind, received_at, day, provider, address, dkim_domain)
    VALUES ('${reportId}', '${reportId}', 'dom_1', '${kind}', '', '2026-11-02', 'yahoo.com', '192.0.2.1', NULL);`;

const DATA = [
  sourceDay('src_1', '2026-10-31', 10),
  sourceDay('src_1', '2026-11-01', 20),
  sourceDay('src_1', '2026-11-30', 30),
  sourceDay('src_2', '2026-11-30', 40),
  report('a', 'bounce', 'counted'),
  report('b', 'bounce', 'duplicate'),
  report('c', 'complaint', 'counted'),
  report('d', 'complaint', 'counted'),
  report('e', 'complaint', 'unverified'),
  bounce('a', 0, '2026-11-01', "'5.1.1'"),
  bounce('a', 1, '2026-11-02', 'NULL'),
  bounce('b', 0, '2026-11-02', 'NULL'),
  complaint('c', 'abuse'),
  complaint('d', 'not-spam'),
  complaint('e', 'abuse'),
].join('\n');

const MONTHS = `SELECT source_id || ' ' || month || ' ' || messages || ' ' || forwarded AS line
  FROM feedback_source_months ORDER BY 1`;
const COUNTS = `SELECT subject || '|' || period || '|' || value || '|' || count AS line
  FROM feedback_message_sums WHERE domain_id = 'dom_1' ORDER BY 1`;

const EXPECTED_MONTHS = ['src_1 2026-10 10 6', 'src_1 2026-11 50 12', 'src_2 2026-11 40 6'];
const inBoth = (...lines: string[]): string[] =>
  lines.flatMap((line) => [line, line.replace(/-\d\d\|/, '|')]);
const EXPECTED_COUNTS = [
  'bounce class|2026-11-01|hard|1',
  'bounce class|2026-11-02|hard|1',
  'bounce class|2026-11|hard|2',
  'bounce provider|2026-11-01|gmail.com|1',
  'bounce provider|2026-11-02|gmail.com|1',
  'bounce provider|2026-11|gmail.com|2',
  'bounce server|2026-11-01||1',
  'bounce server|2026-11-02||1',
  'bounce server|2026-11||2',
  ...inBoth('bounce status|2026-11-01|5.1.1|1', 'bounce status|2026-11-02||1'),
  ...inBoth('complaint kind|2026-11-02|abuse|1', 'complaint kind|2026-11-02|not-spam|1'),
  ...inBoth('complaint provider|2026-11-02|yahoo.com|1'),
  ...inBoth('complaint sender|2026-11-02|192.0.2.1 |1'),
].sort();

test('Migration step 16 sums up by month, and complaints and bounces that count (SQLite)', () => {
  const old = new BetterSqlite(':memory:');
  old.exec(fixture(13));
  old.pragma('user_version = 13');
  migrateSqlite(old, { schema: '', version: 15, steps: stepsTo(15) });
  old.exec(DATA);
  migrateSqlite(old);
  assert.deepEqual(old.prepare(MONTHS).pluck().all(), EXPECTED_MONTHS);
  assert.deepEqual((old.prepare(COUNTS).pluck().all() as string[]).sort(), EXPECTED_COUNTS);
});

test('Migration step 16 sums up by month, and complaints and bounces that count (PostgreSQL)', {
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
  await upgradeTo(15);
  await client.query(DATA);
  await upgradeTo(16);
  const linesOf = async (query: string) =>
    (await client.query<{ line: string }>(query)).rows.map(({ line }) => line).sort();
  assert.deepEqual(await linesOf(MONTHS), EXPECTED_MONTHS);
  assert.deepEqual(await linesOf(COUNTS), EXPECTED_COUNTS);
});

/** The upgrade to version 18 adds what Google and Microsoft publish, and keeps sign-ins to seed mailboxes, on both databases. */

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

const PREVIOUS = readFileSync(new URL('../fixtures/schemas/v17.sql', import.meta.url), 'utf8');

const OLD_ROWS = `
INSERT INTO seed_credentials (id, configured, refresh_token, stored_at)
  VALUES ('seed@example.com', 'hash', 'encrypted', '2026-11-01');`;

const day = (receiver: string, spamRate: string): string =>
  `INSERT INTO receiver_days (name, day, receiver_id, spam_rate, fetched_at)
    VALUES ('example.com', '2026-11-20', '${receiver}', ${spamRate}, '2026-11-22');`;

const address = (startedAt: string): string =>
  `INSERT INTO receiver_addresses (address, day, receiver_id, started_at, ended_at, rcpt_commands, data_commands, recipients, fetched_at)
    VALUES ('192.0.2.1', '2026-11-20', 'snds', '${startedAt}', '2026-11-21', 120, 118, 120, '2026-11-22');`;

const NEW_ROWS = `
INSERT INTO receivers (id, receiver) VALUES ('google', 'google_postmaster');
INSERT INTO receiver_credentials (id, configured, refresh_token, stored_at)
  VALUES ('google', 'hash', 'encrypted', '2026-11-22');
INSERT INTO receiver_domains (receiver_id, name, permission, listed_at)
  VALUES ('google', 'example.com', 'OWNER', '2026-11-22');
INSERT INTO receiver_requirements (name, requirement, receiver_id, status, since, checked_at)
  VALUES ('example.com', 'SPF', 'google', 'COMPLIANT', '2026-11-22', '2026-11-22');
INSERT INTO receiver_blocks (receiver_id, first_address, last_address, blocked, details, since, checked_at)
  VALUES ('snds', '192.0.2.1', '192.0.2.9', 1, 'Blocked', '2026-11-22', '2026-11-22');
${day('google', '0.0012345678')}
${day('google-2', '0.25')}
${address('2026-11-20T04:00:00Z')}
${address('2026-11-20T09:00:00Z')}`;

const QUERIES = [
  "SELECT id || ' ' || refresh_token AS line FROM seed_credentials",
  "SELECT id || ' ' || failures AS line FROM receivers WHERE next_fetch_at IS NULL",
  "SELECT receiver_id || ' ' || spam_rate AS line FROM receiver_days ORDER BY 1",
  "SELECT started_at || ' ' || is_below_rate AS line FROM receiver_addresses ORDER BY 1",
];

const EXPECTED = [
  'seed@example.com encrypted',
  // A new account has no failures, and is fetched at once.
  'google 0',
  // Two accounts can show a domain. Rates keep their digits.
  'google 0.0012345678',
  'google-2 0.25',
  '2026-11-20T04:00:00Z 0',
  '2026-11-20T09:00:00Z 0',
];

const REPEATED_DAY = day('google', '0.002');
const TITLE = 'Migration step 18 adds figures of receivers and keeps sign-ins to seed mailboxes';

test(`${TITLE} (SQLite)`, () => {
  const old = new BetterSqlite(':memory:');
  old.exec(PREVIOUS);
  old.pragma('user_version = 17');
  old.exec(OLD_ROWS);
  migrateSqlite(old);
  old.exec(NEW_ROWS);
  const lines = QUERIES.flatMap((query) => old.prepare(query).pluck().all());
  assert.deepEqual(lines, EXPECTED);
  assert.throws(() => old.exec(REPEATED_DAY), /UNIQUE/);
});

test(`${TITLE} (PostgreSQL)`, { skip: skipUnlessOnPostgres() }, async (t) => {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  const client = new pg.Client({ connectionString: await postgresDatabase(key, 'template0') });
  await client.connect();
  t.after(() => client.end());
  await migratePostgres(client, { schema: postgresSchema(PREVIOUS), version: 17, steps: [] });
  await client.query(OLD_ROWS);
  await migratePostgres(client);
  await client.query(NEW_ROWS);
  const lines: string[] = [];
  for (const query of QUERIES) {
    const { rows } = await client.query<{ line: string }>(query);
    lines.push(...rows.map(({ line }) => line));
  }
  assert.deepEqual(lines, EXPECTED);
  await assert.rejects(client.query(REPEATED_DAY), /duplicate key/);
});

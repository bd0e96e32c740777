/** The upgrade to version 19 keeps alerts, takes reminders and references, and adds changes of DNS records, on both databases. */

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

const PREVIOUS = readFileSync(new URL('../fixtures/schemas/v18.sql', import.meta.url), 'utf8');

const notification = (id: string, news: string): string =>
  `INSERT INTO alert_notifications (id, incident_id, alert_id, news, channel, status, created_at)
    VALUES ('${id}', 'inc', 'alert', '${news}', 'slack', 'sent', '2026-11-01');`;

const OLD_ROWS = `
INSERT INTO alerts (id, name, condition, channels, enabled, created_at)
  VALUES ('alert', 'Low score', 'score_below', '["slack"]', 1, '2026-11-01');
INSERT INTO alert_incidents (id, alert_id, subject, status, value, opened_at, condition)
  VALUES ('inc', 'alert', 'example.com', 'open', '{}', '2026-11-01', 'score_below');
${notification('ntf-1', 'triggered')}`;

const change = (id: string, status: string, name: string): string =>
  `INSERT INTO dns_changes (id, server_id, zone, name, type, before, after, reason, status, created_at)
    VALUES ('${id}', 'server', 'example.com', '${name}', 'TXT', '{}', '{}', 'SPF', '${status}', '2026-11-28');`;

const NEW_ROWS = `
${notification('ntf-2', 'reminder')}
INSERT INTO dns_servers (id, kind, name, settings, secrets, zones, created_at)
  VALUES ('server', 'rfc2136', 'ns1', '{}', 'encrypted', '[]', '2026-11-28');
${change('change-1', 'applying', 'example.com')}
${change('change-2', 'applied', 'example.com')}
${change('change-3', 'applying', '_dmarc.example.com')}`;

const QUERIES = [
  "SELECT name || ' ' || channels AS line FROM alerts WHERE reminder_hours IS NULL",
  "SELECT subject || ' ' || status AS line FROM alert_incidents WHERE next_reminder_at IS NULL",
  "SELECT id || ' ' || news AS line FROM alert_notifications WHERE reference IS NULL ORDER BY id",
  "SELECT id || ' ' || name AS line FROM dns_changes ORDER BY id",
];

const EXPECTED = [
  'Low score ["slack"]',
  // An open incident of an earlier version gets no reminder until the rule asks for some.
  'example.com open',
  'ntf-1 triggered',
  'ntf-2 reminder',
  'change-1 example.com',
  'change-2 example.com',
  'change-3 _dmarc.example.com',
];

/** Two changes of one set of records at the same time. */
const SECOND_CHANGE = change('change-4', 'applying', 'example.com');
const TITLE = 'Migration step 19 keeps alerts, and adds reminders and changes of DNS records';

test(`${TITLE} (SQLite)`, () => {
  const old = new BetterSqlite(':memory:');
  old.exec(PREVIOUS);
  old.pragma('user_version = 18');
  old.exec(OLD_ROWS);
  assert.throws(() => old.exec(notification('ntf-0', 'reminder')), /CHECK/);
  migrateSqlite(old);
  old.exec(NEW_ROWS);
  const lines = QUERIES.flatMap((query) => old.prepare(query).pluck().all());
  assert.deepEqual(lines, EXPECTED);
  assert.throws(() => old.exec(SECOND_CHANGE), /UNIQUE/);
});

test(`${TITLE} (PostgreSQL)`, { skip: skipUnlessOnPostgres() }, async (t) => {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  const client = new pg.Client({ connectionString: await postgresDatabase(key, 'template0') });
  await client.connect();
  t.after(() => client.end());
  await migratePostgres(client, { schema: postgresSchema(PREVIOUS), version: 18, steps: [] });
  await client.query(OLD_ROWS);
  await migratePostgres(client);
  await client.query(NEW_ROWS);
  const lines: string[] = [];
  for (const query of QUERIES) {
    const { rows } = await client.query<{ line: string }>(query);
    lines.push(...rows.map(({ line }) => line));
  }
  assert.deepEqual(lines, EXPECTED);
  await assert.rejects(client.query(SECOND_CHANGE), /duplicate key/);
});

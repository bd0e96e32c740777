/** The database: settings, creation, migrations, rejected files, and the lock. */

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { StoreError } from '../../src/store/errors.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/open.ts';
import { SCHEMA } from '../../src/store/schema.generated.ts';
import { lockStore } from '../../src/store/sqlite/lock.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'store-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The schema in SQLite, without comments and spaces. */
function shapeOf(sqlite: BetterSqlite.Database): string[] {
  const rows = sqlite
    .prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name')
    .all() as { sql: string }[];
  return rows.map(({ sql }) =>
    sql
      .replace(/--[^\n]*/g, '')
      .replace(/\s+/g, ' ')
      .replace(/ (?=[,)])/g, ''),
  );
}

test('openStore creates a database with WAL, foreign keys and durable settings', async (t) => {
  const path = join(folder(t), 'new', 'd.db');
  const store = await openStore(path);
  t.after(() => store.close());
  assert.deepEqual(store.migration, { from: 0, to: SCHEMA_VERSION, backup: null });
  // The WAL exists from the first write on.
  await store.db.insertInto('service_facts').values({ name: 'a', value: 'b' }).execute();
  const pragma = async (name: string) => {
    const { sql } = await import('kysely');
    const { rows } = await sql.raw<Record<string, unknown>>(`PRAGMA ${name}`).execute(store.db);
    return Object.values(rows[0]!)[0];
  };
  assert.equal(await pragma('journal_mode'), 'wal');
  // NORMAL, because wal-sync makes commits durable.
  assert.equal(await pragma('synchronous'), 1);
  assert.equal(await pragma('foreign_keys'), 1);
  assert.equal(await pragma('busy_timeout'), 0);
});

for (const file of readdirSync(new URL('../fixtures/schemas/', import.meta.url))) {
  test(`Migrating released schema ${file} yields the current schema`, () => {
    const version = Number(/^v(\d+)\.sql$/.exec(file)?.[1]);
    const old = new BetterSqlite(':memory:');
    old.exec(readFileSync(new URL(`../fixtures/schemas/${file}`, import.meta.url), 'utf8'));
    old.pragma(`user_version = ${version}`);
    migrate(old);
    const fresh = new BetterSqlite(':memory:');
    migrate(fresh);
    assert.deepEqual(shapeOf(old), shapeOf(fresh));
    assert.equal(old.pragma('user_version', { simple: true }), SCHEMA_VERSION);
  });
}

test('Migration step 7 fills incident conditions and notification outcomes', () => {
  const old = new BetterSqlite(':memory:');
  old.exec(readFileSync(new URL('../fixtures/schemas/v6.sql', import.meta.url), 'utf8'));
  old.pragma('user_version = 6');
  const time = '2026-11-21T10:00:00.000Z';
  const values = {
    score: '{"score":1,"threshold":50}',
    auth: '{"spf":"fail","dkim":"pass","dmarc":null}',
    lists: '{"lists":[]}',
  };
  for (const [id, value] of Object.entries(values))
    old
      .prepare(
        "INSERT INTO alert_incidents (id, alert_id, subject, status, value, opened_at) VALUES (?, 'gone', ?, 'open', ?, ?)",
      )
      .run(id, id, value, time);
  for (const status of ['queued', 'sent', 'failed'])
    old
      .prepare(
        "INSERT INTO outbox (id, created_at, recipient, status, error) VALUES (?, ?, 'a@example.com', ?, ?)",
      )
      .run(`mail_${status}`, time, status, status === 'failed' ? 'refused' : null);
  for (const name of ['queued', 'sent', 'failed', 'forgotten'])
    old
      .prepare(
        "INSERT INTO alert_notifications (id, alert_id, news, channel, status, mail_id, created_at) VALUES (?, 'gone', 'test', 'email', 'queued', ?, ?)",
      )
      .run(name, `mail_${name}`, time);
  migrate(old);
  assert.deepEqual(
    old.prepare('SELECT id, condition, threshold FROM alert_incidents ORDER BY id').raw().all(),
    [
      ['auth', 'auth_fail', null],
      ['lists', 'blocklist_hit', null],
      ['score', 'score_below', 50],
    ],
  );
  assert.deepEqual(
    old.prepare('SELECT id, status, error FROM alert_notifications ORDER BY id').raw().all(),
    [
      ['failed', 'failed', 'refused'],
      ['forgotten', 'sent', 'the outcome of this email is no longer known'],
      ['queued', 'queued', null],
      ['sent', 'sent', null],
    ],
  );
});

test('Migration step 8 makes existing webhook endpoints live', () => {
  const old = new BetterSqlite(':memory:');
  old.exec(readFileSync(new URL('../fixtures/schemas/v7.sql', import.meta.url), 'utf8'));
  old.pragma('user_version = 7');
  old.exec(
    "INSERT INTO webhook_endpoints (id, url, events, enabled, secret, created_at) VALUES ('whe_1', 'https://example.com/', '[]', 1, 's', 'now')",
  );
  migrate(old);
  const rows = old.prepare('SELECT id, livemode FROM webhook_endpoints').raw().all();
  assert.deepEqual(rows, [['whe_1', 1]]);
});

test('Migration step 15 accepts values of newer versions and keeps the rows', (t) => {
  const path = join(folder(t), 'd.db');
  const old = new BetterSqlite(path);
  old.exec(readFileSync(new URL('../fixtures/schemas/v12.sql', import.meta.url), 'utf8'));
  old.pragma('user_version = 12');
  const insert = `INSERT INTO alerts (id, name, condition, channels, enabled, created_at)
    VALUES (?, 'Rule', ?, '["email"]', 1, '2026-11-21T10:00:00.000Z')`;
  old.prepare(insert).run('alt_1', 'score_below');
  assert.throws(() => old.prepare(insert).run('alt_2', 'of_tomorrow'), /CHECK constraint failed/);
  migrate(old);
  old.prepare(insert).run('alt_2', 'of_tomorrow');
  assert.deepEqual(old.pragma('integrity_check', { simple: true }), 'ok');
  assert.deepEqual(old.pragma('foreign_key_check'), []);
  // The protection against changes of the schema is on again.
  assert.throws(() => old.exec("UPDATE sqlite_schema SET sql = '' WHERE name = 'alerts'"));
  old.close();
  const reopened = new BetterSqlite(path);
  t.after(() => reopened.close());
  const conditions = reopened.prepare('SELECT condition FROM alerts ORDER BY id').pluck().all();
  assert.deepEqual(conditions, ['score_below', 'of_tomorrow']);
  assert.throws(() => reopened.prepare('UPDATE alerts SET enabled = NULL').run(), /NOT NULL/);
});

test('Migration steps are numbered without gaps up to SCHEMA_VERSION', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    Array.from({ length: SCHEMA_VERSION - 1 }, (_, i) => i + 2),
  );
});

test('migrate backs up an older database and runs all steps in one transaction', (t) => {
  const path = join(folder(t), 'd.db');
  const sqlite = new BetterSqlite(path);
  t.after(() => sqlite.close());
  migrate(sqlite, { schema: SCHEMA, version: 1, steps: [] });
  const add = {
    version: 2,
    sqlite: (db: BetterSqlite.Database) => db.exec('CREATE TABLE a (x TEXT)'),
  };
  const bad = {
    version: 3,
    sqlite: (db: BetterSqlite.Database) => db.exec('CREATE TABLE a (x TEXT)'),
  };
  assert.throws(
    () => migrate(sqlite, { schema: '', version: 3, steps: [add, bad] }),
    /already exists/,
  );
  assert.equal(sqlite.pragma('user_version', { simple: true }), 1);
  const done = migrate(sqlite, { schema: '', version: 2, steps: [add] });
  assert.equal(done.from, 1);
  assert.equal(sqlite.pragma('user_version', { simple: true }), 2);
  const copy = new BetterSqlite(done.backup!);
  t.after(() => copy.close());
  assert.equal(copy.pragma('user_version', { simple: true }), 1);
});

test('openStore rejects a newer database and leaves it unchanged', async (t) => {
  const path = join(folder(t), 'd.db');
  const sqlite = new BetterSqlite(path);
  sqlite.pragma('user_version = 999');
  sqlite.close();
  await assert.rejects(
    openStore(path),
    (error) => error instanceof StoreError && /version 999/.test(error.message),
  );
});

test('openStore rejects non-SQLite files and databases of other programs', async (t) => {
  const dir = folder(t);
  writeFileSync(
    join(dir, 'text.db'),
    'this is not a database, but long enough to look at'.repeat(100),
  );
  await assert.rejects(openStore(join(dir, 'text.db')), /not an SQLite database/);
  const other = new BetterSqlite(join(dir, 'other.db'));
  other.exec('CREATE TABLE theirs (x)');
  other.close();
  await assert.rejects(openStore(join(dir, 'other.db')), /of another program/);
});

test('openStore names a directory it cannot create', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'file'), '');
  await assert.rejects(openStore(join(dir, 'file', 'd.db')), (error) => {
    return error instanceof StoreError && error.message.includes(join('file', 'd.db'));
  });
});

test('openStore names a directory it cannot write', {
  skip: process.getuid?.() === 0 && 'root may write anywhere',
}, async (t) => {
  const dir = folder(t);
  chmodSync(dir, 0o500);
  await assert.rejects(openStore(join(dir, 'd.db')), StoreError);
});

test('lockStore allows one holder at a time', (t) => {
  const path = join(folder(t), 'd.db');
  const release = lockStore(path);
  assert.throws(() => lockStore(path), /Another instance of the service/);
  release();
  lockStore(path)();
});

test('Queries outside a transaction never run inside it', async (t) => {
  const store = await openStore(':memory:');
  t.after(() => store.close());
  const member = (id: string, role: 'owner' | 'member') => ({
    id,
    email: id,
    name: id,
    role,
    joined_at: '',
  });
  const failing = store.db.transaction().execute(async (tx) => {
    await tx.insertInto('members').values(member('a', 'member')).execute();
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('no');
  });
  const beside = store.db.insertInto('members').values(member('b', 'member')).execute();
  await assert.rejects(failing, /^Error: no$/);
  await beside;
  const rows = await store.db.selectFrom('members').select('id').execute();
  assert.deepEqual(rows, [{ id: 'b' }]);
});

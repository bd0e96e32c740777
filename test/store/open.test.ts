/** The database: settings, creation, migrations, rejected files, and the lock. */

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { StoreError } from '../../src/store/errors.ts';
import { FIRST_VERSION, MIGRATIONS, SCHEMA_VERSION } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/open.ts';
import { SCHEMA } from '../../src/store/schema.generated.ts';
import { lockStore } from '../../src/store/sqlite/lock.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';
import { FIRST_SCHEMA } from './first-version.ts';

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

test('Migrating the first schema yields the current schema', () => {
  const old = new BetterSqlite(':memory:');
  old.exec(FIRST_SCHEMA);
  old.pragma(`user_version = ${FIRST_VERSION}`);
  migrate(old);
  const fresh = new BetterSqlite(':memory:');
  migrate(fresh);
  assert.deepEqual(shapeOf(old), shapeOf(fresh));
  assert.equal(old.pragma('user_version', { simple: true }), SCHEMA_VERSION);
});

test('Migration steps are numbered without gaps up to SCHEMA_VERSION', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    Array.from({ length: SCHEMA_VERSION - FIRST_VERSION }, (_, i) => FIRST_VERSION + 1 + i),
  );
});

test('migrate backs up an older database and runs all steps in one transaction', (t) => {
  const path = join(folder(t), 'd.db');
  const sqlite = new BetterSqlite(path);
  t.after(() => sqlite.close());
  migrate(sqlite, { schema: SCHEMA, version: 31, steps: [] });
  const add = {
    version: 32,
    sqlite: (db: BetterSqlite.Database) => db.exec('CREATE TABLE a (x TEXT)'),
  };
  const bad = {
    version: 33,
    sqlite: (db: BetterSqlite.Database) => db.exec('CREATE TABLE a (x TEXT)'),
  };
  assert.throws(
    () => migrate(sqlite, { schema: '', version: 33, steps: [add, bad] }),
    /already exists/,
  );
  assert.equal(sqlite.pragma('user_version', { simple: true }), 31);
  const done = migrate(sqlite, { schema: '', version: 32, steps: [add] });
  assert.equal(done.from, 31);
  assert.equal(sqlite.pragma('user_version', { simple: true }), 32);
  const copy = new BetterSqlite(done.backup!);
  t.after(() => copy.close());
  assert.equal(copy.pragma('user_version', { simple: true }), 31);
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

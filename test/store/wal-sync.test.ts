/** Writes resolve after their WAL sync; other work proceeds meanwhile. */

import assert from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import BetterSqlite from 'better-sqlite3';
import { Kysely, sql } from 'kysely';
import { openStore } from '../../src/store/open.ts';
import { sqliteDialect } from '../../src/store/sqlite/dialect.ts';
import { createWalSync } from '../../src/store/sqlite/wal-sync.ts';
import { temporaryFolder } from '../helpers/app.ts';

interface Tables {
  notes: { n: number };
}

/** A database whose WAL syncs finish when the test says so. */
function open(t: TestContext) {
  const path = join(temporaryFolder(t), 'a.db');
  const sqlite = new BetterSqlite(path);
  sqlite.pragma('journal_mode = WAL');
  sqlite.exec('CREATE TABLE notes (n INTEGER NOT NULL CHECK (n >= 0)) STRICT');
  const asked: PromiseWithResolvers<void>[] = [];
  const db = new Kysely<Tables>({
    dialect: sqliteDialect(sqlite, {
      waitForSync() {
        const one = Promise.withResolvers<void>();
        asked.push(one);
        return one.promise;
      },
      async close() {},
    }),
  });
  t.after(() => db.destroy());
  const insert = (n: number) => db.insertInto('notes').values({ n });
  return {
    db,
    asked,
    insert,
    note: (n: number) =>
      db.transaction().execute((tx) => tx.insertInto('notes').values({ n }).execute()),
    numbers: async () => (await db.selectFrom('notes').selectAll().execute()).map(({ n }) => n),
  };
}

/** Whether the promise settles without a WAL sync. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let is = false;
  promise.then(
    () => (is = true),
    () => (is = true),
  );
  for (let i = 0; i < 5; i++) await nextTurn();
  return is;
}

test('A transaction resolves only after its WAL sync; others proceed meanwhile', async (t) => {
  const { note, asked, numbers } = open(t);
  const first = note(1);
  assert.equal(await settled(first), false);
  const second = note(2);
  assert.equal(await settled(second), false);
  assert.equal(asked.length, 2);
  assert.deepEqual(await numbers(), [1, 2]);
  asked[0]!.resolve();
  assert.equal(await settled(first), true);
  assert.equal(await settled(second), false);
  asked[1]!.resolve();
  await second;
});

test('A single write statement resolves only after its WAL sync', async (t) => {
  const { insert, asked } = open(t);
  const plain = insert(1).execute();
  assert.equal(await settled(plain), false);
  const returning = insert(2).returning('n').execute();
  assert.equal(await settled(returning), false);
  for (const { resolve } of asked) resolve();
  await plain;
  assert.deepEqual(await returning, [{ n: 2 }]);
});

test('Reads do not wait for a WAL sync', async (t) => {
  const { db, asked, numbers } = open(t);
  await numbers();
  await db.transaction().execute((tx) => tx.selectFrom('notes').selectAll().execute());
  assert.equal(asked.length, 0);
});

test('A failed transaction is rolled back without a WAL sync', async (t) => {
  const { note, asked, numbers } = open(t);
  await assert.rejects(note(-1));
  assert.equal(asked.length, 0);
  assert.deepEqual(await numbers(), []);
});

/** A database with frames in its WAL, and the given sync options. */
async function withLog(t: TestContext) {
  const path = join(temporaryFolder(t), 'a.db');
  const store = await openStore(path);
  t.after(() => store.close());
  await sql`CREATE TABLE notes (n INTEGER)`.execute(store.db);
  assert.ok(existsSync(`${path}-wal`));
  const asked: PromiseWithResolvers<void>[] = [];
  const fatal: unknown[] = [];
  const sync = createWalSync(path, {
    syncFile() {
      const one = Promise.withResolvers<void>();
      asked.push(one);
      return one.promise;
    },
    fatal: (error) => fatal.push(error),
  });
  return { sync, asked, fatal };
}

const never = async () => assert.fail('nothing is to be rescued');
const EIO = Object.assign(new Error('i/o error'), { code: 'EIO' });

test('Concurrent writers share a WAL sync; one already running does not count', async (t) => {
  const { sync, asked } = await withLog(t);
  const first = sync.waitForSync(never);
  assert.equal(await settled(first), false);
  while (asked.length === 0) await nextTurn();
  const [second, third] = [sync.waitForSync(never), sync.waitForSync(never)];
  asked[0]!.resolve();
  await first;
  while (asked.length === 1) await nextTurn();
  assert.equal(await settled(second), false);
  const closed = sync.close();
  asked[1]!.resolve();
  await Promise.all([second, third, closed]);
  assert.equal(asked.length, 2);
  await sync.close();
});

test('When WAL sync fails, writers wait until the fallback has saved the data', async (t) => {
  const { sync, asked, fatal } = await withLog(t);
  const rescue = Promise.withResolvers<void>();
  let rescues = 0;
  const by = () => {
    rescues++;
    return rescue.promise;
  };
  const first = sync.waitForSync(by);
  while (asked.length === 0) await nextTurn();
  assert.equal(await settled(first), false);
  asked[0]!.reject(EIO);
  const second = sync.waitForSync(by);
  while (rescues === 0) await nextTurn();
  assert.equal(await settled(first), false);
  assert.equal(await settled(second), false);
  assert.equal(rescues, 1);
  rescue.resolve();
  await first;
  while (!asked[1]) await nextTurn();
  asked[1].resolve();
  await second;
  assert.deepEqual(fatal, []);
  await sync.close();
});

test('When the fallback fails too, no writer is acknowledged', async (t) => {
  const { sync, asked, fatal } = await withLog(t);
  const first = sync.waitForSync(async () => {
    throw EIO;
  });
  while (asked.length === 0) await nextTurn();
  assert.equal(await settled(first), false);
  asked[0]!.reject(EIO);
  while (fatal.length === 0) await nextTurn();
  assert.equal(await settled(first), false);
  assert.deepEqual(fatal, [EIO]);
  assert.equal(await settled(sync.waitForSync(never)), false);
});

test('A commit whose WAL sync fails is checkpointed into the database file', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  const sqlite = new BetterSqlite(path);
  sqlite.pragma('journal_mode = WAL');
  sqlite.exec('CREATE TABLE notes (n INTEGER NOT NULL) STRICT');
  const sync = createWalSync(path, {
    syncFile: async () => {
      throw EIO;
    },
    fatal: (error) => assert.fail(String(error)),
  });
  const db = new Kysely<Tables>({ dialect: sqliteDialect(sqlite, sync) });
  t.after(() => db.destroy());
  await db.transaction().execute((tx) => tx.insertInto('notes').values({ n: 7 }).execute());
  // Without the WAL, as if it were lost.
  const copy = `${path}.copy`;
  copyFileSync(path, copy);
  const other = new BetterSqlite(copy);
  assert.deepEqual(other.prepare('SELECT n FROM notes').pluck().all(), [7]);
  other.close();
});

test('Statements after an implicit rollback are not committed on their own', async (t) => {
  const { db, numbers } = open(t);
  const rolledBack = db.transaction().execute(async (tx) => {
    await sql`INSERT OR ROLLBACK INTO notes VALUES (-1)`.execute(tx).catch(() => {});
    await tx.insertInto('notes').values({ n: 3 }).execute();
  });
  await assert.rejects(rolledBack, { code: 'SQLITE_FULL' });
  assert.deepEqual(await numbers(), []);
});

test('A writer waits for another process’s lock without blocking other work', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'a.db');
  const store = await openStore(path);
  t.after(() => store.close());
  const insert = (name: string) =>
    store.db.insertInto('service_facts').values({ name, value: '' }).execute();
  await insert('first');
  const other = new BetterSqlite(path);
  other.exec('BEGIN IMMEDIATE');
  const alone = insert('alone');
  const together = store.db
    .transaction()
    .execute((tx) => tx.insertInto('service_facts').values({ name: 'b', value: '' }).execute());
  assert.equal(await settled(alone), false);
  other.exec('COMMIT');
  other.close();
  await Promise.all([alone, together]);
});

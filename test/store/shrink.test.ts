/** The database file returns the space of deleted rows, and restored copies of older files can too. */

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { restoreBackup } from '../../src/store/sqlite/backup.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { readFreeSpace, shrink } from '../../src/store/sqlite/shrink.ts';
import type { Db } from '../../src/store/types.ts';
import { temporaryFolder } from '../helpers/app.ts';

const CHUNKS = 400;

async function fill(db: Db, deleted: number): Promise<void> {
  const bytes = Buffer.alloc(20_000, 120);
  const values = Array.from({ length: CHUNKS }, (_, position) => ({
    message_id: 'msg_x',
    position,
    bytes,
  }));
  await db.insertInto('message_chunks').values(values).execute();
  await db.deleteFrom('message_chunks').where('position', '<', deleted).execute();
}

test('A file with much free space shrinks to its rows and a reserve', async (t) => {
  const path = join(temporaryFolder(t), 'x.db');
  const store = openSqlite(path);
  t.after(() => store.close());
  await fill(store.db, CHUNKS * 0.9);
  const before = await readFreeSpace(store.db);
  assert.ok(before.canShrink);
  const bytes = await shrink(store.db, { minBytes: 1e6 });
  const after = await readFreeSpace(store.db);
  assert.equal(after.size, before.size - bytes);
  const used = before.size - before.free;
  assert.ok(after.size < used * 1.1, `${used} bytes in use, ${after.size} in the file`);
  assert.ok(after.free > 0, 'some space remains for new rows');
  const rows = await store.db.selectFrom('message_chunks').select('position').execute();
  assert.equal(rows.length, CHUNKS * 0.1);
  await store.close();
  assert.equal(statSync(path).size, after.size);
  const sqlite = new BetterSqlite(path, { readonly: true });
  assert.equal(sqlite.pragma('integrity_check', { simple: true }), 'ok');
  sqlite.close();
});

test('A file with little free space stays as it is', async (t) => {
  const store = openSqlite(join(temporaryFolder(t), 'x.db'));
  t.after(() => store.close());
  await fill(store.db, CHUNKS * 0.1);
  assert.equal(await shrink(store.db, { minBytes: 100_000 }), 0, 'a tenth of it is free');
  await store.db
    .deleteFrom('message_chunks')
    .where('position', '<', CHUNKS / 2)
    .execute();
  assert.equal(await shrink(store.db), 0, 'a few megabytes are free');
  assert.ok((await shrink(store.db, { minBytes: 100_000 })) > 0);
});

test('An older file does not shrink until it is restored from a backup', async (t) => {
  const folder = temporaryFolder(t);
  const [path, copy] = [join(folder, 'old.db'), join(folder, 'restored.db')];
  const old = openSqlite(path);
  await fill(old.db, CHUNKS * 0.9);
  await old.close();
  const sqlite = new BetterSqlite(path);
  sqlite.pragma('journal_mode = DELETE');
  sqlite.pragma('auto_vacuum = NONE');
  sqlite.exec('VACUUM');
  sqlite.close();
  const reopened = openSqlite(path);
  assert.equal((await readFreeSpace(reopened.db)).canShrink, false);
  assert.equal(await shrink(reopened.db, { minBytes: 0 }), 0);
  await reopened.close();
  restoreBackup(path, copy, () => {});
  const restored = openSqlite(copy);
  t.after(() => restored.close());
  assert.equal((await readFreeSpace(restored.db)).canShrink, true);
});

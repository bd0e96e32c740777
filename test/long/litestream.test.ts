/** The service works beside a program that replicates its file as Litestream does. */

// @one-database: about SQLite files.

import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { openStore } from '../../src/store/open.ts';
import { shrink } from '../../src/store/sqlite/shrink.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';
import { sqliteEnvironment } from '../helpers/store.ts';

const MAILS = 30;
const SYNC_MS = 50;
/** Every so many syncs, it empties the log. */
const TRUNCATE_EVERY = 10;

/**
 * What Litestream 0.3 does to a database: its own two tables, a read transaction that keeps others from resetting the log,
 * and checkpoints of its own between two of them.
 */
function replicate(t: TestContext, path: string) {
  const sqlite = new BetterSqlite(path, { timeout: 1_000 });
  sqlite.exec(`
    CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);`);
  sqlite.pragma('wal_autocheckpoint = 0');
  const read = () => {
    sqlite.exec('BEGIN');
    sqlite.prepare('SELECT count(*) FROM _litestream_seq').get();
  };
  const counts = { syncs: 0, busy: 0 };
  const checkpoint = (mode: 'PASSIVE' | 'TRUNCATE') => {
    sqlite.exec('ROLLBACK');
    try {
      const [{ busy }] = sqlite.pragma(`wal_checkpoint(${mode})`) as [{ busy: number }];
      counts.busy += busy;
      sqlite.exec(
        'INSERT INTO _litestream_seq VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1',
      );
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
      counts.busy += 1;
    } finally {
      read();
    }
  };
  read();
  const timer = setInterval(() => {
    counts.syncs += 1;
    checkpoint(counts.syncs % TRUNCATE_EVERY === 0 ? 'TRUNCATE' : 'PASSIVE');
  }, SYNC_MS);
  const stop = () => {
    clearInterval(timer);
    if (sqlite.open) sqlite.close();
  };
  t.after(stop);
  return {
    counts,
    stop,
    /** A copy at one moment: nobody writes meanwhile, and the log is empty. */
    snapshot(target: string) {
      sqlite.exec('ROLLBACK');
      sqlite.pragma('wal_checkpoint(TRUNCATE)');
      sqlite.exec('BEGIN IMMEDIATE');
      copyFileSync(path, target);
      sqlite.exec('ROLLBACK');
      read();
    },
  };
}

test('Beside a replicating reader, all mail is accepted, and its copy is a complete database', async (t) => {
  const folder = temporaryFolder(t);
  const service = await startTestService(t, { folder, env: sqliteEnvironment(folder) });
  const path = service.app.config.DATABASE_URL;
  const litestream = replicate(t, path);
  const ids: string[] = [];
  for (let number = 0; number < MAILS; number++) {
    const { id, address } = await service.createTest();
    await sendMail({ port: service.smtp.port, to: address, raw: goodMessage() });
    ids.push(id);
  }
  for (const id of ids) assert.equal((await service.getTest(id, '?wait=20')).status, 'completed');
  assert.equal(await shrink(service.app.db), 0);
  assert.deepEqual(
    service.logged.filter(({ level }) => level === 'error'),
    [],
  );
  assert.ok(litestream.counts.syncs > TRUNCATE_EVERY, `${litestream.counts.syncs} syncs`);
  t.diagnostic(
    `${MAILS} messages, ${litestream.counts.syncs} syncs, ${litestream.counts.busy} of them busy`,
  );

  const target = join(temporaryFolder(t), 'restored.db');
  litestream.snapshot(target);
  const restored = await openStore(target, 'require');
  t.after(() => restored.close());
  const rows = await restored.db
    .selectFrom('tests')
    .select('id')
    .where('status', '=', 'completed')
    .execute();
  assert.deepEqual(rows.map(({ id }) => id).sort(), ids.sort());
  const check = new BetterSqlite(target, { readonly: true });
  assert.equal(check.pragma('integrity_check', { simple: true }), 'ok');
  check.close();
  // The service stops although the reader goes on.
  await service.stop();
  litestream.stop();
});

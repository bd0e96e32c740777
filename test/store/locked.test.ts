/** Another program holds the write lock of the SQLite file. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import BetterSqlite from 'better-sqlite3';
import { monotonicClock } from '../../src/lib/clock.ts';
import { isLocked } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/open.ts';
import { transact } from '../../src/store/transact.ts';
import { temporaryFolder } from '../helpers/app.ts';

async function startLocked(t: TestContext) {
  const path = join(temporaryFolder(t), 'locked.db');
  const store = await openStore(path);
  t.after(() => store.close());
  await store.db.insertInto('service_facts').values({ name: 'a', value: '1' }).execute();
  const other = new BetterSqlite(path);
  t.after(() => other.close());
  other.exec('begin immediate');
  return { db: store.db, other };
}

type Locked = Awaited<ReturnType<typeof startLocked>>;

const write = ({ db }: Pick<Locked, 'db'>, name: string) =>
  transact(db, (tx) => tx.insertInto('service_facts').values({ name, value: '2' }).execute());
const read = ({ db }: Pick<Locked, 'db'>) =>
  db.selectFrom('service_facts').select('name').orderBy('name').execute();

test('Reads succeed while writes wait, and nothing blocks the process', async (t) => {
  const locked = await startLocked(t);
  const writes = Promise.all(['b', 'c', 'd'].map((name) => write(locked, name)));
  const single = locked.db.insertInto('service_facts').values({ name: 'e', value: '2' }).execute();
  for (let round = 0; round < 5; round++) {
    const startedAt = monotonicClock.now();
    assert.deepEqual(await read(locked), [{ name: 'a' }]);
    await pause(20);
    assert.ok(monotonicClock.now() - startedAt < 500, `${monotonicClock.now() - startedAt} ms`);
  }
  locked.other.exec('commit');
  await writes;
  await single;
  assert.deepEqual(
    (await read(locked)).map(({ name }) => name),
    ['a', 'b', 'c', 'd', 'e'],
  );
});

test('Writes that wait too long fail together, not one after the other', async (t) => {
  const locked = await startLocked(t);
  const startedAt = monotonicClock.now();
  const names = Array.from({ length: 20 }, (_, index) => `name ${index}`);
  const results = await Promise.allSettled(names.map((name) => write(locked, name)));
  assert.ok(results.every((result) => result.status === 'rejected' && isLocked(result.reason)));
  const took = monotonicClock.now() - startedAt;
  assert.ok(took < 6_000, `${took} ms`);
  locked.other.exec('rollback');
  await write(locked, 'b');
  assert.deepEqual(await read(locked), [{ name: 'a' }, { name: 'b' }]);
});

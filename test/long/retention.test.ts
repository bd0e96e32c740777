/** Deleting a large backlog of old tests blocks nothing, and the database file shrinks afterwards. */

// @alone: measures stalls of the event loop.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { isoTime } from '../../src/lib/clock.ts';
import { deleteOldTests } from '../../src/mailtests/expire.ts';
import { deleteOrphanedChunks } from '../../src/store/chunks.ts';
import { shrink } from '../../src/store/sqlite/shrink.ts';
import { completeTest } from '../alerts/alerting.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { skipOnPostgres } from '../helpers/store.ts';

const DAY_MS = 86_400_000;
const SMALL = 3_000;
const LARGE = 4;
const LARGE_BYTES = 25 * 1024 * 1024;
const KEPT = 500;
const CHUNK_BYTES = 512 * 1024;

test('Deleting 3,000 old tests and 100 MB of large messages delays nothing, and the file shrinks', {
  skip: skipOnPostgres,
}, async (t) => {
  const service = await startTestService(t, { folder: folderOnDisk(t) });
  const file = join(service.folder, 'deliverability.db');
  const kept = await fill(service, file);
  const before = statSync(file).size;
  const deletion = await measure(service, kept, async () => {
    await deleteOldTests(service.app);
    await deleteOrphanedChunks(service.app);
  });
  const shrinking = await measure(service, kept, async () => {
    await shrink(service.app.db);
  });
  checkpoint(file);
  const after = statSync(file).size;
  t.diagnostic(
    `deletion: ${describe(deletion)}; shrinking: ${describe(shrinking)}; file: ${mb(before)} → ${mb(after)}`,
  );
  const count = async (table: 'tests' | 'messages' | 'message_chunks') =>
    (
      await service.app.db
        .selectFrom(table)
        .select(table === 'message_chunks' ? 'message_id' : ('id' as never))
        .execute()
    ).length;
  assert.deepEqual(
    [await count('tests'), await count('messages'), await count('message_chunks')],
    [KEPT, KEPT, KEPT],
  );
  // The time of the machine is shared with other programs, so only the work of the thread is certain.
  for (const { cpu } of [deletion, shrinking]) assert.ok(cpu < 100, `${cpu} ms`);
  assert.ok(after < before / 10, `${before} → ${after}`);
});

/** Data folders of tests are in memory, and this is about the file. */
function folderOnDisk(t: TestContext): string {
  const folder = mkdtempSync(join(import.meta.dirname, '.retention-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Copies one test with SQL, because inserting each through the service takes minutes. Returns the id of a recent one. */
async function fill({ app }: TestService, file: string): Promise<string> {
  const old = isoTime(app.clock.now() - 100 * DAY_MS);
  const template = await completeTest(app, { created_at: old, completed_at: old });
  const sqlite = new BetterSqlite(file, { timeout: 10_000 });
  const columns = Object.keys(template).filter(
    (name) => !['id', 'token', 'created_at'].includes(name),
  );
  const insertTest = sqlite.prepare(
    `INSERT INTO tests (id, token, created_at, ${columns}) SELECT ?, ?, ?, ${columns} FROM tests WHERE id = ?`,
  );
  const insertMessage = sqlite.prepare(
    "INSERT INTO messages VALUES (?, ?, 'x@inbox.test', ?, ?, '{}', ?)",
  );
  const insertChunk = sqlite.prepare('INSERT INTO message_chunks VALUES (?, ?, ?)');
  const insert = (id: string, createdAt: string, size: number) => {
    insertTest.run(`test_${id}`, id, createdAt, template.id);
    insertMessage.run(`msg_${id}`, `test_${id}`, 'x', size, createdAt);
    for (let position = 0; position * CHUNK_BYTES < size; position++)
      insertChunk.run(
        `msg_${id}`,
        position,
        Buffer.alloc(Math.min(CHUNK_BYTES, size - position * CHUNK_BYTES), 120),
      );
  };
  const some = (from: number, to: number, createdAt: string, size: number) =>
    sqlite.transaction(() => {
      for (let i = from; i < to; i++) insert(`00a${String(i).padStart(20, '0')}`, createdAt, size);
    })();
  try {
    for (let i = 0; i < SMALL; i += 500) some(i, i + 500, old, 20_000);
    for (let i = SMALL; i < SMALL + LARGE; i++) some(i, i + 1, old, LARGE_BYTES);
    some(SMALL + LARGE, SMALL + LARGE + KEPT, isoTime(app.clock.now()), 20_000);
    sqlite.prepare('DELETE FROM tests WHERE id = ?').run(template.id);
    sqlite.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    sqlite.close();
  }
  return `test_00a${String(SMALL + LARGE).padStart(20, '0')}`;
}

interface Measured {
  ms: number;
  /** The longest time without a timer, and the longest time that the thread worked meanwhile. */
  stall: number;
  cpu: number;
  slowestRead: number;
  slowestWrite: number;
}

/** Reads and creates tests over HTTP while `work` runs. */
async function measure(
  service: TestService,
  id: string,
  work: () => Promise<void>,
): Promise<Measured> {
  const measured: Measured = { ms: 0, stall: 0, cpu: 0, slowestRead: 0, slowestWrite: 0 };
  let last = { wall: performance.now(), cpu: cpuTime() };
  const timer = setInterval(() => {
    const now = { wall: performance.now(), cpu: cpuTime() };
    measured.stall = Math.max(measured.stall, now.wall - last.wall - 5);
    measured.cpu = Math.max(measured.cpu, now.cpu - last.cpu);
    last = now;
  }, 5).unref();
  let isDone = false;
  const startedAt = performance.now();
  const working = work().finally(() => {
    isDone = true;
  });
  const timed = async (request: () => Promise<{ status: number }>, status: number) => {
    const from = performance.now();
    assert.equal((await request()).status, status);
    return performance.now() - from;
  };
  while (!isDone) {
    const read = await timed(() => service.call('GET', `/v1/tests/${id}`), 200);
    const write = await timed(
      () => service.call('POST', '/v1/api_keys', { json: { name: 'x' } }),
      201,
    );
    measured.slowestRead = Math.max(measured.slowestRead, read);
    measured.slowestWrite = Math.max(measured.slowestWrite, write);
  }
  await working;
  clearInterval(timer);
  return { ...measured, ms: performance.now() - startedAt };
}

function checkpoint(file: string): void {
  const sqlite = new BetterSqlite(file, { timeout: 10_000 });
  sqlite.pragma('wal_checkpoint(TRUNCATE)');
  sqlite.close();
}

const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
const describe = ({ ms, stall, cpu, slowestRead, slowestWrite }: Measured): string =>
  `${Math.round(ms)} ms, longest stall ${Math.round(stall)} ms (${Math.round(cpu)} ms of work), slowest read ${Math.round(slowestRead)} ms, slowest write ${Math.round(slowestWrite)} ms`;

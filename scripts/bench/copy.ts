/** Copies of a database with 100,000 tests from SQLite to PostgreSQL and back, with the comparison. */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CopiedTable, copyDatabase } from '../../src/store/copy/copy.ts';
import { openStore } from '../../src/store/open.ts';
import { startBenchServer } from './postgres.ts';
import { fillTests } from './recorded-tests.ts';

const TESTS = 100_000;

export async function benchCopy() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const server = await startBenchServer();
  try {
    await fillTests(folder, TESTS);
    const original = join(folder, 'deliverability.db');
    const url = await server.create('copy');
    const there = await timedCopy(original, url);
    const back = await timedCopy(url, join(folder, 'copy.db'));
    if (JSON.stringify(there.tables) !== JSON.stringify(back.tables))
      throw new Error('The copies have different hashes');
    return {
      tests: TESTS,
      rows: there.tables.reduce((sum, { rows }) => sum + rows, 0),
      sqlite_bytes: statSync(original).size,
      to_postgres_seconds: there.seconds,
      to_sqlite_seconds: back.seconds,
      tests_sha256: there.tables.find(({ name }) => name === 'tests')!.sha256,
    };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timedCopy(
  from: string,
  to: string,
): Promise<{ seconds: number; tables: CopiedTable[] }> {
  const source = await openStore(from, 'require');
  const target = await openStore(to, 'create');
  const startedAt = performance.now();
  const tables = await copyDatabase(source, target);
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  await Promise.all([source.close(), target.close()]);
  return { seconds, tables };
}

/** A summary on PostgreSQL reads one snapshot, and is read again if its connection is lost. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { systemClock } from '../../src/lib/clock.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { countTest } from '../../src/mailtests/tally.ts';
import { type Db, transact } from '../../src/store/open.ts';
import type { TestRow } from '../../src/store/tables.generated.ts';
import { periodEndingAt, summarize } from '../../src/summary/summary.ts';
import { execute, newDatabase, openAt } from '../helpers/nodes.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { seededRandom } from '../helpers/random.ts';
import { randomTest } from '../mailtests/counted-tests.ts';

const skip = skipUnlessOnPostgres();
const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 3, 1, 8);
const SPAN = periodEndingAt(NOW, 'day');
const TESTS = 20;

/** A database with tests in the current period, and none in the previous one. */
async function prepare(t: TestContext) {
  const url = await newDatabase(t);
  const { db } = await openAt(t, url);
  const random = seededRandom(1);
  const context = { newId: createIdGenerator(systemClock), clock: systemClock };
  const rows = Array.from({ length: TESTS }, () => ({
    ...randomTest(context as never, random, { at: SPAN.to - 2 * HOUR_MS, domains: [null] }),
    livemode: 1,
    status: 'completed' as const,
  }));
  await transact(db, async (tx) => {
    for (const row of rows) await countTest(tx, row, 1);
  });
  return { url, db, rows };
}

/** Runs `work` between the first query of a summary and its second. */
function afterFirstQuery(db: Db, work: () => Promise<void>): Db {
  let isFirst = true;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isFirst) {
        isFirst = false;
        await work();
      }
      return result;
    },
  };
  return db.withPlugin(plugin);
}

async function countsOf(db: Db): Promise<[number, number]> {
  const { total_tests, previous } = await summarize(
    db,
    { ...SPAN, livemode: true, domains: null },
    [],
  );
  return [total_tests, previous.total_tests];
}

test('A summary contains nothing that is committed after it began', { skip }, async (t) => {
  const { url, db, rows } = await prepare(t);
  const other = await openAt(t, url);
  const completed_at = new Date(SPAN.from - HOUR_MS).toISOString();
  const move = (row: TestRow) =>
    transact(other.db, async (tx) => {
      await countTest(tx, row, -1);
      await countTest(tx, { ...row, completed_at }, 1);
    });
  const moving = afterFirstQuery(db, async () => {
    for (const row of rows) await move(row);
  });
  assert.deepEqual(await countsOf(moving), [TESTS, 0]);
  assert.deepEqual(await countsOf(db), [0, TESTS]);
});

test('A summary whose connection is lost is read again', { skip }, async (t) => {
  const { url, db } = await prepare(t);
  const name = new URL(url).pathname.slice(1);
  const server = Object.assign(new URL(url), { pathname: '/postgres' }).href;
  const cut = afterFirstQuery(db, () =>
    execute(
      server,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    ),
  );
  assert.deepEqual(await countsOf(cut), [TESTS, 0]);
});

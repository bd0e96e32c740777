/** Summaries are consistent during concurrent writes, and reading them does not block the event loop. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { isoTime } from '../../src/lib/clock.ts';
import { countTest } from '../../src/mailtests/tally.ts';
import { periodOf, type SendTiming } from '../../src/schedules/times.ts';
import { type Db, inSnapshot } from '../../src/store/open.ts';
import type { TestRow } from '../../src/store/tables.generated.ts';
import { periodEndingAt, type SummarySpan, summarize } from '../../src/summary/summary.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { seededRandom } from '../helpers/random.ts';
import { databaseIn, openTestStore } from '../helpers/store.ts';
import { randomTest } from '../mailtests/counted-tests.ts';
import { recountedSummary, SEEDS } from '../summary/recounted-summary.ts';
import type { Writing } from './counting-writer.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 3, 1, 8, 20);

async function start(t: TestContext, domains: number) {
  const clock = testClock(NOW);
  const service = await startTestService(t, { clock });
  await service.app.scheduler.stop();
  const ids: string[] = [];
  for (let i = 0; i < domains; i++) {
    const json = { name: `d${i}.example` };
    ids.push((await service.call<{ id: string }>('POST', '/v1/domains', { json })).body.id);
  }
  return { service, clock, ids };
}

const rowsOf = (
  { app }: TestService,
  count: number,
  { from, to }: { from: number; to: number },
  domains: (string | null)[],
): TestRow[] => {
  const random = seededRandom(count);
  return Array.from({ length: count }, () => ({
    ...randomTest(app, random, { at: from + random.below(to - from), domains }),
    livemode: 1,
  }));
};

async function store(db: Db, rows: TestRow[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const row of rows) {
      await tx.insertInto('tests').values(row).execute();
      await countTest(tx, row, 1);
    }
  });
}

const titleOf = (check: string) => check.replace('_', ' ');

const MONTHLY: SendTiming = {
  frequency: 'monthly',
  send_hour: 8,
  timezone: 'Europe/Berlin',
  weekday: 'monday',
  day_of_month: 1,
};
/** March in Berlin, an hour shorter than usual; the previous period is February, three days shorter. */
const MARCH = periodOf(MONTHLY, Date.UTC(2026, 3, 1, 6));

test('Summaries stay consistent while another thread writes thousands of tests', async (t) => {
  const { service, ids } = await start(t, 8);
  const { db } = service.app;
  const written = { from: MARCH.previousFrom, to: NOW };
  await store(db, rowsOf(service, 3000, written, [null, ...ids]));
  const worker = new Worker(new URL('counting-writer.ts', import.meta.url), {
    workerData: {
      location: await databaseIn(service.folder),
      domains: [null, ...ids],
      ...written,
    } satisfies Writing,
  });
  t.after(() => worker.terminate());
  let count = 0;
  worker.on('message', (all: number) => {
    count = all;
  });
  const scopes: (string[] | null)[] = [null, ids.slice(0, 1), ids.slice(0, 3), ids];
  const spans: SummarySpan[] = [
    MARCH,
    ...(['day', 'week', 'month'] as const).map((p) => periodEndingAt(NOW, p)),
  ];
  const seen = new Set<number>();
  const compare = async (span: SummarySpan, domains: string[] | null) => {
    const query = { ...span, domains, livemode: true };
    const [summary, expected] = await inSnapshot(db, async (tx) => [
      await summarize(tx, query, SEEDS),
      await recountedSummary(tx, query, titleOf),
    ]);
    assert.deepEqual(summary, expected);
    if (domains === null) seen.add(summary.total_tests + summary.previous.total_tests);
  };
  while (count < 2000 || seen.size < 8)
    for (const span of spans) {
      for (const domains of scopes) await compare(span, domains);
      // Lets the other connection write.
      await once(worker, 'message');
    }
  worker.postMessage('stop');
  await once(worker, 'exit');
  for (const domains of scopes) await compare(MARCH, domains);
});

test('summarize counts tests moving between unequal periods exactly once', async (t) => {
  const { service, ids } = await start(t, 7);
  const { db } = service.app;
  const rows = rowsOf(service, 60, { from: MARCH.previousFrom, to: MARCH.from }, ids);
  await store(db, rows);
  let moving = true;
  const move = async () => {
    for (const row of rows)
      await db.transaction().execute(async (tx) => {
        await countTest(tx, row, -1);
        await countTest(tx, { ...row, completed_at: isoTime(MARCH.to - 1) }, 1);
      });
    moving = false;
  };
  const seen: number[] = [];
  const read = async () => {
    while (moving) {
      const summary = await summarize(db, { ...MARCH, domains: ids, livemode: true }, SEEDS);
      assert.equal(summary.total_tests + summary.previous.total_tests, 60);
      seen.push(summary.total_tests);
    }
  };
  await Promise.all([move(), read()]);
  assert.ok(seen.some((count) => count > 0 && count < 60));
});

test('summarize yields to other work between days of many domains', async (t) => {
  const { db } = await openTestStore(t);
  const domains = Array.from({ length: 100 }, (_, i) => `dom_${i}`);
  let turns = 0;
  let reading = true;
  const count = async () => {
    for (; reading; turns++) await nextTurn();
  };
  const counting = count();
  const span = periodEndingAt(NOW, 'month');
  await summarize(db, { ...span, domains, livemode: true }, SEEDS);
  reading = false;
  await counting;
  // At least one turn per day of the month and of the previous month.
  assert.ok(turns >= 60, `${turns}`);
  assert.equal((NOW - span.from) / DAY_MS, 30);
});

/** Sums by month and by day are the same as those by day alone, whatever happens to sources. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteRemoved, expire } from '../../../src/feedback/expire.ts';
import { assignSource } from '../../../src/feedback/sources/assign.ts';
import { SUM_COLUMNS } from '../../../src/feedback/sources/days.ts';
import { sourceIdsOf, sourcesOf } from '../../../src/feedback/sources/queries.ts';
import { type Days, dayBefore, daysOfPeriod, partsOf } from '../../../src/feedback/sums.ts';
import type { Db } from '../../../src/store/open.ts';
import { dmarc, record } from '../reading/builders.ts';
import { startFeedback } from '../start.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 22, 10, 0, 0);

/** Numbers from 0 to below `end`, the same in each run. */
function randomNumbers(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

test('The parts of a period contain each of its days once', () => {
  const random = randomNumbers(7);
  for (let round = 0; round < 2000; round++) {
    const from = dayBefore('2028-03-05', random(800));
    const to = dayBefore(from, -random(420));
    const { months, days } = partsOf({ from, to });
    const dayList = days.flatMap((part) => listOf(part));
    if (months !== null)
      dayList.push(
        ...listOf({ from: `${months.from}-01`, to: lastDayOf(months.to) }).filter(
          (day) => day.slice(0, 7) >= months.from,
        ),
      );
    assert.deepEqual(dayList.sort(), listOf({ from, to }), `${from} to ${to}`);
    // Otherwise, long periods would be read by day.
    if (months === null) assert.ok(daysOfPeriod({ from, to }) < 61);
  }
});

const listOf = ({ from, to }: Days): string[] =>
  Array.from({ length: daysOfPeriod({ from, to }) }, (_, index) => dayBefore(from, -index));

const lastDayOf = (month: string): string => {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
};

/** The sums of sources from their days alone. */
async function byDay(db: Db, domain: string, { from, to }: Days) {
  const rows = await db
    .selectFrom('feedback_source_days')
    .selectAll()
    .where('domain_id', '=', domain)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .execute();
  return [...Map.groupBy(rows, ({ source_id }) => source_id)]
    .map(([id, days]) => [
      id,
      ...SUM_COLUMNS.map((name) => days.reduce((sum, day) => sum + day[name], 0)),
    ])
    .sort();
}

test('Sums of any period are exact after imports, moves, and expiry', async (t) => {
  const feedback = await startFeedback(
    t,
    { env: { DELIVERABILITY_FEEDBACK_RETENTION: '100d' } },
    NOW,
  );
  const { service, domain, upload, clock } = feedback;
  const { app } = service;
  await app.scheduler.stop();
  const random = randomNumbers(31);
  const addresses = Array.from({ length: 8 }, (_, index) => `192.0.2.${index}`);

  async function importReport(index: number) {
    const begin = Date.parse(dayBefore('2026-11-21', random(130))) / 1000;
    const records = addresses
      .filter(() => random(3) > 0)
      .map((source) =>
        record({
          source,
          count: String(1 + random(9)),
          dkim: random(2) ? 'pass' : 'fail',
          spf: random(2) ? 'pass' : 'fail',
          disposition: ['none', 'quarantine', 'reject'][random(3)]!,
        }),
      );
    if (records.length === 0) return;
    const report = { id: `r-${index}`, begin: String(begin), end: String(begin + 86_399) };
    const [stored] = await upload(dmarc({ ...report, records: records.join('') }));
    assert.equal(stored!.status, 'counted');
  }
  const move = () => {
    const id = `${domain.id} ${addresses[random(addresses.length)]}`;
    const host = `host${random(4)}.example`;
    const name = { key: `host ${host}`, name: host, evidence: 'x' };
    return assignSource(app, { id, domain_id: domain.id }, { host, name });
  };
  async function compare(): Promise<number> {
    const to = dayBefore('2026-11-25', random(60));
    const days = { from: dayBefore(to, random(140)), to };
    const period = { domain, ...days };
    const sources = await sourcesOf(app.db, period);
    const found = sources
      .map((source) => [source.row.id, ...SUM_COLUMNS.map((name) => source[name])])
      .sort();
    assert.deepEqual(found, await byDay(app.db, domain.id, days), `${days.from} to ${days.to}`);
    const ids = sources.map(({ row }) => row.id);
    assert.deepEqual(await sourceIdsOf(app.db, period), ids);
    assert.deepEqual(await sourcesOf(app.db, period, { ids: ids.slice(1) }), sources.slice(1));
    return sources.length;
  }

  let compared = 0;
  for (let step = 0; step < 60; step++) {
    await importReport(step);
    await move();
    if (step % 20 === 19) {
      // The rows of older reports are deleted, their sums stay. Later, their addresses move without them.
      clock.advance(60 * DAY_MS);
      await expire(app);
    }
    for (let round = 0; round < 4; round++) compared += await compare();
  }
  assert.ok(compared > 100);

  await service.call('DELETE', `/v1/domains/${domain.id}`);
  await deleteRemoved(app);
  for (const table of ['feedback_source_days', 'feedback_source_months'] as const)
    assert.deepEqual(await app.db.selectFrom(table).selectAll().execute(), []);
});

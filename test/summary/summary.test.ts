/** Summaries equal a recount with plain SQL, in both modes and for every domain. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type * as v from 'valibot';
import type { Domain } from '../../src/domains/schema.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { countTest } from '../../src/mailtests/tally.ts';
import { nextSend, periodOf, periodUntil } from '../../src/schedules/times.ts';
import type { Db } from '../../src/store/open.ts';
import type { TestRow } from '../../src/store/tables.generated.ts';
import type { ReportSummary } from '../../src/summary/routes.ts';
import { PERIODS, type Period, periodEndingAt, summarize } from '../../src/summary/summary.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { type TestClock, testClock } from '../helpers/clock.ts';
import { seededRandom } from '../helpers/random.ts';
import { randomTest } from '../mailtests/counted-tests.ts';
import { recountedSummary, SEEDS } from './recounted-summary.ts';

type Answered = v.InferOutput<typeof ReportSummary>;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const HOURS: Record<Period, number> = { day: 24, week: 168, month: 720 };
const SLICES: Record<Period, number> = { day: 24, week: 7, month: 30 };

async function start(t: TestContext, at = Date.UTC(2026, 9, 25, 1, 23, 45, 678)) {
  const clock = testClock(at);
  const seeds = SEEDS.map(({ provider }, i) => ({
    provider,
    address: `seed${i}@mail.example`,
    imap: 'imap://a:b@127.0.0.1:9',
  }));
  const env = { DELIVERABILITY_SEED_MAILBOXES: JSON.stringify(seeds) };
  const service = await startTestService(t, { clock, env });
  await service.app.scheduler.stop();
  const domains: string[] = [];
  for (const name of ['example.com', 'example.net', 'example.org'])
    domains.push((await service.call<Domain>('POST', '/v1/domains', { json: { name } })).body.id);
  return { service, clock, domains };
}

async function store(db: Db, rows: TestRow[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const row of rows) {
      await tx.insertInto('tests').values(row).execute();
      await countTest(tx, row, 1);
    }
  });
}

async function ask({ call }: TestService, query: string, key?: string): Promise<Answered> {
  const { status, body, text } = await call<Answered>('GET', `/v1/reports/summary${query}`, {
    key,
  });
  assert.equal(status, 200, text);
  return body;
}

interface Scope {
  livemode: number;
  domain: string | null;
}

/** Calculates the period independently: exactly the last `HOURS[period]` hours, in slices of whole hours. */
async function recounted(
  db: Db,
  clock: TestClock,
  { livemode, domain }: Scope,
  period: Period,
): Promise<Answered> {
  const now = clock.now();
  const to = now - (now % HOUR) + HOUR;
  const length = HOURS[period] * HOUR;
  const from = now - length;
  const slices = SLICES[period];
  const boundaries = Array.from({ length: slices + 1 }, (_, i) =>
    i === 0 ? from : to - ((slices - i) * length) / slices,
  );
  const span = { from, to, previousFrom: from - length, boundaries };
  const scope = { livemode: livemode === 1, domains: domain === null ? null : [domain] };
  const summary = await recountedSummary(db, { ...span, ...scope }, titleOf);
  return { object: 'report_summary', period, ...summary, to: isoTime(now) } as Answered;
}

const titleOf = (check: string) => check.replace('_', ' ');

test('GET /v1/reports/summary equals a recount of the tests in plain SQL', async (t) => {
  const { service, clock, domains } = await start(t);
  const { app } = service;
  const random = seededRandom(23);
  const ages = [2 * HOUR, DAY, 3 * DAY, 8 * DAY, 61 * DAY];
  const rows = Array.from({ length: 1200 }, () =>
    randomTest(app, random, {
      at: clock.now() - random.below(ages[random.below(ages.length)]!),
      // None for the third domain.
      domains: [null, domains[0]!, domains[1]!],
    }),
  );
  await store(app.db, rows);
  const sandboxKey = await service.makeKey('viewer', false);
  // With time, old tests leave the periods.
  for (const later of [0, 5 * HOUR + 1]) {
    clock.advance(later);
    for (const period of PERIODS)
      for (const domain of [null, ...domains])
        for (const livemode of [1, 0]) {
          const query = `?period=${period}${domain ? `&domain_id=${domain}` : ''}`;
          const told = await ask(service, query, livemode ? service.key : sandboxKey);
          const expected = await recounted(app.db, clock, { livemode, domain }, period);
          assert.deepEqual(told, expected, `${query} ${livemode}`);
          assert.equal(told.total_tests === 0, domain === domains[2]);
        }
  }
  // The comparison was not trivial.
  const month = await ask(service, '?period=month');
  assert.equal(month.top_issues.length, 10);
  // Many samples of two mailboxes give no rate.
  const rates = month.placement.by_provider.map(({ provider, samples, inbox_rate }) => [
    provider,
    samples > 50,
    inbox_rate !== null,
  ]);
  assert.deepEqual(rates, [
    ['gmail', true, true],
    ['gmx', true, false],
  ]);
  assert.ok(month.previous.total_tests > 40 && month.total_tests > 400);
});

test('summarize equals a recount for local days of zones with minutes in their offset', async (t) => {
  // Clocks change on 4 and 5 October 2026 on Lord Howe Island, by half an hour.
  const { service, domains } = await start(t, Date.UTC(2026, 9, 6, 8));
  const { app } = service;
  const random = seededRandom(31);
  const rows = Array.from({ length: 1500 }, (_, i) =>
    randomTest(app, random, {
      at: app.clock.now() - random.below((i % 2 === 0 ? 3 : 62) * DAY),
      domains: [null, domains[0]!, domains[1]!],
    }),
  );
  await store(app.db, rows);
  for (const timezone of ['Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Europe/Berlin'])
    for (const frequency of ['daily', 'weekly', 'monthly'] as const) {
      const schedule = { frequency, timezone, send_hour: 8, weekday: 'tuesday' } as const;
      const timing = { ...schedule, day_of_month: 6 };
      const now = app.clock.now();
      const sent = periodOf(timing, nextSend(timing, now - DAY));
      for (const period of [sent, periodUntil(timing, now)])
        for (const domain of [null, domains[0]!]) {
          const scope = { livemode: true, domains: domain === null ? null : [domain] };
          const summary = await summarize(app.db, { ...period, ...scope }, SEEDS);
          const expected = await recountedSummary(app.db, { ...period, ...scope }, titleOf);
          assert.deepEqual(summary, expected, `${timezone} ${frequency} ${domain}`);
          assert.ok(summary.total_tests > 10 && summary.previous.total_tests > 10);
        }
    }
});

test('GET /v1/reports/summary without tests returns zeros for the default week', async (t) => {
  const { service } = await start(t);
  const told = await ask(service, '');
  const means = { scored: 0, avg_score: 0, inbox_rate: 0, placement_samples: 0 };
  const none = { total_tests: 0, ...means };
  const days = [19, 20, 21, 22, 23, 24].map((day) => `2026-10-${day}T02:00:00.000Z`);
  assert.deepEqual(told, {
    object: 'report_summary',
    period: 'week',
    ...none,
    from: '2026-10-18T01:23:45.678Z',
    to: '2026-10-25T01:23:45.678Z',
    grades: { A: 0, B: 0, C: 0, D: 0, F: 0 },
    auth_rates: { spf: 0, dkim: 0, dmarc: 0 },
    auth_samples: { spf: 0, dkim: 0, dmarc: 0 },
    top_issues: [],
    previous: none,
    trend: ['2026-10-18T01:23:45.678Z', ...days].map((from) => ({
      from,
      tests: 0,
      ...means,
    })),
    placement: { seeds: SEEDS.length, by_provider: [] },
    feedback: null,
    receivers: null,
  });
});

test('Summary trends use UTC hours and days whatever the machine’s time zone', async (t) => {
  const zone = process.env.TZ;
  process.env.TZ = 'Europe/Berlin';
  t.after(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  // Clocks go back in the night of 25 October, and forward on 29 March.
  for (const at of [
    Date.UTC(2026, 9, 25, 1, 30),
    Date.UTC(2026, 9, 28),
    Date.UTC(2026, 2, 29, 12),
  ]) {
    const { service } = await start(t, at);
    assert.equal(new Date(2026, 9, 25, 12).getTimezoneOffset(), -60);
    for (const period of PERIODS) {
      const { from, trend } = await ask(service, `?period=${period}`);
      const step = (HOURS[period] / SLICES[period]) * HOUR;
      const to = at - (at % HOUR) + HOUR;
      const later = Array.from({ length: SLICES[period] - 1 }, (_, i) => isoTime(to - ++i * step));
      assert.deepEqual(
        trend.map((slice) => slice.from),
        [from, ...later.toReversed()],
      );
      assert.equal(Date.parse(from), at - HOURS[period] * HOUR);
    }
  }
});

test('Summary periods include their first and last millisecond correctly', async (t) => {
  const { service, clock } = await start(t, Date.UTC(2026, 0, 1, 0, 20, 34, 567));
  const { app } = service;
  const random = seededRandom(2);
  const at = (iso: string) => ({
    ...randomTest(app, random, { at: Date.parse(iso), domains: [null] }),
    livemode: 1,
  });
  await store(app.db, [
    at('2025-12-30T00:20:34.566Z'),
    at('2025-12-30T00:20:34.567Z'),
    at('2025-12-31T00:20:34.566Z'),
    at('2025-12-31T00:20:34.567Z'),
    at('2026-01-01T00:20:34.567Z'),
  ]);
  const told = await ask(service, '?period=day');
  assert.deepEqual([told.from, told.to], ['2025-12-31T00:20:34.567Z', '2026-01-01T00:20:34.567Z']);
  assert.deepEqual([told.total_tests, told.previous.total_tests], [2, 2]);
  assert.deepEqual([told.trend[0]!.tests, told.trend[23]!.tests], [1, 1]);
  clock.advance(1);
  const later = await ask(service, '?period=day');
  assert.deepEqual([later.total_tests, later.previous.total_tests], [1, 2]);
  // On the hour, every hour is complete.
  clock.set(Date.UTC(2026, 0, 1, 0, 0, 0, 0));
  assert.equal((await ask(service, '?period=day')).from, '2025-12-31T00:00:00.000Z');
});

test('GET /v1/reports/summary rejects unknown domains and periods with 422', async (t) => {
  const { service, domains } = await start(t);
  const refused = async (query: string) => {
    const { status, body } = await service.call<{ errors: { param: string; message: string }[] }>(
      'GET',
      `/v1/reports/summary${query}`,
    );
    assert.equal(status, 422, query);
    return body.errors.map(({ param, message }) => `${param} ${message}`);
  };
  assert.deepEqual(await refused('?domain_id=dom_none'), ['domain_id is not the ID of a domain']);
  assert.deepEqual(await refused('?period=year'), ['period must be one of day, week, month']);
  assert.equal((await refused('?domain_id=&days=3')).length, 2);
  await service.call('DELETE', `/v1/domains/${domains[0]}`);
  assert.deepEqual(await refused(`?domain_id=${domains[0]}`), [
    'domain_id is not the ID of a domain',
  ]);
});

test('summarize adds up several domains, treats none as empty and honors slice boundaries', async (t) => {
  const { service, clock, domains } = await start(t);
  const { db } = service.app;
  const random = seededRandom(9);
  const [a, b, c] = domains as [string, string, string];
  const rows = Array.from({ length: 900 }, () => ({
    ...randomTest(service.app, random, {
      at: clock.now() - random.below(31 * DAY),
      domains: [null, a, b, c],
    }),
    livemode: 1,
  }));
  await store(db, rows);
  // A month with a clock change has 743 hours.
  const { to } = periodEndingAt(clock.now(), 'month');
  const from = to - 743 * HOUR;
  const boundaries = [...Array.from({ length: 31 }, (_, i) => from + i * DAY), to];
  const span = { from, to, previousFrom: from - DAY, boundaries, livemode: true };
  const both = await summarize(db, { ...span, domains: [a, c] }, SEEDS);
  const own = rows.filter(
    ({ domain_id, completed_at }) =>
      (domain_id === a || domain_id === c) && Date.parse(completed_at!) >= from,
  );
  assert.equal(both.total_tests, own.length);
  assert.equal(both.to, isoTime(to));
  assert.equal(both.trend.length, 31);
  for (const [i, slice] of both.trend.entries()) {
    const begin = Date.parse(slice.from);
    const end = i === 30 ? to : Date.parse(both.trend[i + 1]!.from);
    assert.equal(begin, boundaries[i]);
    const within = own.filter(({ completed_at }) => {
      const at = Date.parse(completed_at!);
      return at >= begin && at < end;
    });
    assert.equal(slice.tests, within.length, slice.from);
  }
  const none = await summarize(db, { ...span, domains: [] }, SEEDS);
  assert.deepEqual([none.total_tests, none.trend.length], [0, 31]);
});

test('GET /v1/reports/summary counts tests moving between periods exactly once', async (t) => {
  const { service, clock } = await start(t);
  const { app } = service;
  const random = seededRandom(4);
  const old = Array.from({ length: 60 }, () => ({
    ...randomTest(app, random, { at: clock.now() - 30 * HOUR, domains: [null] }),
    livemode: 1,
  }));
  await store(app.db, old);
  let moving = true;
  const move = async () => {
    for (const row of old)
      await app.db.transaction().execute(async (tx) => {
        await countTest(tx, row, -1);
        await countTest(tx, { ...row, completed_at: isoTime(clock.now()) }, 1);
      });
    moving = false;
  };
  const seen: number[] = [];
  const read = async () => {
    while (moving) {
      const told = await ask(service, '?period=day');
      seen.push(told.total_tests);
      assert.equal(told.total_tests + told.previous.total_tests, 60);
      assert.equal(
        told.trend.reduce((sum, { tests }) => sum + tests, 0),
        told.total_tests,
      );
    }
  };
  await Promise.all([move(), read(), read()]);
  assert.ok(
    seen.some((count) => count > 0 && count < 60),
    'some reads happened during the move',
  );
  assert.equal((await ask(service, '?period=day')).total_tests, 60);
});

/** The days of a trend follow the schedule's time zone through a year, and have the right labels. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trendCharts } from '../../src/report/summary.ts';
import {
  nextSend,
  periodOf,
  periodUntil,
  type ReportPeriod,
  type SendTiming,
} from '../../src/schedules/times.ts';
import { NOTHING } from '../report/scheduled-reports.ts';
import { timesBetween } from '../schedules/local-times.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
];
const START = Date.UTC(2026, 0, 1);
const END = Date.UTC(2027, 0, 1);

const timed = (change: Partial<SendTiming>): SendTiming => ({
  frequency: 'weekly',
  send_hour: 8,
  timezone: 'Europe/Berlin',
  weekday: 'monday',
  day_of_month: 1,
  ...change,
});

const reportOf = ({ timezone, frequency }: SendTiming, { boundaries }: ReportPeriod) => ({
  ...NOTHING,
  timezone,
  frequency,
  summary: {
    ...NOTHING.summary,
    trend: boundaries.slice(0, -1).map((at) => ({
      ...NOTHING.summary.trend[0]!,
      from: new Date(at).toISOString(),
    })),
  },
});

const namesOf = (schedule: SendTiming, covered: ReportPeriod): string[] =>
  trendCharts(reportOf(schedule, covered))
    .at(-1)!
    .buckets.map(({ name }) => name);

/** The local midnights from `from` up to and including `to`, calculated independently of the tested code. */
const midnightsBetween = (schedule: SendTiming, from: number, to: number) =>
  timesBetween({ ...schedule, frequency: 'daily', send_hour: 0 }, from - 1, to);

const utcDay = (at: number) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC',
    weekday: 'short',
    day: 'numeric',
    month: 'short',
  })
    .format(at)
    .replace(',', '');

function assertDays(schedule: SendTiming, covered: ReportPeriod): void {
  const { from, to, boundaries } = covered;
  const label = `${JSON.stringify(schedule)} ${new Date(to).toISOString()}`;
  assert.deepEqual(boundaries, midnightsBetween(schedule, from, to), label);
  assert.deepEqual([boundaries[0], boundaries.at(-1)], [from, to], label);
  // Each name is the date in the zone: noon of the day is 9 to 15 hours after it begins.
  const names = namesOf(schedule, covered);
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: schedule.timezone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
  });
  const local = boundaries.slice(0, -1).map((at) => clock.format(at + DAY_MS / 2).replace(',', ''));
  assert.deepEqual(names, local, label);
  // The days are consecutive: none is repeated or missing.
  const first = [2025, 2026, 2027]
    .map((year) => Date.parse(`${names[0]} ${year} UTC`))
    .find((day) => utcDay(day) === names[0])!;
  for (const [i, name] of names.entries()) assert.equal(name, utcDay(first + i * DAY_MS), label);
}

test('Scheduled report trends show every day of a year once, from midnight to midnight', () => {
  for (const timezone of ZONES)
    for (const frequency of ['weekly', 'monthly'] as const)
      for (const send_hour of [0, 8, 23]) {
        const schedule = timed({ timezone, frequency, send_hour });
        let end: number | null = null;
        for (let at = nextSend(schedule, START); at < END; at = nextSend(schedule, at)) {
          const period = periodOf(schedule, at);
          assertDays(schedule, period);
          // No midnight between the end of the period and the report: its last day is yesterday.
          assert.deepEqual(midnightsBetween(schedule, period.to, at), [period.to]);
          assert.equal(period.from, end ?? period.from);
          end = period.to;
          if (frequency === 'weekly') assert.equal(period.boundaries.length, 8);
        }
      }
});

test('Manual report trends show the last complete days at any hour of the year', () => {
  for (const timezone of ZONES)
    for (const frequency of ['weekly', 'monthly'] as const) {
      const schedule = timed({ timezone, frequency });
      // In steps of a week and five hours, so that every hour of the day occurs.
      for (let now = START + HOUR_MS / 2; now < END; now += 173 * HOUR_MS) {
        const period = periodUntil(schedule, now);
        assertDays(schedule, period);
        assert.deepEqual(midnightsBetween(schedule, period.to, now), [period.to]);
        const days = period.boundaries.length - 1;
        const all = midnightsBetween(schedule, period.previousFrom, period.to);
        assert.deepEqual([all[0], all.length], [period.previousFrom, 2 * days + 1]);
      }
    }
});

test('Trend of a daylight-saving week is labeled Monday to Sunday', () => {
  const schedule = timed({});
  const period = periodOf(schedule, Date.UTC(2026, 2, 30, 6));
  assert.equal(
    namesOf(schedule, period).join(),
    'Mon 23 Mar,Tue 24 Mar,Wed 25 Mar,Thu 26 Mar,Fri 27 Mar,Sat 28 Mar,Sun 29 Mar',
  );
});

test('Trend of a day has 23, 24 or 25 hours around clock changes', () => {
  for (const [slot, hours] of [
    [Date.UTC(2026, 2, 30, 6), 23],
    [Date.UTC(2026, 2, 28, 7), 24],
    [Date.UTC(2026, 9, 26, 7), 25],
  ] as const) {
    const { from, boundaries } = periodOf(timed({ frequency: 'daily' }), slot);
    assert.deepEqual(
      boundaries,
      Array.from({ length: hours + 1 }, (_, i) => from + i * HOUR_MS),
    );
  }
});

test('Trend of a day begins each slice at a full local hour', () => {
  const namesAt = (timezone: string, slot: number) => {
    const schedule = timed({ frequency: 'daily', timezone });
    const { from, to, boundaries } = periodOf(schedule, slot);
    const names = namesOf(schedule, { from, to, boundaries, previousFrom: from });
    for (const name of names) assert.match(name, /:00$/);
    return [names.length, (to - from) / HOUR_MS];
  };
  assert.deepEqual(namesAt('Asia/Kolkata', Date.UTC(2026, 10, 22, 2, 30)), [24, 24]);
  assert.deepEqual(namesAt('Asia/Kathmandu', Date.UTC(2026, 10, 22, 2, 15)), [24, 24]);
  // The clock there changes by half an hour, and the hour of the change is shorter or longer.
  assert.deepEqual(namesAt('Australia/Lord_Howe', Date.UTC(2026, 3, 5, 21, 30)), [24, 24.5]);
  assert.deepEqual(namesAt('Australia/Lord_Howe', Date.UTC(2026, 9, 4, 21)), [23, 23.5]);
});

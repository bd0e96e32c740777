/** The days of a trend follow the schedule's time zone through a year, and have the right labels. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayStartNote, trendCharts } from '../../src/report/summary.ts';
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
  ...['Europe/Berlin', 'America/New_York', 'America/Santiago', 'Asia/Kolkata'],
  'Australia/Lord_Howe',
];
const START = Date.UTC(2026, 0, 1);
const END = Date.UTC(2027, 0, 1);

const timed = (change: Partial<SendTiming>): SendTiming => ({
  ...{ frequency: 'weekly', send_hour: 8, timezone: 'Europe/Berlin' },
  ...{ weekday: 'monday', day_of_month: 1, ...change },
});

const reportOf = ({ timezone, frequency }: SendTiming, { boundaries }: ReportPeriod) => ({
  ...{ ...NOTHING, timezone, frequency },
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

const calendars = new Map<string, (at: number) => string>();

/** Formats `Mon 23 Mar` independently of the tested code. */
function calendarOf(timeZone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, weekday: 'short', day: 'numeric', month: 'short' },
  });
  const days = new Map<number, string>();
  const dayAt = (at: number) => {
    const day = days.get(at) ?? format.format(at).replace(',', '');
    days.set(at, day);
    return day;
  };
  calendars.set(timeZone, calendars.get(timeZone) ?? dayAt);
  return calendars.get(timeZone)!;
}

const QUARTER_MS = HOUR_MS / 4;

/** How much of a time range belongs to each day. */
function sharesOf(dayAt: (at: number) => string, from: number, to: number): Map<string, number> {
  const shares = new Map<string, number>();
  for (let at = from; at < to; at += QUARTER_MS)
    shares.set(dayAt(at), (shares.get(dayAt(at)) ?? 0) + QUARTER_MS);
  return shares;
}

function assertDays(schedule: SendTiming, covered: ReportPeriod, expected: number[]): void {
  const label = `${JSON.stringify(schedule)} ${new Date(covered.to).toISOString()}`;
  assert.deepEqual(covered.boundaries, expected, label);
  assert.deepEqual([expected[0], expected.at(-1)], [covered.from, covered.to], label);
  const names = namesOf(schedule, covered);
  const dayAt = calendarOf(schedule.timezone);
  // The days are consecutive: none is repeated or missing.
  const utcDay = calendarOf('UTC');
  const first = [2025, 2026, 2027]
    .map((year) => Date.parse(`${names[0]} ${year} UTC`))
    .find((day) => utcDay(day) === names[0])!;
  for (const [i, name] of names.entries()) {
    assert.equal(name, utcDay(first + i * DAY_MS), label);
    const shares = sharesOf(dayAt, expected[i]!, expected[i + 1]!);
    const largest = Math.max(...shares.values());
    // A slice from noon to noon may have its larger part in either day if the clock changes.
    assert.ok(shares.get(name)! >= largest - HOUR_MS, `${name} ${label}`);
    if (schedule.send_hour < 11 || schedule.send_hour > 14) assert.equal(shares.get(name), largest);
  }
}

const wholeHour = (at: number) => at - (at % HOUR_MS);

test('Scheduled report trends show every day of a year once, in each zone', () => {
  for (const timezone of ZONES)
    for (const frequency of ['weekly', 'monthly'] as const)
      for (const send_hour of [0, 8, 12, 20]) {
        const schedule = timed({ timezone, frequency, send_hour });
        const daily = { ...schedule, frequency: 'daily' as const };
        for (let at = nextSend(schedule, START); at < END; at = nextSend(schedule, at)) {
          const period = periodOf(schedule, at);
          const days = timesBetween(daily, period.from - 1, at).map(wholeHour);
          assertDays(schedule, period, days);
          if (frequency === 'weekly') assert.equal(days.length, 8);
        }
      }
});

test('Manual report trends show every day once at any hour of the year', () => {
  for (const timezone of ZONES)
    for (const frequency of ['weekly', 'monthly'] as const) {
      const schedule = timed({ timezone, frequency });
      const hourOf = new Intl.DateTimeFormat('en-GB', {
        ...{ timeZone: timezone, hour: 'numeric', hourCycle: 'h23' },
      });
      // In steps of a week and five hours, so that every hour of the day occurs.
      for (let now = START + HOUR_MS / 2; now < END; now += 173 * HOUR_MS) {
        const period = periodUntil(schedule, now);
        assert.equal(period.to, wholeHour(now) + HOUR_MS);
        const hour = Number(hourOf.format(period.to + 0.75 * HOUR_MS));
        const daily: SendTiming = { ...schedule, frequency: 'daily', send_hour: hour };
        const before = timesBetween(daily, period.previousFrom - 1, period.to - DAY_MS / 2).map(
          wholeHour,
        );
        const days = period.boundaries.length - 1;
        assert.deepEqual(before.at(0), period.previousFrom);
        assert.equal(before.length, 2 * days);
        assertDays({ ...schedule, send_hour: hour }, period, [...before.slice(-days), period.to]);
      }
    }
});

test('Trend of a daylight-saving week is labeled Monday to Sunday', () => {
  const schedule = timed({ send_hour: 0 });
  const period = periodOf(schedule, Date.UTC(2026, 2, 29, 22));
  assert.equal(
    namesOf(schedule, period).join(),
    'Mon 23 Mar,Tue 24 Mar,Wed 25 Mar,Thu 26 Mar,Fri 27 Mar,Sat 28 Mar,Sun 29 Mar',
  );
  assert.equal(dayStartNote(reportOf(schedule, period)), null);
});

test('Trend of a day has 23, 24 or 25 hours around clock changes', () => {
  for (const [slot, hours] of [
    [Date.UTC(2026, 2, 29, 6), 23],
    [Date.UTC(2026, 2, 28, 7), 24],
    [Date.UTC(2026, 9, 25, 7), 25],
  ] as const) {
    const { from, boundaries } = periodOf(timed({ frequency: 'daily' }), slot);
    assert.deepEqual(
      boundaries,
      Array.from({ length: hours + 1 }, (_, i) => from + i * HOUR_MS),
    );
  }
});

test('dayStartNote states the start of the day when all days start at the same hour', () => {
  const textFor = (change: Partial<SendTiming>, slot: number) => {
    const schedule = timed(change);
    return dayStartNote(reportOf(schedule, periodOf(schedule, nextSend(schedule, slot - 1))));
  };
  const march = Date.UTC(2026, 2, 29, 22);
  assert.equal(textFor({}, march), 'Each day begins at 08:00.');
  assert.equal(textFor({ send_hour: 20 }, march), 'Each day begins at 20:00 the day before.');
  const kolkata = { timezone: 'Asia/Kolkata' };
  assert.equal(
    textFor({ ...kolkata, send_hour: 0 }, march),
    'Each day begins at 23:30 the day before.',
  );
  assert.equal(textFor(kolkata, march), 'Each day begins at 07:30.');
  // The clock there changes by half an hour, so the days of this week do not start alike.
  const island = { timezone: 'Australia/Lord_Howe' };
  assert.equal(textFor(island, Date.UTC(2026, 9, 4)), null);
  assert.equal(textFor(island, Date.UTC(2026, 9, 12)), 'Each day begins at 08:00.');
  // The clock change skips this hour.
  assert.equal(textFor({ send_hour: 2 }, march), null);
  assert.equal(textFor({ frequency: 'daily' }, march), null);
});

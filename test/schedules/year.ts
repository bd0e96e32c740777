/** Send times and periods over a year with its clock changes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastSend, nextSend, periodOf, type SendTiming } from '../../src/schedules/times.ts';
import { timesBetween } from './local-times.ts';

export const DAILY: SendTiming = {
  frequency: 'daily',
  send_hour: 8,
  timezone: 'UTC',
  weekday: 'monday',
  day_of_month: 1,
};
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const START = Date.UTC(2026, 0, 1);
export const END = Date.UTC(2027, 0, 1);

const iso = (time: number) => new Date(time).toISOString();

export function inTurn(schedule: SendTiming, from: number, to: number): number[] {
  const times: number[] = [];
  for (let time = nextSend(schedule, from); time <= to; time = nextSend(schedule, time))
    times.push(time);
  return times;
}

/** Declares the tests for these time zones. */
export function testYear(zones: string[]): void {
  test('nextSend matches local clock times for a year in every zone and frequency', () => {
    const schedules = zones.flatMap((timezone): SendTiming[] => [
      ...[0, 1, 2, 3, 8, 23].map((send_hour): SendTiming => ({ ...DAILY, timezone, send_hour })),
      ...[2, 8].flatMap((send_hour): SendTiming[] => [
        { ...DAILY, timezone, send_hour, frequency: 'weekly', weekday: 'sunday' },
        { ...DAILY, timezone, send_hour, frequency: 'weekly', weekday: 'wednesday' },
        ...[1, 8, 28, 29, 30, 31].map(
          (day_of_month): SendTiming => ({
            ...DAILY,
            timezone,
            send_hour,
            day_of_month,
            frequency: 'monthly',
          }),
        ),
      ]),
    ]);
    for (const schedule of schedules) {
      const found = inTurn(schedule, START, END).map(iso);
      const wanted = timesBetween(schedule, START, END).map(iso);
      assert.deepEqual(found, wanted, JSON.stringify(schedule));
      const { frequency } = schedule;
      const expected = { daily: 365, weekly: 52, monthly: 12 }[frequency];
      assert.ok(found.length >= expected - 1 && found.length <= expected + 1, `${found.length}`);
    }
  });

  test('lastSend is the inverse of nextSend', () => {
    for (const timezone of zones)
      for (const frequency of ['daily', 'weekly', 'monthly'] as const) {
        const schedule = { ...DAILY, timezone, frequency, day_of_month: 31 };
        for (const time of inTurn(schedule, START, END)) {
          assert.equal(lastSend(schedule, time), time);
          assert.equal(lastSend(schedule, nextSend(schedule, time) - 1), time);
        }
      }
  });

  test('periodOf yields consecutive periods of whole local days without gaps', () => {
    for (const timezone of zones)
      for (const frequency of ['daily', 'weekly', 'monthly'] as const)
        for (const send_hour of frequency === 'daily' ? [8] : [0, 8, 23]) {
          const schedule = { ...DAILY, timezone, frequency, send_hour };
          const midnights = new Set(
            timesBetween({ ...DAILY, timezone, send_hour: 0 }, START - 70 * DAY_MS, END),
          );
          let previous = periodOf(schedule, nextSend(schedule, START));
          for (const slot of inTurn(schedule, START, END).slice(1)) {
            const period = periodOf(schedule, slot);
            assert.deepEqual([period.from, period.previousFrom], [previous.to, previous.from]);
            assert.ok(midnights.has(period.from) && midnights.has(period.to));
            // The last complete days before the report is sent.
            assert.ok(period.to <= slot && period.to > slot - DAY_MS - HOUR_MS);
            const days = (period.to - period.from) / DAY_MS;
            const slices = { daily: days * 24, weekly: 7, monthly: Math.round(days) }[frequency];
            assert.equal(period.boundaries.length, Math.floor(slices) + 1);
            previous = period;
          }
        }
  });
}

/** Send times and periods of reports in local time, with clock changes. A whole year: test/long/send-times.test.ts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  correctedSlot,
  lastSend,
  localDate,
  nextSend,
  periodOf,
  periodUntil,
  type SendTiming,
  slotToSend,
} from '../../src/schedules/times.ts';
import { DAILY, inTurn } from './year.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const iso = (time: number) => new Date(time).toISOString();

const CHANGES: [what: string, schedule: Partial<SendTiming>, after: string, next: string][] = [
  [
    'an hour skipped by daylight saving moves to the next existing time',
    { timezone: 'Europe/Berlin', send_hour: 2 },
    '2026-03-28T12:00Z',
    '2026-03-29T01:00:00.000Z',
  ],
  [
    'a skipped half hour moves to the next existing time',
    { timezone: 'Australia/Lord_Howe', send_hour: 2 },
    '2026-10-03T00:00Z',
    '2026-10-03T15:30:00.000Z',
  ],
  [
    'a skipped midnight moves to the next existing time',
    { timezone: 'America/Santiago', send_hour: 0 },
    '2026-09-05T12:00Z',
    '2026-09-06T04:00:00.000Z',
  ],
  [
    'a repeated hour is used the first time',
    { timezone: 'America/New_York', send_hour: 1 },
    '2026-10-31T12:00Z',
    '2026-11-01T05:00:00.000Z',
  ],
  [
    'a repeated hour is not used a second time',
    { timezone: 'America/New_York', send_hour: 1 },
    '2026-11-01T05:00Z',
    '2026-11-02T06:00:00.000Z',
  ],
  [
    'a time within the first repeated hour leads to the next day',
    { timezone: 'America/New_York', send_hour: 1 },
    '2026-11-01T05:59:59.999Z',
    '2026-11-02T06:00:00.000Z',
  ],
  [
    'one millisecond before the send time',
    {},
    '2026-11-21T07:59:59.999Z',
    '2026-11-21T08:00:00.000Z',
  ],
  [
    'exactly at the send time leads to the next day',
    {},
    '2026-11-21T08:00Z',
    '2026-11-22T08:00:00.000Z',
  ],
  [
    'day 30 falls on the last day of February',
    { frequency: 'monthly', day_of_month: 30 },
    '2028-02-01T00:00Z',
    '2028-02-29T08:00:00.000Z',
  ],
  [
    'day 31 falls on the last day of April',
    { frequency: 'monthly', day_of_month: 31 },
    '2026-04-01T00:00Z',
    '2026-04-30T08:00:00.000Z',
  ],
];

for (const [what, schedule, after, next] of CHANGES)
  test(`nextSend: ${what}`, () => {
    assert.equal(iso(nextSend({ ...DAILY, ...schedule }, Date.parse(after))), next);
  });

test('slotToSend picks the last missed slot and never a future one', () => {
  const planned = Date.UTC(2026, 10, 1, 8);
  assert.equal(slotToSend(DAILY, planned, planned), planned);
  assert.equal(slotToSend(DAILY, planned, planned + DAY_MS - 1), planned);
  assert.equal(slotToSend(DAILY, planned, Date.UTC(2026, 10, 20, 7)), Date.UTC(2026, 10, 19, 8));
});

test('periodOf for March covers 31 days and compares with February', () => {
  const schedule: SendTiming = { ...DAILY, frequency: 'monthly' };
  const { previousFrom, ...period } = periodOf(schedule, Date.UTC(2026, 3, 1, 8));
  assert.deepEqual(period, {
    from: Date.UTC(2026, 2, 1),
    to: Date.UTC(2026, 3, 1),
    boundaries: Array.from({ length: 32 }, (_, i) => Date.UTC(2026, 2, 1 + i)),
  });
  assert.equal(previousFrom, Date.UTC(2026, 1, 1));
});

test('periodUntil covers the last complete days and has the regular length', () => {
  const lengths = { daily: [1, 24], weekly: [7, 7], monthly: [30, 30] } as const;
  for (const [frequency, [days, slices]] of Object.entries(lengths))
    for (const [now, timezone, to] of [
      ['2026-11-21T10:20Z', 'UTC', '2026-11-21T00:00Z'],
      ['2026-11-21T00:00Z', 'UTC', '2026-11-21T00:00Z'],
      ['2026-11-20T23:59Z', 'UTC', '2026-11-20T00:00Z'],
      ['2026-11-21T18:29Z', 'Asia/Kolkata', '2026-11-20T18:30Z'],
      ['2026-11-21T18:30Z', 'Asia/Kolkata', '2026-11-21T18:30Z'],
    ] as const) {
      const schedule = { ...DAILY, timezone, frequency: frequency as SendTiming['frequency'] };
      const end = Date.parse(to);
      assert.deepEqual(periodUntil(schedule, Date.parse(now)), {
        from: end - days * DAY_MS,
        to: end,
        previousFrom: end - 2 * days * DAY_MS,
        boundaries: Array.from(
          { length: slices + 1 },
          (_, i) => end - (days * DAY_MS * (slices - i)) / slices,
        ),
      });
    }
});

test('replanned recomputes times too far ahead and keeps plausible ones', () => {
  const now = Date.UTC(2026, 10, 21, 10);
  const far = Date.UTC(2030, 10, 21, 10);
  for (const frequency of ['daily', 'weekly', 'monthly'] as const) {
    const schedule = { ...DAILY, frequency };
    const next = nextSend(schedule, now);
    assert.equal(correctedSlot(schedule, far, now), next);
    assert.equal(correctedSlot(schedule, next, now), next);
    const second = nextSend(schedule, next);
    assert.equal(correctedSlot(schedule, second, now), second);
  }
});

test('nextSend moves a report at a skipped last hour of the day to midnight', () => {
  // On 28 March 2026 clocks there jump from 22:59:59 to midnight.
  const nuuk: SendTiming = { ...DAILY, timezone: 'America/Nuuk', send_hour: 23 };
  const midnight = Date.UTC(2026, 2, 29, 1);
  const around = inTurn(nuuk, midnight - 2 * DAY_MS, midnight + 2 * DAY_MS).map(iso);
  assert.deepEqual(around, [
    '2026-03-28T01:00:00.000Z',
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:00:00.000Z',
    '2026-03-31T00:00:00.000Z',
  ]);
  const monthly: SendTiming = { ...nuuk, frequency: 'monthly', day_of_month: 28 };
  assert.equal(iso(nextSend(monthly, midnight - DAY_MS)), iso(midnight));
  const { from, to, boundaries } = periodOf(monthly, midnight);
  assert.deepEqual([iso(from), iso(to)], ['2026-02-28T02:00:00.000Z', '2026-03-28T02:00:00.000Z']);
  assert.equal(boundaries.length, 29);
  // The report of a day that is sent at the next midnight does not move to the next day.
  const days = inTurn(nuuk, midnight - 2 * DAY_MS, midnight + DAY_MS).map(
    (slot) => [periodOf(nuuk, slot)].map(({ from, to }) => [iso(from), iso(to)].join())[0],
  );
  assert.deepEqual(days, [
    '2026-03-26T02:00:00.000Z,2026-03-27T02:00:00.000Z',
    '2026-03-27T02:00:00.000Z,2026-03-28T02:00:00.000Z',
    '2026-03-28T02:00:00.000Z,2026-03-29T01:00:00.000Z',
  ]);
  const weekly: SendTiming = { ...nuuk, frequency: 'weekly', weekday: 'saturday' };
  assert.equal(iso(nextSend(weekly, midnight - DAY_MS)), iso(midnight));
  assert.equal(lastSend(monthly, midnight + DAY_MS), midnight);
});

test('localDate returns the date in the given time zone', () => {
  const time = Date.UTC(2026, 0, 1, 4, 30);
  for (const [zone, date] of [
    ['UTC', '2026-01-01'],
    ['America/New_York', '2025-12-31'],
    ['America/Halifax', '2026-01-01'],
    ['Pacific/Kiritimati', '2026-01-01'],
  ] as const)
    assert.equal(localDate(time, zone), date);
});

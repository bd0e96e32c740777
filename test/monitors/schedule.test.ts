/** Monitor slots: no drift, an offset per monitor, and clock changes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { catchUpSlot, FREQUENCIES, nextSlot, slotAfterRun } from '../../src/monitors/schedule.ts';
import { testClock } from '../helpers/clock.ts';
import { HOUR_MS } from './monitoring.ts';

const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 10, 21, 10, 0, 0);
const PERIODS = {
  hourly: HOUR_MS,
  every_6_hours: 6 * HOUR_MS,
  daily: DAY_MS,
  weekly: 7 * DAY_MS,
};

test('Monitor slots follow at exact intervals however late runs are', () => {
  for (const frequency of FREQUENCIES) {
    const monitor = { id: 'mon_1', frequency };
    const first = nextSlot(monitor, START);
    assert.ok(first > START && first <= START + PERIODS[frequency], frequency);
    let slot = first;
    for (let runs = 1; runs <= 50; runs++) {
      slot = slotAfterRun(monitor, {
        planned: slot,
        now: slot + (runs % 10) * 60_000,
        isKnown: true,
      });
      assert.equal(slot, first + runs * PERIODS[frequency], frequency);
    }
  }
});

test('Daily monitor slots start at midnight UTC and weekly ones on Monday', () => {
  const daily = new Date(nextSlot({ id: 'mon_1', frequency: 'daily' }, START));
  assert.equal(daily.getUTCHours(), 0);
  const six = new Date(nextSlot({ id: 'mon_1', frequency: 'every_6_hours' }, START));
  assert.equal(six.getUTCHours(), 12);
  const weekly = new Date(nextSlot({ id: 'mon_1', frequency: 'weekly' }, START));
  assert.deepEqual([weekly.getUTCDay(), weekly.getUTCHours()], [1, 0]);
});

test('Ten thousand monitors are spread evenly over the hour, also after an outage', () => {
  const newId = createIdGenerator(testClock());
  const perMinute = { planned: new Map<number, number>(), madeUp: new Map<number, number>() };
  const count = (into: Map<number, number>, time: number) => {
    const minute = Math.floor((time % HOUR_MS) / 60_000);
    into.set(minute, (into.get(minute) ?? 0) + 1);
  };
  for (let made = 0; made < 10_000; made++) {
    const monitor = { id: newId('mon'), frequency: 'daily' as const };
    const slot = nextSlot(monitor, START);
    count(perMinute.planned, slot);
    const catchUp = catchUpSlot(monitor, slot, slot + 30 * HOUR_MS);
    assert.ok(catchUp > slot + 30 * HOUR_MS && catchUp <= slot + 31 * HOUR_MS);
    count(perMinute.madeUp, catchUp);
  }
  for (const counts of Object.values(perMinute)) {
    assert.equal(counts.size, 60);
    assert.ok(Math.max(...counts.values()) < 250, `${Math.max(...counts.values())} in a minute`);
  }
});

test('A slot missed by minutes runs at once; one missed by hours runs once later', () => {
  const monitor = { id: 'mon_1', frequency: 'daily' as const };
  const slot = nextSlot(monitor, START);
  assert.equal(catchUpSlot(monitor, slot, slot + 10 * 60_000), slot);
  const late = catchUpSlot(monitor, slot, slot + 5.5 * HOUR_MS);
  assert.equal(late, slot + 6 * HOUR_MS);
  // A restart before that adds no further slot.
  assert.equal(catchUpSlot(monitor, late, late - 60_000), late);
  assert.equal(
    slotAfterRun(monitor, { planned: late, now: late + 1000, isKnown: true }),
    slot + DAY_MS,
  );
});

test('A clock set back repeats no slot and delays a monitor by one interval at most', () => {
  const monitor = { id: 'mon_1', frequency: 'hourly' as const };
  const slot = nextSlot(monitor, START);
  assert.equal(
    slotAfterRun(monitor, { planned: slot, now: slot - 5 * HOUR_MS, isKnown: true }),
    slot + HOUR_MS,
  );
  const past = slot - 400 * DAY_MS;
  assert.equal(slotAfterRun(monitor, { planned: slot, now: past, isKnown: true }), past + HOUR_MS);
});

test('A run without results is repeated after an hour, then returns to schedule', () => {
  const monitor = { id: 'mon_weekly', frequency: 'weekly' } as const;
  const slot = nextSlot(monitor, Date.UTC(2026, 10, 21));
  const again = slotAfterRun(monitor, { planned: slot, now: slot + 1000, isKnown: false });
  assert.equal(again, slot + HOUR_MS);
  const next = slotAfterRun(monitor, { planned: again, now: again + 1000, isKnown: true });
  assert.equal(next, slot + 7 * DAY_MS);
});

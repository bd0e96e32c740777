/** A simulated year of schedules in several time zones: each scheduled time has exactly one run. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schedule } from '../../src/schedules/schema.ts';
import { testClock } from '../helpers/clock.ts';
import { seededRandom } from '../helpers/random.ts';
import { openTestStore } from '../helpers/store.ts';
import { timesBetween } from '../schedules/local-times.ts';
import { HOUR_MS, startScheduling } from '../schedules/scheduling.ts';

const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'];
const START = Date.UTC(2027, 0, 1, 0, 20);
const END = Date.UTC(2028, 0, 1, 0, 20);
/** A run that is late by less than this is still sent for its scheduled time. */
const MAX_DELAY_MS = 20 * HOUR_MS;

test('A year of report schedules in each zone sends every report exactly once', async (t) => {
  const clock = testClock(START);
  const { service, create, makeDue } = await startScheduling(t, {
    clock,
    mute: true,
    store: await openTestStore(t),
  });
  const { db } = service.app;
  const schedules: Schedule[] = [];
  for (const timezone of ZONES)
    for (const more of [
      { frequency: 'daily', send_hour: 2 },
      { frequency: 'weekly', weekday: 'sunday', send_hour: 1 },
      { frequency: 'monthly', day_of_month: 31 },
      { frequency: 'monthly', day_of_month: 29 },
    ])
      schedules.push(await create({ timezone, ...more }));
  const random = seededRandom(7);
  while (clock.now() < END) {
    const due = await db
      .selectFrom('report_schedules')
      .select('next_send_at')
      .orderBy('next_send_at')
      .limit(1)
      .executeTakeFirstOrThrow();
    const next = Date.parse(due.next_send_at!);
    // On time, just before it, or less than a day late.
    const late = random.chance(0.5) ? 0 : random.below(MAX_DELAY_MS);
    clock.set(Math.min(END, Math.max(clock.now(), random.chance(0.1) ? next - 1 : next + late)));
    await makeDue();
    // A call makes at most two runs: repeat it for the rest.
    while ((await dueAt(clock.now())) > 0) await makeDue();
  }
  for (const schedule of schedules) {
    const runs = await db
      .selectFrom('report_runs')
      .selectAll()
      .where('schedule_id', '=', schedule.id)
      .orderBy('id')
      .execute();
    const slots = runs.map(({ slot }) => slot);
    const expected = timesBetween(schedule, START, END).map((time) => new Date(time).toISOString());
    assert.deepEqual(slots, expected, `${schedule.timezone} ${schedule.frequency}`);
    for (const [i, run] of runs.entries())
      if (i > 0) assert.equal(run.period_from, runs[i - 1]!.period_to);
  }

  async function dueAt(time: number): Promise<number> {
    const rows = await db
      .selectFrom('report_schedules')
      .select('id')
      .where('next_send_at', '<=', new Date(time).toISOString())
      .execute();
    return rows.length;
  }
});

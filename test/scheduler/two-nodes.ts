/** Two nodes with wrong clocks that run schedules and monitors for days. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { runMonitorsJob } from '../../src/monitors/run.ts';
import { sendMailJob } from '../../src/outbox/send.ts';
import { sendReportsJob } from '../../src/schedules/send.ts';
import { testClock } from '../helpers/clock.ts';
import { newDatabase, stopDatabaseClock, wrongClock } from '../helpers/nodes.ts';
import { TEST_SECRET_KEY } from '../helpers/store.ts';
import { serveLists, startMonitoring } from '../monitors/monitoring.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { runToEnd, SCHEDULES } from '../schedules/scheduling.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Asserts that each slot of schedules and monitors runs once, on nodes whose clocks are ten minutes apart. */
export async function assertRunOnce(
  t: TestContext,
  { days, fridays }: { days: number; fridays: number },
): Promise<void> {
  const url = await newDatabase(t);
  const time = testClock();
  const setTime = await stopDatabaseClock(t, url, time.now());
  const dns = await serveLists(t);
  const sink = await startMailSink(t);
  const env = {
    DELIVERABILITY_DATABASE_URL: url,
    DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY,
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'reports@example.com',
  };
  const nodes = [];
  for (const minutes of [5, -5]) {
    const clock = { ...time, ...wrongClock(time, minutes * MINUTE_MS) };
    const { service, create } = await startMonitoring(t, { clock, dns, env });
    const { app } = service;
    const jobs = [runMonitorsJob(app), sendReportsJob(app), sendMailJob(app)];
    nodes.push({ app, call: service.call, create, jobs });
  }
  const [{ app, call, create }] = nodes as [(typeof nodes)[0]];
  const monitors: string[] = [];
  for (const frequency of ['hourly', 'every_6_hours', 'daily'])
    monitors.push((await create({ name: frequency, frequency })).id);
  for (const json of [{ frequency: 'daily' }, { frequency: 'weekly', weekday: 'friday' }])
    await call('POST', SCHEDULES, {
      json: { name: json.frequency, recipients: ['ann@example.com'], ...json },
    });
  const runsOf = async () => {
    const rows = await app.db
      .selectFrom('monitor_runs')
      .select(['monitor_id', ({ fn }) => fn.countAll<number>().as('n')])
      .groupBy('monitor_id')
      .execute();
    return monitors.map((id) => rows.find((row) => row.monitor_id === id)?.n ?? 0);
  };
  let before = [0, 0, 0];
  for (let step = 0; step < days * 48; step++) {
    time.advance(HOUR_MS / 2);
    await setTime(time.now());
    await Promise.all(nodes.flatMap(({ jobs }) => jobs.map(runToEnd)));
    // Slots are an hour apart or more, so two runs in half an hour would be of the same slot.
    const after = await runsOf();
    assert.ok(
      after.every((n, i) => n - before[i]! <= 1),
      `step ${step}: ${before} → ${after}`,
    );
    before = after;
  }
  await Promise.all(nodes.map(({ jobs }) => runToEnd(jobs[2]!)));
  const runs = await app.db.selectFrom('report_runs').select(['schedule_id', 'slot']).execute();
  const slots = new Set(runs.map(({ schedule_id, slot }) => `${schedule_id} ${slot}`));
  t.diagnostic(
    `monitor runs: ${before.join(', ')}; reports: ${runs.length}; emails: ${sink.taken.length}`,
  );
  // The first run is at once, and the days begin and end within a slot.
  for (const [i, expected] of [days * 24, days * 4, days].entries())
    assert.ok(Math.abs(before[i]! - expected) <= 1, `${before[i]} instead of ${expected} runs`);
  assert.equal(runs.length, days + fridays, 'daily, and on Fridays');
  assert.equal(slots.size, runs.length);
  assert.equal(sink.taken.length, runs.length, 'each report is one email');
}

/** A month of hourly runs with restarts, a crash, and clock changes: no duplicate runs, and only changes are reported. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { claimDueMonitors } from '../../src/monitors/run.ts';
import { nextSlot } from '../../src/monitors/schedule.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { blocklistZone, listIn } from '../helpers/blocklists.ts';
import { testClock } from '../helpers/clock.ts';
import { SAME_NODE } from '../helpers/store.ts';
import {
  ADDRESS,
  HOUR_MS,
  type Monitoring,
  REVERSED,
  serveLists,
  startMonitoring,
} from './monitoring.ts';

const MINUTE_MS = 60_000;
const ZEN = 'zen.spamhaus.org';
const SPAMCOP = 'bl.spamcop.net';

/** Starts the service again on the same folder, with the same clock and DNS. */
async function startAgain(t: TestContext) {
  const clock = testClock();
  const dns = await serveLists(t);
  const folder = temporaryFolder(t);
  return () => startMonitoring(t, { clock, dns, folder, env: SAME_NODE });
}

/** Simulates a killed process: its connection is closed and its lock released. */
async function crash({ service }: Monitoring): Promise<void> {
  await service.app.db.destroy();
  await service.stop().catch(() => {});
}

/** Advances the clock by this many half hours. */
async function halfHours({ clock, runDue }: Monitoring, count: number): Promise<void> {
  for (let passed = 0; passed < count; passed++) {
    clock.advance(30 * MINUTE_MS);
    await runDue();
  }
}

test('A month of hourly monitor runs survives restarts, a crash and clock changes', async (t) => {
  const start = await startAgain(t);
  let here = await start();
  const { clock, dns, create } = here;
  const { id } = await create();
  await here.runDue();
  const listed = (...zones: string[]) => {
    dns.zone = Object.assign(
      blocklistZone(),
      ...zones.map((zone) => listIn(zone, REVERSED, '127.0.0.2')),
    );
  };
  await halfHours(here, 2 * 24 * 5);
  assert.deepEqual(await here.alerts(), []);
  listed(ZEN);
  await halfHours(here, 2 * 24 * 5);
  assert.equal((await here.alerts()).length, 1);

  // After an outage of hours, one run catches up, at the monitor's offset within the hour.
  await here.service.stop();
  const down = clock.now();
  clock.advance(5.5 * HOUR_MS);
  const up = clock.now();
  here = await start();
  await here.runDue();
  await halfHours(here, 2 * 24 * 5);
  const during = (await here.runs(id)).filter(({ started_at: at }) => {
    return Date.parse(at) > down && Date.parse(at) <= up + HOUR_MS;
  });
  assert.equal(during.length, 1);

  listed(ZEN, SPAMCOP);
  await halfHours(here, 2 * 24 * 5);
  assert.equal((await here.alerts()).length, 2);

  // A restart of minutes across a slot.
  clock.set(nextSlot({ id, frequency: 'hourly' }, clock.now()) - MINUTE_MS);
  await here.runDue();
  await here.service.stop();
  clock.advance(5 * MINUTE_MS);
  here = await start();
  await here.runDue();
  assert.ok(Date.parse((await here.get(id)).last_run_at!) >= clock.now() - MINUTE_MS);

  // After the clock is set back, nothing runs until the scheduled time.
  const before = (await here.runs(id)).length;
  clock.advance(-3 * HOUR_MS);
  await halfHours(here, 5);
  assert.equal((await here.runs(id)).length, before);
  await halfHours(here, 4);
  assert.equal((await here.runs(id)).length, before + 1);

  // A crash during a run: it was claimed but never recorded.
  clock.set(nextSlot({ id, frequency: 'hourly' }, clock.now()) + 1000);
  const [claimed] = await claimDueMonitors(here.service.app, 'blocklist', 1);
  assert.equal(claimed!.id, id);
  await crash(here);
  here = await start();
  await here.runDue();
  assert.equal((await here.runs(id)).length, before + 2);

  // The clock jumps forward: only one of the skipped slots runs.
  clock.advance(30 * HOUR_MS);
  await here.runDue();
  await here.runDue();
  assert.equal((await here.runs(id)).length, before + 3);

  listed();
  await halfHours(here, 2 * 24 * 5);
  listed(ZEN);
  await halfHours(here, 2 * 24 * 5);

  const runs = await here.runs(id);
  const slots = runs.slice(1).map(({ started_at }) => slotOf(id, started_at));
  assert.ok(slots.length > 24 * 29, `${slots.length} runs`);
  assert.equal(new Set(slots).size, slots.length, 'no slot has two runs');
  const alerts = await here.alerts();
  assert.deepEqual(
    alerts.map(({ changes }) => changes.appeared.map(({ list }) => list)),
    [[ZEN], [SPAMCOP], [ZEN]],
  );
  assert.deepEqual(
    alerts.map(({ monitor }) => [monitor.id, monitor.status]),
    [1, 2, 3].map(() => [id, 'alerting']),
  );
  const news = runs.filter(({ changes }) => changes.appeared.length + changes.gone.length > 0);
  assert.equal(news.length, 4);
  assert.equal(news[2]!.changes.gone.length, 2);
  assert.deepEqual(
    runs.filter(({ findings }) => findings.some(({ target }) => target !== ADDRESS)),
    [],
  );
});

/** The start of the monitor's hour in which a run started. */
const slotOf = (id: string, at: string): number =>
  nextSlot({ id, frequency: 'hourly' }, Date.parse(at)) - HOUR_MS;

test('After the clock was a year ahead, a monitor waits at most one hour', async (t) => {
  const { clock, create, runDue, runs } = await startMonitoring(t);
  const now = clock.now();
  clock.advance(365 * 24 * HOUR_MS);
  const { id } = await create();
  await runDue();
  clock.set(now);
  await runDue();
  assert.equal((await runs(id)).length, 1);
  clock.advance(HOUR_MS);
  await runDue();
  assert.equal((await runs(id)).length, 2);
});

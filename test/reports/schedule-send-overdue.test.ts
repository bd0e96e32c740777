/** A report that is due is sent by whatever the schedule says then: a change of its times comes after it. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sendReportsJob } from '../../src/reports/run-send.ts';
import { DAY_MS, HOUR_MS, SCHEDULES, startScheduling } from './scheduling.ts';

const AT_EIGHT = Date.UTC(2026, 10, 22, 8);

/** A schedule whose report is due, and has not been looked at. */
async function startOverdue(t: TestContext, late: number, json: object = {}) {
  const scheduling = await startScheduling(t);
  const { service, create, clock, runs } = scheduling;
  const { id } = await create(json);
  clock.set(AT_EIGHT + late);
  return {
    ...scheduling,
    id,
    async patch(json: object) {
      const { status, text } = await service.call('PATCH', `${SCHEDULES}/${id}`, { json });
      assert.equal(status, 200, text);
    },
    async told() {
      const all = await runs(id);
      return all.map(({ slot, period_from, period_to }) =>
        [slot, period_from, period_to].map((time) => time!.slice(5, 16)),
      );
    },
  };
}

test('a time that is due stays due where the times are changed, once', async (t) => {
  const { id, patch, get, told, makeDue, clock } = await startOverdue(t, HOUR_MS);
  await patch({ send_hour: 12 });
  await patch({ timezone: 'Europe/Berlin' });
  assert.equal((await get(id)).next_send_at, '2026-11-22T08:00:00.000Z');
  await makeDue();
  await makeDue();
  const first = ['11-22T08:00', '11-21T08:00', '11-22T08:00'];
  assert.deepEqual(await told(), [first]);
  assert.equal((await get(id)).next_send_at, '2026-11-22T11:00:00.000Z');
  clock.advance(2 * HOUR_MS);
  await makeDue();
  assert.deepEqual(await told(), [['11-22T11:00', '11-21T11:00', '11-22T11:00'], first]);
});

test('it covers a whole period, however close it is to a time of now', async (t) => {
  const { patch, told, makeDue } = await startOverdue(t, 60_000);
  await patch({ send_hour: 7 });
  await makeDue();
  assert.deepEqual(await told(), [['11-22T08:00', '11-21T08:00', '11-22T08:00']]);
});

test('so does one that was daily and is weekly', async (t) => {
  const { id, patch, get, told, makeDue } = await startOverdue(t, 60_000);
  await patch({ frequency: 'weekly', weekday: 'friday' });
  await makeDue();
  assert.deepEqual(await told(), [['11-22T08:00', '11-15T08:00', '11-22T08:00']]);
  assert.equal((await get(id)).next_send_at, '2026-11-27T08:00:00.000Z');
});

test('of several that were missed the last is sent, and none of a schedule that is switched off', async (t) => {
  const { id, patch, get, told, makeDue, clock } = await startOverdue(t, 3 * DAY_MS + HOUR_MS);
  await patch({ send_hour: 20 });
  assert.equal((await get(id)).next_send_at, '2026-11-25T08:00:00.000Z');
  await makeDue();
  assert.deepEqual(
    (await told()).map(([slot]) => slot),
    ['11-25T08:00'],
  );
  clock.set(Date.UTC(2026, 10, 25, 21));
  await patch({ enabled: false });
  await makeDue();
  await patch({ enabled: true });
  await makeDue();
  assert.equal((await told()).length, 1);
  assert.equal((await get(id)).next_send_at, '2026-11-26T20:00:00.000Z');
});

test('a change while the report is being made has it made anew at once, for the same time', async (t) => {
  const { id, service, patch, get, told, makeDue, sendDue, sink } = await startOverdue(t, 60_000, {
    format: 'pdf',
  });
  const { reporter } = service.app;
  const { render } = reporter;
  let made = 0;
  reporter.render = async (job) => {
    made += 1;
    if (made === 1) {
      await patch({ send_hour: 9, recipients: ['new@example.com'] });
      // Nobody else takes it up while it is in hand.
      await makeDueElsewhere();
    }
    return render(job);
  };
  const other = sendReportsJob(service.app);
  const makeDueElsewhere = async () => {
    await other.run();
    await other.idle!();
  };
  await makeDue();
  assert.deepEqual([made, await told()], [1, []]);
  assert.equal((await get(id)).next_send_at, '2026-11-22T08:00:00.000Z');
  await makeDue();
  assert.equal(made, 2);
  await sendDue();
  assert.deepEqual(
    sink.taken.map(({ to }) => to[0]),
    ['new@example.com'],
  );
  assert.deepEqual(
    (await told()).map(([slot]) => slot),
    ['11-22T08:00'],
  );
  assert.equal((await get(id)).next_send_at, '2026-11-22T09:00:00.000Z');
});

/** Events go when they are older than the retention time, in any number; 0 keeps them all. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendEvent } from '../../src/events/append.ts';
import { expireEvents } from '../../src/events/expire.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';

const DAY_MS = 86_400_000;

test('events older than EVENT_RETENTION are deleted, in any number', async (t) => {
  const clock = testClock();
  const { app } = await startTestService(t, { clock });
  const append = (count: number) =>
    app.db.transaction().execute(async (tx) => {
      for (let i = 0; i < count; i++)
        await appendEvent(tx, { type: 'test.failed', livemode: true, data: {} }, app);
    });
  const ids = async () => (await app.db.selectFrom('events').select('id').execute()).length;
  await append(2_001);
  clock.advance(30 * DAY_MS);
  await append(1);
  await expireEvents(app);
  assert.equal(await ids(), 2_002, 'just 30 days old is not older');
  clock.advance(1);
  await expireEvents(app);
  assert.equal(await ids(), 1);
  app.config = { ...app.config, EVENT_RETENTION: 0 };
  clock.advance(1000 * DAY_MS);
  await expireEvents(app);
  assert.equal(await ids(), 1);
});

test('a subscriber that fails undoes the event and its change', async (t) => {
  const { app } = await startTestService(t, {
    deliver: [
      async () => {
        throw new Error('no');
      },
    ],
  });
  const change = app.db.transaction().execute(async (tx) => {
    await tx.updateTable('members').set({ name: 'changed' }).execute();
    await appendEvent(tx, { type: 'test.failed', livemode: true, data: {} }, app);
  });
  await assert.rejects(change, /^Error: no$/);
  assert.deepEqual(await app.db.selectFrom('events').select('id').execute(), []);
  const { name } = await app.db.selectFrom('members').select('name').executeTakeFirstOrThrow();
  assert.equal(name, 'owner');
});

test('OWNER_EMAIL makes the first owner of an empty database', async (t) => {
  const env = { DELIVERABILITY_OWNER_EMAIL: 'First@example.com' };
  const { app } = await startTestService(t, { env });
  const members = await app.db.selectFrom('members').select(['email', 'role']).execute();
  assert.deepEqual(members, [{ email: 'first@example.com', role: 'owner' }]);
});

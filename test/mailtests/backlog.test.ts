/** More mail than there is room for is analysed as fast as it goes, not at the pace of the clock. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyzeJob } from '../../src/mailtests/analyze.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { startTestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';

const ONCE_A_YEAR = '0 0 0 1 1 *';
/** Five times what one thread takes at once. */
const MESSAGES = 40;

test('a backlog is worked off without a tick', async (t) => {
  const { app, call, getTest } = await startTestService(t);
  await app.scheduler.stop();
  const ids: string[] = [];
  for (let number = 0; number < MESSAGES; number++) {
    const { body } = await call<Test>('POST', '/v1/tests?client_ip=192.0.2.1', {
      body: goodMessage(),
      headers: { 'content-type': 'message/rfc822' },
    });
    ids.push(body.id);
  }
  app.scheduler = createScheduler([{ ...analyzeJob(app), tick: ONCE_A_YEAR }], app.log);
  t.after(() => app.scheduler.stop());
  app.scheduler.start();
  for (const id of ids) assert.equal((await getTest(id, '?wait=20')).status, 'completed');
});

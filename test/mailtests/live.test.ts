/** What a node remembers about tests in progress. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSignals } from '../../src/lib/concurrency.ts';
import {
  clearSteps,
  type DeliveryAttempt,
  expectAttempt,
  liveSignal,
  liveTest,
  recordAttempt,
  recordStep,
} from '../../src/mailtests/live.ts';
import { testClock } from '../helpers/clock.ts';

const startApp = () => ({ clock: testClock(), signals: createSignals() });

const attemptAt = (recipient: string): DeliveryAttempt => ({
  recipient,
  client: { client_ip: '192.0.2.1', helo: 'mail.example.com', tls: null },
  rejection: null,
});

test('An attempt is remembered for the address of a test only, and raises its signal', async () => {
  const app = startApp();
  const raised = app.signals.wait(liveSignal('test_1'), 5_000);
  recordAttempt(app, attemptAt('unknown@inbox.test'));
  expectAttempt(app, 'token', 'test_1');
  recordAttempt(app, attemptAt('ToKeN@inbox.test'));
  assert.equal(await raised, true);
  assert.equal(liveTest(app, 'test_1').attempt?.client.client_ip, '192.0.2.1');
  assert.equal(liveTest(startApp(), 'test_1').attempt, null);
});

test('Attempts are bounded in number, length and age', () => {
  const app = startApp();
  for (let i = 0; i < 1001; i++) {
    expectAttempt(app, `t${i}`, `test_${i}`);
    const attempt = attemptAt(`t${i}@inbox.test`);
    recordAttempt(app, { ...attempt, client: { ...attempt.client, helo: 'x'.repeat(4000) } });
  }
  assert.equal(liveTest(app, 'test_0').attempt, null);
  assert.equal(liveTest(app, 'test_1').attempt?.client.helo?.length, 255);
  app.clock.advance(86_400_000);
  assert.equal(liveTest(app, 'test_1').attempt, null);
});

test('The steps of an analysis start again when it is repeated', () => {
  const app = startApp();
  recordStep(app, 'test_1', 'spf', 'pass');
  recordStep(app, 'test_2', 'dkim', 'fail');
  clearSteps(app, 'test_1');
  assert.deepEqual(liveTest(app, 'test_1').steps, {});
  assert.deepEqual(liveTest(app, 'test_2').steps, { dkim: 'fail' });
});

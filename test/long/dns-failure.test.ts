/** DNS that never answers: the analysis is retried after 1, 3 and 10 minutes, then fails. */

// @waits: for the time limits of DNS requests, ten seconds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimDue } from '../../src/mailtests/analyze.ts';
import { ANALYZE_JOB } from '../../src/mailtests/queries.ts';
import type { DnsErrorReason } from '../../src/net/dns/resolver.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { SENDER_ZONE, signed, startWithDns } from '../e2e/sender.ts';
import type { TestService } from '../helpers/app.ts';
import { type TestClock, testClock } from '../helpers/clock.ts';
import { sendMail } from '../helpers/send.ts';

const MINUTE_MS = 60_000;

/** SPF and DKIM, and therefore DMARC, can't be determined. */
const failing = (reason: DnsErrorReason): Zone => ({
  ...SENDER_ZONE,
  'example.com': { fails: reason },
  's1._domainkey.example.com': { fails: reason },
});

test('With DNS failing, a test fails after the last retry with findings and one event', async (t) => {
  const clock = testClock();
  // The first attempt waits for real timeouts of five seconds; later attempts fail immediately.
  const { service, dns } = await startWithDns(t, failing('timeout'), { clock });
  const id = await receive(service);
  await waitForAttempt(service, id, 1);
  dns.zone = failing('servfail');
  for (const [index, minutes] of [1, 3, 10].entries()) {
    assert.equal((await service.getTest(id)).status, 'processing');
    await startRetry(service, clock, minutes);
    await waitForAttempt(service, id, index + 2);
  }
  const ended = await service.getTest(id);
  assert.equal(ended.status, 'failed');
  assert.equal(ended.failure_reason, 'analysis_error');
  assert.equal(ended.score, null);
  assert.equal(ended.grade, null);
  assert.deepEqual(ended.auth_results, {
    spf: 'temperror',
    dkim: 'temperror',
    dmarc: 'temperror',
  });
  const status = (id: string) => ended.checks.find((check) => check.id === id)?.status;
  for (const unknown of ['spf', 'dkim', 'dmarc']) assert.equal(status(unknown), 'error', unknown);
  for (const found of ['from', 'date', 'tls', 'ptr', 'text_part'])
    assert.equal(status(found), 'pass');
  await assertOneEvent(service, id, 'test.failed');
  clock.advance(24 * 60 * MINUTE_MS);
  assert.deepEqual(await claimDue(service.app, 10), []);
});

test('DNS that recovers in time completes the test with its score', async (t) => {
  const clock = testClock();
  const { service, dns } = await startWithDns(t, failing('servfail'), { clock });
  const id = await receive(service);
  await waitForAttempt(service, id, 1);
  dns.zone = SENDER_ZONE;
  await startRetry(service, clock, 1);
  const ended = await service.getTest(id, '?wait=50');
  assert.equal(ended.status, 'completed');
  assert.equal(ended.score, 100);
  await assertOneEvent(service, id, 'test.completed');
});

test('One undeterminable authentication result costs no points and no retry', async (t) => {
  const zone = { ...SENDER_ZONE, 's1._domainkey.example.com': { fails: 'servfail' } } as const;
  const { service } = await startWithDns(t, zone);
  const ended = await service.getTest(await receive(service), '?wait=50');
  assert.equal(ended.status, 'completed');
  assert.deepEqual(ended.auth_results, { spf: 'pass', dkim: 'temperror', dmarc: 'pass' });
  assert.equal(ended.score, 100);
  assert.ok(ended.coverage! < 1);
  assert.equal(ended.checks.find(({ id }) => id === 'dkim')?.status, 'error');
});

async function receive({ createTest, smtp }: TestService): Promise<string> {
  const { id, address } = await createTest();
  const raw = await signed();
  await sendMail({ port: smtp.port, to: address, raw });
  return id;
}

/** Resolves when the attempt with this number is over; the test may have failed with it. */
async function waitForAttempt({ app }: TestService, id: string, number: number): Promise<void> {
  for (;;) {
    const raised = app.signals.wait(id, 20_000);
    const row = await app.db
      .selectFrom('tests')
      .select(['status', 'analysis_attempts'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (row.analysis_attempts === number || row.status === 'failed') return;
    assert.ok(await raised, `attempt ${number} did not end`);
  }
}

/** Asserts that nothing is due a millisecond earlier, then starts the retry. */
async function startRetry({ app }: TestService, clock: TestClock, minutes: number): Promise<void> {
  clock.advance(minutes * MINUTE_MS - 1);
  assert.deepEqual(await claimDue(app, 10), []);
  clock.advance(1);
  app.scheduler.wake(ANALYZE_JOB);
}

async function assertOneEvent({ app }: TestService, id: string, type: string): Promise<void> {
  const events = await app.db.selectFrom('events').selectAll().execute();
  assert.deepEqual(
    events.map((event) => [event.type, JSON.parse(event.data).id, event.livemode]),
    [[type, id, 1]],
  );
}

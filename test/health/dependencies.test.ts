/** Readiness of outgoing mail: by the last attempt, without waiting for a new one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mailer } from '../../src/net/smtp/mailer.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { PASSWORD, startOutbox } from '../outbox/outbox.ts';

interface Readiness {
  status: string;
  dependencies: { name: string; status: string; detail: string | null }[];
}

async function outgoing(service: TestService) {
  const { status, body, text } = await service.call<Readiness>('GET', '/readyz', { key: null });
  assert.equal(status, 200);
  assert.ok(!text.includes(PASSWORD) && !text.includes('127.0.0.1'));
  const found = body.dependencies.find(({ name }) => name === 'outgoing_smtp');
  return [found?.status, found?.detail];
}

test('GET /readyz reports outgoing_smtp as disabled, up or degraded', async (t) => {
  assert.deepEqual(await outgoing(await startTestService(t)), ['disabled', 'Not configured.']);
  const { service, clock, sink } = await startOutbox(t);
  assert.deepEqual(await outgoing(service), ['up', null]);
  await sink.close();
  assert.deepEqual(await outgoing(service), ['up', null], 'not probed for each request');
  clock.advance(300_000);
  await outgoing(service);
  while ((await outgoing(service))[0] === 'up');
  const reason = "Can't send email: the server refused the connection.";
  assert.deepEqual(await outgoing(service), ['degraded', reason]);
});

test('GET /readyz reports rejected SMTP credentials without revealing them', async (t) => {
  const sink = await startMailSink(t, { allowInsecureAuth: true });
  const url = `smtp://me:${encodeURIComponent(PASSWORD)}@127.0.0.1:${sink.port}`;
  const { service } = await startOutbox(t, { env: { DELIVERABILITY_MAIL_URL: url } }, sink);
  const reason = "Can't send email: the server rejected the user name and password.";
  assert.deepEqual(await outgoing(service), ['degraded', reason]);
  assert.deepEqual(sink.passwords, [PASSWORD]);
});

test('GET /readyz keeps outgoing_smtp up when a recipient is rejected', async (t) => {
  const { service, sink, queue, run } = await startOutbox(t);
  sink.refuse = { at: 'rcpt', code: 550, text: 'no such user' };
  await queue();
  await run();
  assert.deepEqual(await outgoing(service), ['up', null]);
});

test('GET /readyz does not wait for an unresponsive SMTP server', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  t.after(() => resolve());
  let asked = 0;
  const mailer: Mailer = {
    send: async () => ({ ok: true, response: '' }),
    verify() {
      asked++;
      return promise;
    },
    lastAttempt: () => null,
    close() {},
  };
  const service = await startTestService(t, { mailer, clock: testClock() });
  for (let i = 0; i < 3; i++)
    assert.deepEqual(await outgoing(service), ['degraded', 'No response yet.']);
  assert.equal(asked, 1);
});

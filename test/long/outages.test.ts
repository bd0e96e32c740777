/** DNS, the server for outgoing email and the webhook receivers are away: everything is done once they are back. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { NOTIFY_JOB } from '../../src/alerts/notify.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { ANALYZE_JOB } from '../../src/mailtests/queries.ts';
import { SEND_JOB } from '../../src/outbox/queue.ts';
import { DELIVER_JOB } from '../../src/webhooks/enqueue.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { sendMail } from '../helpers/send.ts';
import { startMailSink } from '../outbox/mail-sink.ts';

/** An alert sends at most twenty emails per hour. */
const TESTS = Number(process.env.OUTAGE_TESTS ?? 5);
const MAX_STEPS = 3_000;

test('Without DNS, outgoing SMTP and receivers, mail is accepted, and all work is done later, once', {
  timeout: 600_000,
}, async (t) => {
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const receiver = await startReceiver(t);
  const sink = await startMailSink(t);
  let ahead = 0;
  const clock = { now: () => systemClock.now() + ahead };
  const service = await startTestService(t, {
    clock,
    // The service asks the server itself, not a zone in memory.
    resolver: undefined,
    env: {
      ...receiver.env,
      DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
      DELIVERABILITY_SECRET_KEY: 'a secret key for the tests of outages, long enough',
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  const post = async (path: string, json: object) =>
    assert.equal((await service.call('POST', path, { json })).status, 201);
  await post('/v1/webhooks/endpoints', { url: receiver.url, events: ['test.completed'] });
  await post('/v1/alerts', { name: 'SPF', condition: 'auth_fail', channels: ['email'] });

  // The outage.
  dns.zone = Object.fromEntries(
    Object.keys(SENDER_ZONE).map((name) => [name, { fails: 'servfail' as const }]),
  );
  receiver.respond = (_request, response) => {
    response.destroy();
    return null;
  };
  sink.refuse = { at: 'mail', code: 451, text: '4.3.2 System not accepting messages' };
  const ids: string[] = [];
  for (let i = 0; i < TESTS; i++) {
    const { id, address } = await service.createTest();
    const raw = goodMessage().replaceAll('@example.com', `@t${i}.example`).replaceAll('\n', '\r\n');
    await sendMail({ port: service.smtp.port, to: address, raw });
    ids.push(id);
  }
  await pause(500);
  receiver.requests.length = 0;
  dns.zone = SENDER_ZONE;
  sink.refuse = { at: 'mail', code: 451, text: '4.3.2 System not accepting messages' };
  // Analyses complete, but their events and emails find nobody.
  for (let step = 0; (await unfinishedTests(service)) > 0; step++) {
    assert.ok(step < MAX_STEPS, 'the analyses do not complete');
    ahead += 30_000;
    service.app.scheduler.wake(ANALYZE_JOB);
    await pause(20);
  }
  assert.equal(sink.taken.length, 0);
  receiver.requests.length = 0;

  // All are back.
  receiver.respond = () => 200;
  sink.refuse = null;
  for (let step = 0; (await dueRows(service)) > 0; step++) {
    assert.ok(step < MAX_STEPS, 'work remains due');
    ahead += 60_000;
    for (const job of [ANALYZE_JOB, SEND_JOB, NOTIFY_JOB, DELIVER_JOB])
      service.app.scheduler.wake(job);
    await pause(20);
  }
  const delivered = receiver.requests.map(
    ({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id,
  );
  assert.deepEqual(delivered.toSorted(), ids.toSorted());
  for (const id of ids) assert.equal((await service.getTest(id)).status, 'completed');
  const mails = sink.taken.map(({ raw }) => raw.toString().replaceAll('=\r\n', ''));
  for (const id of ids) assert.equal(mails.filter((text) => text.includes(id)).length, 1, id);
  t.diagnostic(
    JSON.stringify({ tests: ids.length, events: delivered.length, mails: mails.length }),
  );
});

async function unfinishedTests({ app: { db } }: TestService): Promise<number> {
  const rows = await db
    .selectFrom('tests')
    .select('id')
    .where('analysis_due_at', 'is not', null)
    .execute();
  return rows.length;
}

async function dueRows({ app: { db } }: TestService): Promise<number> {
  const due = await Promise.all(
    (['outbox', 'alert_notifications', 'webhook_deliveries'] as const).map((table) =>
      db.selectFrom(table).select('due_at').where('due_at', 'is not', null).execute(),
    ),
  );
  return due.flat().length;
}

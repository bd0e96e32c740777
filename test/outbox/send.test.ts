/** Emails from the outbox to the server: sent once, retried or failed, and never stored in clear text. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { isoTime } from '../../src/lib/clock.ts';
import type { SettledMail } from '../../src/outbox/expire.ts';
import { expireMail, mailSettled } from '../../src/outbox/expire.ts';
import { emailStatus, queueMail, SEND_JOB } from '../../src/outbox/queue.ts';
import { claimDueMail, recordOutcome, sendMailJob } from '../../src/outbox/send.ts';
import { startService } from '../../src/service.ts';
import { subscribe } from '../../src/store/subscribers.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { makeKey } from '../helpers/signer.ts';
import { databaseEnvironment, onPostgres, SAME_NODE } from '../helpers/store.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import { startMailSink } from './mail-sink.ts';
import { MAIL, startOutbox, TOKEN } from './outbox.ts';

const MINUTE_MS = 60_000;

test('Queued mail is sent after its transaction commits', async (t) => {
  const sink = await startMailSink(t);
  const { app } = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'notices@example.com',
    },
  });
  const undone = app.db.transaction().execute(async (tx) => {
    await queueMail(tx, app, MAIL);
    throw new Error('undone');
  });
  await assert.rejects(undone, /undone/);
  const id = await app.db.transaction().execute((tx) => queueMail(tx, app, MAIL));
  app.scheduler.wake(SEND_JOB);
  while (sink.taken.length === 0) await pause(5);
  await app.scheduler.stop();
  const rows = await app.db.selectFrom('outbox').selectAll().execute();
  assert.equal(rows.length, 1);
  const { content, error, status, attempts, due_at, lease } = rows[0]!;
  assert.deepEqual(
    { content, error, status, attempts, due_at, lease },
    { content: null, error: null, status: 'sent', attempts: 1, due_at: null, lease: null },
  );
  assert.equal(sink.taken.length, 1);
  const { headers, text } = await parseMessage(sink.taken[0]!.raw);
  assert.equal(headers.find(({ key }) => key === 'message-id')?.value, `<${id}@example.com>`);
  assert.ok(text?.includes(TOKEN));
});

test('Without a configured mail server no mail is queued', async (t) => {
  const { app } = await startTestService(t);
  await app.scheduler.stop();
  assert.equal(await app.db.transaction().execute((tx) => queueMail(tx, app, MAIL)), null);
  assert.deepEqual(await app.db.selectFrom('outbox').select('id').execute(), []);
  await sendMailJob(app).run();
});

test('The service refuses to start with an unsuitable DKIM key for outgoing mail', async (t) => {
  const key = makeKey('ed25519').privateKey;
  const env = {
    DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1',
    DELIVERABILITY_MAIL_FROM: 'notices@example.com',
    DELIVERABILITY_MAIL_DKIM_DOMAIN: 'example.com',
    DELIVERABILITY_MAIL_DKIM_SELECTOR: 's1',
    DELIVERABILITY_MAIL_DKIM_KEY: key,
  };
  await assert.rejects(startTestService(t, { env }), (error: Error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /DELIVERABILITY_MAIL_DKIM_KEY must be an RSA key$/);
    return true;
  });
});

test('emailStatus maps outbox states to not_configured, queued, sent and failed', () => {
  assert.equal(emailStatus(null, undefined), 'not_configured');
  for (const status of ['queued', 'sent', 'failed'] as const)
    assert.equal(emailStatus('mail_1', { status }), status);
  assert.equal(emailStatus('mail_1', undefined), 'sent');
});

test('Mail is retried when the SMTP server refuses the connection', async (t) => {
  const down = await startMailSink(t);
  await down.close();
  const { queue, run, row, clock } = await startOutbox(t, {}, down);
  const id = await queue();
  await run();
  const waiting = await row(id);
  assert.deepEqual(
    [waiting?.status, waiting?.attempts, waiting?.due_at, waiting?.error],
    ['queued', 1, '2026-11-21T10:01:00.000Z', 'the server refused the connection'],
  );
  const up = await startMailSink(t, { port: down.port });
  clock.advance(MINUTE_MS - 1);
  await run();
  assert.equal(up.taken.length, 0, 'not before it is due');
  clock.advance(1);
  await run();
  assert.equal(up.taken.length, 1);
  const sent = await row(id);
  assert.deepEqual(
    [sent?.status, sent?.attempts, sent?.sent_at, sent?.content, sent?.error],
    ['sent', 2, '2026-11-21T10:01:00.000Z', null, null],
  );
});

test('Mail is retried after 1, 5 and 30 minutes, 2 and 8 hours, then fails', async (t) => {
  const { queue, run, row, clock, sink, service } = await startOutbox(t);
  sink.refuse = { at: 'rcpt', code: 451, text: 'later' };
  const id = await queue();
  for (const [i, minutes] of [1, 5, 30, 120, 480].entries()) {
    await run();
    const { status, attempts, due_at, lease, content } = (await row(id))!;
    assert.deepEqual([status, attempts, lease], ['queued', i + 1, null]);
    assert.equal(Date.parse(due_at!), clock.now() + minutes * MINUTE_MS);
    assert.notEqual(content, null);
    clock.advance(minutes * MINUTE_MS);
  }
  await run();
  const { status, attempts, due_at, content, error } = (await row(id))!;
  assert.deepEqual(
    { status, attempts, due_at, content, error },
    {
      status: 'failed',
      attempts: 6,
      due_at: null,
      content: null,
      error: 'the server rejected the recipient: 451 later',
    },
  );
  assert.equal(
    service.logged.filter(({ message }) => message === 'sending mail failed, will retry').length,
    5,
  );
  assert.equal(service.logged.filter(({ message }) => message === 'sending mail failed').length, 1);
});

test('A permanent rejection (550) is not retried and its link is redacted', async (t) => {
  const { queue, run, row, clock, sink } = await startOutbox(t);
  sink.refuse = { at: 'rcpt', code: 550, text: `no such user; see https://app.example/${TOKEN}` };
  const id = await queue();
  await run();
  const { status, content, error } = (await row(id))!;
  assert.deepEqual(
    { status, content, error },
    {
      status: 'failed',
      content: null,
      error: 'the server rejected the recipient: 550 no such user; see …',
    },
  );
  sink.refuse = null;
  clock.advance(86_400_000);
  await run();
  assert.equal(sink.taken.length, 0);
});

test('Two concurrent send jobs send each mail once', async (t) => {
  const { app, queue, sink } = await startOutbox(t);
  const ids = [await queue(), await queue(), await queue()];
  const jobs = [sendMailJob(app), sendMailJob(app)];
  await Promise.all(jobs.map((job) => job.run()));
  await Promise.all(jobs.map((job) => job.idle?.()));
  assert.equal(sink.taken.length, ids.length);
});

test('More emails than the concurrency limit are sent; a hanging one blocks no others', async (t) => {
  const sink = await startMailSink(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  const { app } = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'notices@example.com',
    },
  });
  t.after(() => resolve());
  const queue = () => app.db.transaction().execute((tx) => queueMail(tx, app, MAIL));
  sink.hold = promise;
  await queue();
  app.scheduler.wake(SEND_JOB);
  while (sink.taken.length < 1) await new Promise(setImmediate);
  sink.hold = null;
  for (let i = 0; i < 12; i++) await queue();
  app.scheduler.wake(SEND_JOB);
  while (sink.taken.length < 13) await new Promise(setImmediate);
  const sent = () => app.db.selectFrom('outbox').select('id').where('status', '=', 'sent');
  while ((await sent().execute()).length < 12) await new Promise(setImmediate);
  resolve();
  await app.scheduler.stop();
  assert.equal((await sent().execute()).length, 13);
});

test('Mail sent but not recorded is resent with the same ID after its lease expires', async (t) => {
  const { app, queue, run, row, clock, sink } = await startOutbox(t);
  const id = await queue();
  const [claimed] = await claimDueMail(app, 10);
  assert.equal(claimed?.id, id);
  await run();
  assert.equal(sink.taken.length, 0, 'it is claimed');
  clock.advance(120_001);
  await run();
  assert.equal(sink.taken.length, 1);
  const sent = await row(id);
  assert.equal(sent?.status, 'sent');
  // A late outcome is ignored.
  await recordOutcome(app, claimed, { ok: false, temporary: true, reason: 'late' });
  assert.deepEqual(await row(id), sent);
});

test('On start the service resumes mail that was being sent at shutdown', async (t) => {
  const folder = temporaryFolder(t);
  const sink = await startMailSink(t);
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'notices@example.com',
    DELIVERABILITY_BLOCKLISTS: '-all',
    ...SAME_NODE,
    ...(await databaseEnvironment(folder)),
  });
  const first = await startService(config, '0.0.0-test', { clock: testClock() });
  await first.app.scheduler.stop();
  const id = await first.app.db.transaction().execute((tx) => queueMail(tx, first.app, MAIL));
  assert.equal((await claimDueMail(first.app, 1)).length, 1);
  await first.stop();
  const second = await startOutbox(t, { folder, env: SAME_NODE }, sink);
  await second.run();
  assert.equal(sink.taken.length, 1);
  assert.equal((await second.row(id!))?.status, 'sent');
});

test('Stopping the service leaves unfinished mail queued', async (t) => {
  const { app, queue, row, sink } = await startOutbox(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  t.after(() => resolve());
  sink.hold = promise;
  const id = await queue();
  const job = sendMailJob(app);
  await job.run();
  while (sink.taken.length === 0) await new Promise(setImmediate);
  app.mailer?.close();
  await job.idle?.();
  const { status, attempts, error } = (await row(id))!;
  assert.deepEqual({ status, attempts, error }, { status: 'queued', attempts: 0, error: null });
});

test('Database and log never contain mail content in clear text', async (t) => {
  const { queue, run, clock, sink, service } = await startOutbox(t);
  const attachments = [
    { filename: 'secret.eml', contentType: 'message/rfc822', content: Buffer.from(TOKEN) },
  ];
  const bytes = async () => (await storedBytes(service.app, service.folder)).toString('latin1');
  const secrets = [TOKEN, Buffer.from(TOKEN).toString('base64'), MAIL.subject, 'secret.eml'];
  const inClear = async () => {
    const stored = await bytes();
    return secrets.filter((secret) => stored.includes(secret));
  };
  const id = await queue({ attachments });
  assert.ok((await bytes()).includes(id), 'the files are read');
  assert.deepEqual(await inClear(), []);
  sink.refuse = { at: 'data', code: 451, text: `spam: ${TOKEN} https://app.example/${TOKEN}` };
  await run();
  assert.deepEqual(await inClear(), []);
  sink.refuse = null;
  clock.advance(MINUTE_MS);
  await run();
  assert.equal(sink.taken.length, 1);
  assert.deepEqual(await inClear(), []);
  assert.ok(!secrets.some((secret) => JSON.stringify(service.logged).includes(secret)));
});

test('Mail that cannot be decrypted is retried, then fails', async (t) => {
  const { app, queue, run, row, sink, clock } = await startOutbox(t);
  const [one, other] = [await queue(), await queue()];
  const { content } = (await row(one))!;
  await app.db.updateTable('outbox').set({ content }).where('id', '=', other).execute();
  for (const [i, minutes] of [1, 5, 30, 120, 480].entries()) {
    await run();
    const waiting = (await row(other))!;
    assert.deepEqual(
      [waiting.status, waiting.attempts, waiting.content],
      ['queued', i + 1, content],
    );
    assert.match(waiting.error!, /^its content cannot be decrypted/);
    clock.advance(minutes * MINUTE_MS);
  }
  assert.equal((await row(one))?.status, 'sent');
  await run();
  const { status, error, content: rest } = (await row(other))!;
  assert.deepEqual([status, rest], ['failed', null]);
  assert.match(error!, /^its content cannot be decrypted/);
  assert.equal(sink.taken.length, 1);
});

test('Mail whose damaged row is repaired before the last retry is sent', async (t) => {
  const { app, queue, run, row, sink, clock } = await startOutbox(t);
  const id = await queue();
  const { content } = (await row(id))!;
  const set = (text: string) =>
    app.db.updateTable('outbox').set({ content: text }).where('id', '=', id).execute();
  await set(content!.slice(4));
  await run();
  assert.equal(sink.taken.length, 0);
  await set(content!);
  clock.advance(MINUTE_MS);
  await run();
  assert.deepEqual([sink.taken.length, (await row(id))?.status], [1, 'sent']);
});

test('Mail past its useful time is not sent and records the reason', async (t) => {
  const { queue, run, row, sink, clock } = await startOutbox(t);
  const late = await queue({}, isoTime(clock.now() + 1000));
  const timely = await queue({}, isoTime(clock.now() + 1001));
  clock.advance(1000);
  await run();
  assert.equal(sink.taken.length, 1);
  assert.equal((await row(timely))?.status, 'sent');
  const { status, content, due_at, error } = (await row(late))!;
  assert.deepEqual(
    { status, content, due_at, error },
    {
      status: 'failed',
      content: null,
      due_at: null,
      error: 'it expired before it could be sent',
    },
  );
});

test('Mail is not retried when the retry would fall after its useful time', async (t) => {
  const { queue, run, row, sink, clock } = await startOutbox(t);
  sink.refuse = { at: 'rcpt', code: 451, text: 'later' };
  const late = await queue({}, isoTime(clock.now() + MINUTE_MS));
  const timely = await queue({}, isoTime(clock.now() + MINUTE_MS + 1));
  await run();
  assert.equal((await row(timely))?.status, 'queued');
  const { status, content, due_at, error } = (await row(late))!;
  assert.deepEqual({ status, content, due_at }, { status: 'failed', content: null, due_at: null });
  assert.match(error!, /^it expired before it could be sent; last error: .*451 later$/);
});

test('Mail recorded as sent stays sent despite late outcomes from other leases', async (t) => {
  const { app, queue, run, row, clock } = await startOutbox(t);
  const id = await queue();
  const [first] = await claimDueMail(app, 1);
  clock.advance(120_001);
  const [second] = await claimDueMail(app, 1);
  await recordOutcome(app, first!, { ok: true, response: '250 ok' });
  const sent = (await row(id))!;
  assert.deepEqual([sent.status, sent.lease, sent.content], ['sent', null, null]);
  clock.advance(1);
  await recordOutcome(app, second!, { ok: true, response: '250 ok' });
  await recordOutcome(app, second!, { ok: false, temporary: false, reason: 'late' });
  await run();
  assert.deepEqual(await row(id), sent);
});

test('Mail scheduled far in the future by a clock jump is sent now', async (t) => {
  const { app, queue, run, row, sink } = await startOutbox(t);
  const [planned, leased] = [await queue(), await queue()];
  const far = '2027-11-21T10:00:00.000Z';
  const set = (id: string, change: object) =>
    app.db.updateTable('outbox').set(change).where('id', '=', id).execute();
  await set(planned, { due_at: far });
  await set(leased, { lease: 'req_1', leased_until: far });
  await run();
  // On PostgreSQL, the lease could be that of another node, and this node's clock slow.
  const expected = onPostgres ? ['sent', 'queued'] : ['sent', 'sent'];
  assert.deepEqual([(await row(planned))!.status, (await row(leased))!.status], expected);
  assert.equal(sink.taken.length, onPostgres ? 1 : 2);
});

test('The longest regular retry delay is not mistaken for a clock jump', async (t) => {
  const { app, queue, run, sink, clock } = await startOutbox(t);
  const id = await queue();
  const due_at = isoTime(clock.now() + 8 * 3_600_000);
  await app.db.updateTable('outbox').set({ due_at }).where('id', '=', id).execute();
  await run();
  assert.equal(sink.taken.length, 0);
});

test('mailSettled subscribers run in the transaction that records the outcome', async (t) => {
  const { app, queue, run, row, sink, clock } = await startOutbox(t);
  const heard: SettledMail[] = [];
  let fault: Error | null = null;
  app.subscribers.add(
    subscribe(mailSettled, async (_tx, ends) => {
      if (fault) throw fault;
      heard.push(...ends);
    }),
  );
  const sent = await queue();
  await run();
  const sent_at = isoTime(clock.now());
  assert.deepEqual(heard.splice(0), [{ id: sent, status: 'sent', error: null, sent_at }]);
  sink.refuse = { at: 'rcpt', code: 450, text: 'later' };
  const refused = await queue();
  await run();
  assert.equal(heard.length, 0, 'it is tried again');
  sink.refuse = { at: 'rcpt', code: 550, text: 'never' };
  clock.advance(60_000);
  await run();
  const [end] = heard.splice(0) as SettledMail[];
  assert.deepEqual([end!.id, end!.status, end!.sent_at], [refused, 'failed', null]);
  assert.match(end!.error!, /never/);
  const late = await queue({}, isoTime(clock.now() + 1));
  clock.advance(1);
  await expireMail(app);
  assert.deepEqual(
    heard.splice(0).map(({ id, status }) => [id, status]),
    [[late, 'failed']],
  );
  sink.refuse = null;
  fault = new Error('the end of it');
  const undone = await queue();
  await run();
  assert.equal((await row(undone))!.status, 'queued');
});

test('At most three bulk emails are sent at once, leaving capacity for others', async (t) => {
  const { app, queue, sink } = await startOutbox(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  sink.hold = promise;
  await app.db.transaction().execute(async (tx) => {
    for (let i = 0; i < 8; i++) await queueMail(tx, app, MAIL, null, { bulk: true });
  });
  const job = sendMailJob(app);
  await job.run();
  await job.run();
  const leased = app.db.selectFrom('outbox').select('id').where('lease', 'is not', null);
  assert.equal((await leased.execute()).length, 3);
  const urgent = await queue();
  await job.run();
  const ids = (await leased.execute()).map(({ id }) => id);
  assert.ok(ids.includes(urgent) && ids.length === 4);
  resolve();
  await job.idle!();
});

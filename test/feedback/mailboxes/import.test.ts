/** Imports from folders on a Dovecot server. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSome } from '../../../src/feedback/mailboxes/import.ts';
import { claimRows } from '../../../src/store/leases.ts';
import { DOVECOT_PASSWORD } from '../../helpers/dovecot.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import {
  contentOf,
  MAILBOXES,
  OWN_SERVER,
  PRIVATE_MAIL,
  reportMail,
  startCuttingProxy,
  startMailboxes,
} from './mailboxes.ts';

const skip = skipUnlessInstalled('dovecot');

const countsOf = (list: { count: number }[], key: 'status' | 'reason') =>
  Object.fromEntries(list.map((each) => [(each as never)[key], each.count]));

test('An import reads each message of a folder once, and leaves it unread in the folder', {
  skip,
}, async (t) => {
  const { add, until, start, client, reports, service } = await startMailboxes(t);
  for (const id of ['a', 'b']) await client.append('Reports', reportMail(id));
  await client.append('Reports', PRIVATE_MAIL, ['\\Flagged']);
  await client.append('Reports', reportMail('c'), ['\\Seen']);
  const before = await contentOf(client, 'Reports');
  const { id } = await add();
  const first = await until(id);
  assert.equal(first.problem, null);
  assert.deepEqual(
    { ...first.import, started_at: null, finished_at: null },
    {
      status: 'completed',
      started_at: null,
      finished_at: null,
      read: 4,
      remaining: 0,
      moved: 0,
      reports: [{ status: 'counted', count: 3 }],
      refused: [],
      not_reports: 1,
      undecided: 0,
    },
  );
  assert.equal(first.next_import_at, null);
  assert.deepEqual(await contentOf(client, 'Reports'), before);
  const stored = await reports();
  assert.deepEqual(
    stored.map(({ status, source, reporter }) => [status, source, reporter]),
    Array.from({ length: 3 }, () => ['counted', 'imap', 'google.com']),
  );
  // Other mail of the owner is not stored.
  const mails = await service.app.db.selectFrom('feedback_mails').select('id').execute();
  assert.equal(mails.length, 3);

  // Only what is new is read.
  await client.append('Reports', reportMail('d'));
  await start(id);
  const second = await until(id);
  assert.deepEqual(
    [second.import.read, second.import.reports],
    [1, [{ status: 'counted', count: 1 }]],
  );
  assert.equal((await reports()).length, 4);
});

test('Forged Authentication-Results do not authenticate a report', { skip }, async (t) => {
  const { add, until, client, reports } = await startMailboxes(t);
  const FORGED = {
    lower:
      'mx.own.example; dkim=none\r\nAuthentication-Results: mx.own.example; dkim=pass header.d=google.com',
    other: 'mx.evil.example; dkim=pass header.d=google.com',
    onTop:
      'mx.evil.example; dkim=pass header.d=google.com\r\nAuthentication-Results: mx.own.example; dkim=pass header.d=google.com',
    nobody: '',
  };
  for (const [id, results] of Object.entries(FORGED))
    await client.append('Reports', reportMail(id, { results }));
  const { id } = await add();
  const { import: result } = await until(id);
  assert.deepEqual(countsOf(result.reports, 'status'), { unverified: 4 });
  assert.ok(
    (await reports()).every(({ status, reporter_id }) => status === 'unverified' && !reporter_id),
  );
});

test('Authentication-Results of a server that is not trusted do not authenticate a report', {
  skip,
}, async (t) => {
  const { add, until, client, service } = await startMailboxes(t);
  await client.append('Reports', reportMail('a'));
  const { id, trusted_servers } = await add({ authserv_id: null });
  assert.deepEqual(trusted_servers, []);
  assert.deepEqual((await until(id)).import.reports, [{ status: 'unverified', count: 1 }]);
  // Once it is named, the messages are read again.
  const json = { authserv_id: OWN_SERVER };
  await service.call('PATCH', `${MAILBOXES}/${id}`, { json });
  assert.deepEqual((await until(id)).import.reports, [{ status: 'counted', count: 1 }]);
});

test('An import in many runs reads each message once', { skip }, async (t) => {
  const { add, get, client, service, reports } = await startMailboxes(t);
  const { app } = service;
  await app.scheduler.stop();
  for (let index = 0; index < 40; index++)
    await client.append('Reports', index % 4 === 3 ? PRIVATE_MAIL : reportMail(`m-${index}`));
  const { id } = await add();
  let runs = 0;
  while ((await get(id)).import.finished_at === null) {
    const due = app.db.selectFrom('report_mailboxes').selectAll().limit(1);
    const [held] = await claimRows(app, { table: 'report_mailboxes', due, leaseMs: 60_000 });
    // Another node finds nothing to do meanwhile.
    assert.deepEqual(await claimRows(app, { table: 'report_mailboxes', due, leaseMs: 60_000 }), []);
    await importSome(app, held!, new AbortController().signal, 7);
    runs += 1;
  }
  assert.equal(runs, 6);
  const { import: result } = await get(id);
  assert.deepEqual([result.read, result.not_reports, result.remaining], [40, 10, 0]);
  assert.deepEqual(result.reports, [{ status: 'counted', count: 30 }]);
  assert.equal((await reports()).length, 30);
});

test('A mailbox with more to read, or with a slow server, waits behind those that were due meanwhile', {
  skip,
}, async (t) => {
  const { add, get, client, clock, service } = await startMailboxes(t);
  await service.app.scheduler.stop();
  for (const id of ['a', 'b', 'c', 'd']) await client.append('Reports', reportMail(id));
  const { id } = await add();
  const run = async (maxMessages: number, minutes: number) => {
    const now = () => {
      clock.advance(minutes * 60_000);
      return clock.now();
    };
    const app = { ...service.app, clock: { now } };
    const due = app.db.selectFrom('report_mailboxes').selectAll().limit(1);
    const [held] = await claimRows(service.app, {
      table: 'report_mailboxes',
      due,
      leaseMs: 60_000,
    });
    const before = clock.now();
    await importSome(app, held!, new AbortController().signal, maxMessages);
    const { import: result, next_import_at } = await get(id);
    return { remaining: result.remaining, isLater: Date.parse(next_import_at ?? '') >= before };
  };
  clock.advance(60_000);
  assert.deepEqual(await run(1, 0), { remaining: 3, isLater: true });
  assert.deepEqual(await run(500, 11), { remaining: 3, isLater: true });
  assert.equal((await run(500, 0)).remaining, 0);
});

test('Reports of an unconfirmed reporter in a mailbox do not count, as over SMTP', {
  skip,
}, async (t) => {
  const { add, until, client } = await startMailboxes(t);
  const results = 'mx.own.example; spf=pass smtp.mailfrom=x@google.com';
  await client.append('Reports', reportMail('a', { results }));
  const { id } = await add();
  assert.deepEqual((await until(id)).import.reports, [{ status: 'unconfirmed', count: 1 }]);
});

test('An import that is interrupted in the middle of messages neither loses nor repeats a message', {
  skip,
}, async (t) => {
  const { add, until, start, client, reports, clock, dovecot } = await startMailboxes(t);
  const ids = Array.from({ length: 30 }, (_, index) => `cut-${index}`);
  for (const id of ids)
    await client.append(
      'Reports',
      reportMail(id, { filler: 'x'.repeat(70).concat('\n').repeat(100) }),
    );
  const proxy = await startCuttingProxy(t, dovecot.port, { count: 3, afterBytes: 60_000 });
  const { id } = await add({ port: proxy.port });
  for (let attempt = 1; attempt <= 3; attempt++) {
    const { problem, next_import_at, import: result } = await until(id, 'failed');
    assert.match(problem!, /^127\.0\.0\.1 closed the connection/);
    assert.ok(result.read > 0 && result.remaining > 0, JSON.stringify(result));
    assert.equal(result.finished_at, null);
    // By itself after a pause, or as soon as a person asks for it.
    if (attempt === 3) clock.set(Date.parse(next_import_at!));
    else await start(id);
  }
  const { import: result } = await until(id);
  assert.equal(proxy.connections, 4);
  assert.deepEqual(result.reports, [{ status: 'counted', count: 30 }]);
  assert.equal(result.read, 30);
  const stored = await reports();
  assert.equal(stored.length, 30);
  assert.ok(stored.every(({ status }) => status === 'counted'));
});

test('After a crash, the next process reads, moves and counts a message that was stored', {
  skip,
}, async (t) => {
  const { add, until, start, client, reports, service } = await startMailboxes(t);
  await client.mailboxCreate('Done');
  await client.append('Reports', reportMail('a'));
  const { id } = await add({ move_to: 'Done' });
  await until(id);
  // As if the process had ended before the message was moved and counted.
  const mail = await service.app.db
    .selectFrom('feedback_mails')
    .select('id')
    .executeTakeFirstOrThrow();
  await client.mailboxOpen('Done');
  await client.messageMove('1:*', 'Reports');
  await client.mailboxClose();
  const [back] = await contentOf(client, 'Reports');
  await service.app.db
    .updateTable('report_mailboxes')
    .set({ pending_mail: mail.id, last_uid: back!.uid })
    .execute();
  await start(id);
  const { import: result } = await until(id);
  assert.deepEqual(
    [result.read, result.moved, result.reports],
    [1, 1, [{ status: 'counted', count: 1 }]],
  );
  assert.equal((await reports()).length, 1);
  assert.deepEqual(await contentOf(client, 'Reports'), []);
});

test('A recreated folder is read from the start, and no report counts twice', {
  skip,
}, async (t) => {
  const { add, until, start, client, reports } = await startMailboxes(t);
  for (const id of ['a', 'b']) await client.append('Reports', reportMail(id, { count: '5' }));
  const { id } = await add();
  await until(id);
  // Dovecot makes UIDVALIDITY of the time in seconds.
  const before = await client.status('Reports', { uidValidity: true });
  await client.mailboxDelete('Reports');
  for (;;) {
    await client.mailboxCreate('Reports');
    const after = await client.status('Reports', { uidValidity: true });
    if (after && before && after.uidValidity !== before.uidValidity) break;
    await client.mailboxDelete('Reports');
  }
  for (const name of ['c', 'a', 'b'])
    await client.append('Reports', reportMail(name, { count: '5' }));
  await start(id);
  const { import: result } = await until(id);
  assert.deepEqual(countsOf(result.reports, 'status'), { counted: 1, duplicate: 2 });
  const counted = (await reports('&status=counted')).reduce(
    (sum, { messages }) => sum + messages,
    0,
  );
  assert.equal(counted, 15);
});

test('Messages with reports move to the target folder, and other messages stay', {
  skip,
}, async (t) => {
  const { add, until, client } = await startMailboxes(t);
  await client.mailboxCreate('Done');
  await client.append('Reports', reportMail('a'));
  await client.append('Reports', PRIVATE_MAIL);
  await client.append('Reports', reportMail('b'), ['\\Flagged']);
  const { id } = await add({ move_to: 'Done' });
  const { import: result } = await until(id);
  assert.deepEqual([result.moved, result.not_reports], [2, 1]);
  assert.deepEqual(
    (await contentOf(client, 'Reports')).map(({ subject, flags }) => [subject, flags]),
    [['Lunch', []]],
  );
  assert.deepEqual(
    (await contentOf(client, 'Done')).map(({ subject, flags }) => [subject, flags]),
    [
      ['Report a', []],
      ['Report b', ['\\Flagged']],
    ],
  );
});

test('Without MOVE, messages are copied and expunged by UID, and other messages marked as deleted stay', {
  skip,
}, async (t) => {
  const capabilities = 'IMAP4rev1 SASL-IR LITERAL+ UIDPLUS';
  const { add, until, client } = await startMailboxes(t, { capabilities });
  assert.ok(!client.capabilities.has('MOVE'));
  await client.mailboxCreate('Done');
  await client.append('Reports', reportMail('a'));
  await client.append('Reports', PRIVATE_MAIL, ['\\Deleted']);
  const { id } = await add({ move_to: 'Done' });
  const { import: result } = await until(id);
  assert.equal(result.moved, 1);
  assert.deepEqual(
    (await contentOf(client, 'Reports')).map(({ subject, flags }) => [subject, flags]),
    [['Lunch', ['\\Deleted']]],
  );
  assert.deepEqual(
    (await contentOf(client, 'Done')).map(({ subject }) => subject),
    ['Report a'],
  );
});

test('An import with a target folder fails on a server without MOVE and UIDPLUS', {
  skip,
}, async (t) => {
  const { add, until, client } = await startMailboxes(t, { capabilities: 'IMAP4rev1 SASL-IR' });
  await client.mailboxCreate('Done');
  await client.append('Reports', reportMail('a'));
  const { id } = await add({ move_to: 'Done' });
  assert.match((await until(id, 'failed')).problem!, /supports neither MOVE nor UIDPLUS/);
  assert.equal((await contentOf(client, 'Reports')).length, 1);
});

test('A message above the size limit is counted and skipped', { skip }, async (t) => {
  const env = { DELIVERABILITY_FEEDBACK_MAX_SIZE: '100000' };
  const { add, until, client } = await startMailboxes(t, { env });
  await client.append('Reports', reportMail('a', { filler: 'x'.repeat(120_000) }));
  await client.append('Reports', reportMail('b'));
  const { import: result } = await until((await add()).id);
  assert.deepEqual(result.refused, [{ reason: 'too_large', count: 1 }]);
  assert.deepEqual(result.reports, [{ status: 'counted', count: 1 }]);
});

const MISTAKES = [
  { settings: { password: 'wrong' }, problem: /rejects the user name or password/ },
  { settings: { folder: 'Nowhere' }, problem: /can’t open the folder “Nowhere”/ },
  { settings: { move_to: 'Nowhere' }, problem: /Check that this folder exists/ },
  { settings: { port: 1 }, problem: /Can’t connect to 127\.0\.0\.1/ },
  { settings: { host: 'imap.missing.example' }, problem: /the host name does not resolve/ },
  { settings: { host: '10.1.2.3' }, problem: /the IP address is not public.*ALLOW_NETWORKS/ },
];
for (const { settings, problem } of MISTAKES)
  test(`An import with ${JSON.stringify(settings)} fails with a clear problem, and resumes after a correction`, {
    skip,
  }, async (t) => {
    const { add, until, client, service, dovecot } = await startMailboxes(t);
    await client.append('Reports', reportMail('a'));
    const { id } = await add(settings);
    const failed = await until(id, 'failed');
    assert.match(failed.problem!, problem);
    assert.ok(!JSON.stringify(failed).includes(DOVECOT_PASSWORD));
    const json = {
      password: DOVECOT_PASSWORD,
      folder: 'Reports',
      move_to: null,
      port: dovecot.port,
      host: '127.0.0.1',
    };
    const { status } = await service.call('PATCH', `${MAILBOXES}/${id}`, { json });
    assert.equal(status, 200);
    const { import: result } = await until(id);
    assert.equal(
      result.reports.reduce((sum, { count }) => sum + count, 0),
      1,
    );
  });

test('A cancelled import stops before the next message, and the next import continues there', {
  skip,
}, async (t) => {
  const { add, until, start, client, service, reports } = await startMailboxes(t);
  for (let index = 0; index < 60; index++) await client.append('Reports', reportMail(`m-${index}`));
  const { id } = await add();
  while ((await reports()).length < 5);
  const cancelled = await service.call('POST', `${MAILBOXES}/${id}/cancel`);
  assert.equal(cancelled.status, 200);
  const { import: stopped } = await until(id, 'cancelled');
  assert.ok(stopped.remaining > 0);
  assert.equal((await service.call('POST', `${MAILBOXES}/${id}/cancel`)).status, 409);
  await start(id);
  await until(id);
  const stored = await reports();
  assert.equal(stored.length, 60);
  assert.ok(stored.every(({ status }) => status === 'counted'));
});

test('An import that is cancelled and started again at once, or changed while it runs, goes on', {
  skip,
}, async (t) => {
  const { add, until, start, client, service, reports } = await startMailboxes(t);
  for (let index = 0; index < 40; index++) await client.append('Reports', reportMail(`m-${index}`));
  const { id } = await add();
  for (const count of [3, 6, 9]) {
    while ((await reports()).length < count);
    const cancelled = await service.call('POST', `${MAILBOXES}/${id}/cancel`);
    assert.equal(cancelled.status, 200);
    await start(id);
    service.app.scheduler.wakeHere('feedback.import');
  }
  while ((await reports()).length < 12);
  const json = { password: DOVECOT_PASSWORD };
  assert.equal((await service.call('PATCH', `${MAILBOXES}/${id}`, { json })).status, 200);
  await until(id);
  assert.equal((await reports()).length, 40);
});

test('An hourly schedule starts the next import after an hour', { skip }, async (t) => {
  const { add, until, get, client, clock, reports } = await startMailboxes(t);
  const { id } = await add({ schedule: 'hourly' });
  const { next_import_at } = await until(id);
  assert.equal(Date.parse(next_import_at!), clock.now() + 3_600_000);
  await client.append('Reports', reportMail('a'));
  clock.set(Date.parse(next_import_at!));
  const started = (await get(id)).import.started_at;
  for (;;) if ((await until(id)).import.started_at !== started) break;
  await until(id);
  assert.equal((await reports()).length, 1);
});

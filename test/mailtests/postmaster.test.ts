/** Mail for postmaster is forwarded to the owner, complete, once and without loops. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';
import { timeInWords } from '../../src/lib/format/times.ts';
import { startTestService } from '../helpers/app.ts';
import { type SendOptions, sendMail } from '../helpers/send.ts';
import { startOutbox } from '../outbox/outbox.ts';

const COMPLAINT = [
  'From: =?utf-8?q?J=C3=B6rg?= <abuse@receiver.example>',
  'To: postmaster@inbox.test',
  'Subject: Your server\u001b sends <b>odd</b> mail',
  '',
  'Dear postmaster,',
  '.',
  'look at this: Grüße',
  '',
].join('\r\n');

async function start(t: TestContext, env: Record<string, string> = {}) {
  const outbox = await startOutbox(t, { env });
  const { app, service } = outbox;
  return {
    ...outbox,
    write: (raw: string, options: Partial<SendOptions> = {}) =>
      sendMail({ port: service.smtp.port, to: 'postmaster@inbox.test', raw, ...options }),
    counts: async () => {
      const count = async (table: 'messages' | 'outbox') =>
        (await app.db.selectFrom(table).select('id').execute()).length;
      return { kept: await count('messages'), passed: await count('outbox') };
    },
  };
}

test('Postmaster mail is forwarded to the owner as a byte-exact attachment', async (t) => {
  const { write, run, sink, counts } = await start(t);
  await write(COMPLAINT, { clientIp: '192.0.2.9', helo: 'mail.receiver.example' });
  assert.deepEqual(await counts(), { kept: 1, passed: 1 });
  await run();
  const { to, raw } = sink.taken[0]!;
  assert.deepEqual(to, ['owner@example.com']);
  const message = await parseMessage(raw);
  assert.equal(
    message.subject,
    'Mail for postmaster@inbox.test: Your server· sends <b>odd</b> mail',
  );
  const flat = message.text!.replace(/\s+/g, ' ');
  for (const fact of [
    'From: Jörg <abuse@receiver.example>',
    'Envelope: bounce@example.com, from 192.0.2.9 (mail.receiver.example)',
  ])
    assert.ok(flat.includes(fact), message.text!);
  assert.ok(message.html!.includes('&lt;b&gt;odd&lt;/b&gt;'));
  const [attached] = message.parts.filter(({ type }) => type === 'message/rfc822');
  assert.equal(attached?.filename, 'message.eml');
  assert.ok(Buffer.from(attached!.content).toString().endsWith(COMPLAINT));
});

test('Postmaster mail is only stored without outgoing mail or with an owner on this server', async (t) => {
  const service = await startTestService(t);
  const to = 'postmaster@inbox.test';
  await sendMail({ port: service.smtp.port, to, raw: COMPLAINT });
  const { app, write, counts } = await start(t);
  await app.db.updateTable('members').set({ email: 'owner@inbox.test' }).execute();
  await write(COMPLAINT);
  assert.deepEqual(await counts(), { kept: 1, passed: 0 });
});

const MACHINES: [what: string, raw: string, options: Partial<SendOptions>, passed: number][] = [
  ['an automatic reply', `Auto-Submitted: auto-replied\r\n${COMPLAINT}`, {}, 0],
  ['an auto-generated message', `Auto-Submitted: auto-generated; x=y\r\n${COMPLAINT}`, {}, 0],
  ['a message with Auto-Submitted: no', `Auto-Submitted: no\r\n${COMPLAINT}`, {}, 1],
  ['a bounce', COMPLAINT, { mailFrom: '' }, 0],
  ['a message from the service itself', COMPLAINT, { mailFrom: 'Notices@example.com' }, 0],
  ['a message without headers', '\r\nhello\r\n', {}, 1],
];
for (const [what, raw, options, passed] of MACHINES)
  test(`Postmaster mail: ${what} is ${passed ? 'forwarded to the owner' : 'stored but not forwarded'}`, async (t) => {
    const { write, counts } = await start(t);
    await write(raw, options);
    assert.deepEqual(await counts(), { kept: 1, passed });
  });

test('Forwarded postmaster mail is not forwarded again', async (t) => {
  const { write, run, sink, counts } = await start(t);
  await write(COMPLAINT);
  await run();
  await write(sink.taken[0]!.raw.toString('latin1'), { mailFrom: 'forwarder@example.net' });
  assert.deepEqual(await counts(), { kept: 2, passed: 1 });
});

test('Oversized postmaster mail is reported without attachment; mail with long lines is attached as a file', async (t) => {
  const { write, run, sink, service } = await start(t);
  await write(`${COMPLAINT}${'a line of thirty characters...\r\n'.repeat(10_000)}`);
  await write(`${COMPLAINT}${'x'.repeat(1_200)}\r\n`);
  await run();
  const [large, odd] = await Promise.all(sink.taken.map(({ raw }) => parseMessage(raw)));
  const types = (message: typeof large) => message!.parts.map(({ type }) => type);
  const notice = [large!, odd!].find(({ parts }) => parts.length === 2)!;
  const words = notice.text!.replace(/\s+/g, ' ');
  const [, id] = /too large to attach\. The service keeps it as (msg_\w+) but/.exec(words)!;
  for (const fact of [
    'ask the sender for a smaller message',
    'From: Jörg <abuse@receiver.example>',
    'Subject: Your server· sends <b>odd</b> mail',
    `Received: ${timeInWords('2026-11-21T10:00:00.000Z')}`,
    'Size: 320 KB',
  ])
    assert.ok(words.includes(fact), words);
  const logged = service.logged.filter(({ message }) => message.includes('too large'));
  assert.deepEqual(
    logged.map(({ fields }) => fields.message_id),
    [id],
  );
  const filed = [large!, odd!].find(({ parts }) => parts.length === 3)!;
  assert.deepEqual(types(filed), ['text/plain', 'text/html', 'application/octet-stream']);
  assert.ok(Buffer.from(filed.parts[2]!.content).toString().includes('x'.repeat(1_200)));
});

test('At most 50 postmaster messages are forwarded per day, and the last says so', async (t) => {
  const { app, write, run, sink, counts, clock } = await start(t);
  const received_at = new Date(clock.now()).toISOString();
  const kept = { test_id: null, recipient: 'p', sha256: '', size: 1, envelope: '{}', received_at };
  for (let i = 0; i < 49; i++)
    await app.db
      .insertInto('messages')
      .values({ ...kept, id: `msg_${i}` })
      .execute();
  await write(COMPLAINT);
  await write(COMPLAINT);
  assert.deepEqual(await counts(), { kept: 51, passed: 1 });
  await run();
  const { text } = await parseMessage(sink.taken[0]!.raw);
  assert.match(text!.replace(/\s+/g, ' '), /This is message 50 within 24 hours\./);
  clock.advance(86_400_001);
  await write(COMPLAINT);
  assert.deepEqual(await counts(), { kept: 52, passed: 2 });
});

// @isolated: one test measures the memory of its process.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ReceiveVerdict } from '../../src/smtp/destination.ts';
import { SMTP_LIMITS } from '../../src/smtp/listener-state.ts';
import { ADDRESS, beginData, listen } from './listener.ts';

it('EHLO lists exactly the supported extensions', async (t) => {
  const client = await (await listen(t, { maxSize: 1000 })).connect();
  const offered = (await client.say('EHLO client.example.com', 250)).split('\n').slice(1);
  assert.deepEqual(
    offered.map((line) => line.slice(4)),
    ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES', 'STARTTLS', 'SIZE 1000'],
  );
  await client.startTls();
  assert.doesNotMatch(await client.say('EHLO client.example.com', 250), /STARTTLS|AUTH/);
});

it('SMTP server rejects unsupported commands such as AUTH and EXPN', async (t) => {
  const client = await (await listen(t)).connect();
  await client.say('EHLO client.example.com', 250);
  await client.say('AUTH PLAIN AGEAYg==', 500);
  await client.say('BDAT 3 LAST', 500);
  await client.say('XCLIENT ADDR=192.0.2.1', 500);
  await client.say('EXPN list', 500);
  assert.doesNotMatch(await client.say(`VRFY ${ADDRESS}`, 252), /token/);
  await client.say('NOOP', 250);
  await client.say('QUIT', 221);
  assert.equal(await client.reply(), '');
});

it('RCPT TO follows the destination, and a destination for single recipients gets one per message', async (t) => {
  const listener = await listen(
    t,
    {},
    {
      check: async ({ local }) =>
        local.startsWith('expired')
          ? { accept: false, code: 550, enhanced: '5.2.1', text: 'This address has expired' }
          : /^(token|postmaster)/.test(local)
            ? { accept: true }
            : null,
    },
  );
  const client = await listener.connect();
  await client.say('EHLO client.example.com', 250);
  await client.say(`RCPT TO:<${ADDRESS}>`, 503);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say('DATA', 503);
  assert.equal(
    await client.say('RCPT TO:<expired@inbox.example.com>', 550),
    '550 5.2.1 This address has expired',
  );
  assert.match(await client.say('RCPT TO:<else@example.net>', 550), /^550 5\.1\.1 No such/);
  await client.say('DATA', 503);
  await client.say(`RCPT TO:<${ADDRESS}>`, 250);
  await client.say(`RCPT TO:<${ADDRESS.toUpperCase()}>`, 250);
  assert.equal(
    await client.say('RCPT TO:<token2@inbox.example.com>', 452),
    '452 4.5.3 Only one test address per message',
  );
  assert.match(await client.say('RCPT TO:<else@example.net>', 550), /^550 5\.1\.1/);
  await client.say('RSET', 250);
  await client.say('DATA', 503);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say('RCPT TO:<Postmaster>', 250);
  await client.say('DATA', 354);
  await client.say('help\r\n.', 250);
  assert.deepEqual(
    listener.messages.map(({ recipient }) => recipient),
    ['Postmaster'],
  );
});

it('SMTP server replies with the verdict of the destination', async (t) => {
  const listener = await listen(
    t,
    {},
    {
      receive: async () => ({ accept: false, code: 550, enhanced: '5.2.1', text: 'Used already' }),
    },
  );
  const client = await listener.connect();
  await beginData(client);
  assert.equal(await client.say('a\r\n.', 550), '550 5.2.1 Used already');
});

it('SMTP server answers 451 when a destination or a hook throws, without details', async (t) => {
  const fault = () => Promise.reject(new Error('SELECT secret FROM table'));
  for (const hook of ['check', 'receive', 'freeBytes'] as const) {
    const listener = await listen(t, {}, { [hook]: fault });
    const client = await listener.connect();
    await client.say('EHLO client.example.com', 250);
    const replies: string[] = [];
    for (const line of ['MAIL FROM:<a@b.example>', `RCPT TO:<${ADDRESS}>`, 'DATA', 'a\r\n.']) {
      await client.write(`${line}\r\n`);
      replies.push(await client.reply());
      if (replies.at(-1)?.startsWith('4')) break;
    }
    assert.match(replies.at(-1)!, /^451 4\.3\.0 /, hook);
    assert.doesNotMatch(replies.join(), /SELECT/);
    assert.deepEqual(listener.errors, ['could not receive a message SELECT secret FROM table']);
    await client.say('RSET', 250);
  }
});

it('SMTP server rejects oversized messages with 552 at MAIL FROM or at the end', async (t) => {
  const listener = await listen(t, { maxSize: 100_000 });
  const client = await listener.connect();
  await client.say('EHLO client.example.com', 250);
  assert.match(await client.say('MAIL FROM:<a@example.com> SIZE=100001', 552), /^552 5\.3\.4/);
  for (const [size, code] of [
    [100_000, 250],
    [100_001, 552],
    [1_000_000, 552],
  ] as const) {
    await beginData(client, false);
    await client.write(`${'x'.repeat(size - 2)}\r\n.\r\n`);
    assert.match(await client.reply(), code === 250 ? /^250 / : /^552 5\.3\.4/, String(size));
  }
  assert.deepEqual(
    listener.messages.map(({ raw }) => raw.length),
    [100_000],
  );
});

it('SMTP server: stuffed dots do not count towards the message size', async (t) => {
  const listener = await listen(t, { maxSize: 1000 });
  const client = await listener.connect();
  await beginData(client);
  await client.write(`${'..\r\n'.repeat(333)}.\r\n`);
  assert.match(await client.reply(), /^250 /);
  assert.equal(listener.messages[0]?.raw.length, 999);
});

it('SMTP server does not buffer an endless message in memory', async (t) => {
  const listener = await listen(t, { maxSize: 1_000_000 });
  const client = await listener.connect();
  await beginData(client);
  const line = Buffer.from(`${'x'.repeat(998)}\r\n`.repeat(1000));
  const before = process.memoryUsage().arrayBuffers;
  let peak = 0;
  for (let i = 0; i < 200; i++) {
    await client.write(line);
    peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
  }
  await client.write('.\r\n');
  assert.match(await client.reply(), /^552 5\.3\.4/);
  assert.ok(peak < 100_000_000, `${peak} of 200,000,000 bytes in memory`);
});

it('SMTP server bounds the memory of all messages and answers 452', async (t) => {
  let store = () => {};
  let began = () => {};
  const storing = new Promise<void>((resolve) => {
    began = resolve;
  });
  const receive = () =>
    new Promise<ReceiveVerdict>((resolve) => {
      store = () => resolve({ accept: true, text: 'Kept' });
      began();
    });
  const listener = await listen(t, { limits: { memoryBytes: 1_500_000 } }, { receive });
  const [first, second] = [await listener.connect(), await listener.connect()];
  const message = `${'x'.repeat(600_000)}\r\n.\r\n`;
  await beginData(first);
  await first.write(message);
  await storing;
  await beginData(second);
  await second.write(message);
  assert.match(await second.reply(), /^452 4\.3\.1 Too many messages/);
  store();
  assert.match(await first.reply(), /^250 /);
  const storingAgain = new Promise<void>((resolve) => {
    began = resolve;
  });
  await beginData(second, false);
  await second.write(message);
  await storingAgain;
  store();
  assert.match(await second.reply(), /^250 /, 'the memory is free again');
});

it('SMTP server limits RCPT commands per transaction to 100', async (t) => {
  const listener = await listen(t);
  const client = await listener.connect();
  await client.say('EHLO client.example.com', 250);
  for (let round = 0; round < 2; round++) {
    await client.say('MAIL FROM:<a@example.com>', 250);
    for (let i = 0; i < SMTP_LIMITS.recipients; i++)
      await client.say(`RCPT TO:<nobody${i}@example.net>`, 550);
    assert.match(await client.say(`RCPT TO:<${ADDRESS}>`, 452), /^452 4\.5\.3/);
    await client.say('DATA', 503);
    await client.say('RSET', 250);
  }
  await client.say('MAIL FROM:<a@example.com>', 250);
  for (let i = 0; i < 100; i++) await client.say('RCPT TO:<nonsense', 501);
  for (let i = 0; i < 100; i++) await client.say(`RCPT TO:<${ADDRESS}>`, 452);
  await client.say(`RCPT TO:<${ADDRESS}>`, 421);
  assert.equal(await client.reply(), '');
});

it('SMTP server limits command lines to 4 KiB', async (t) => {
  const listener = await listen(t);
  for (const pieces of [
    [`NOOP ${'x'.repeat(4092)}\r\n`],
    [`NOOP ${'x'.repeat(2000)}`, 'x'.repeat(2093)],
  ]) {
    const client = await listener.connect();
    await client.say(`NOOP ${'x'.repeat(4091)}`, 250);
    for (const piece of pieces) await client.write(piece);
    assert.match(await client.reply(), /^500 5\.5\.2 /);
    assert.equal(await client.reply(), '');
  }
});

it('SMTP server limits connections per address', async (t) => {
  const listener = await listen(t, { limits: { connectionsPerAddress: 3 } });
  const clients = [await listener.connect(), await listener.connect(), await listener.connect()];
  const refused = await listener.connectUngreeted();
  assert.match(await refused.reply(), /^421 4\.7\.0 /);
  assert.equal(await refused.reply(), '');
  assert.equal(listener.connections(), 3);
  await clients[0]!.say('QUIT', 221);
  await clients[0]!.closed;
  while (listener.connections() > 2) await new Promise(setImmediate);
  await listener.connect();
});

it('SMTP server counts TLS connections until they close', async (t) => {
  const listener = await listen(t);
  const client = await listener.connect();
  await client.startTls();
  await client.say('EHLO client.example.com', 250);
  assert.equal(listener.connections(), 1);
  client.socket.destroy();
  while (listener.connections() > 0) await new Promise(setImmediate);
});

it('MAIL FROM gets 452 when the disk is nearly full', async (t) => {
  let free = 1_000_000;
  let calls = 0;
  const hooks = {
    freeBytes: async () => {
      calls += 1;
      return free;
    },
  };
  const listener = await listen(t, { minFreeBytes: 1000 }, hooks);
  const client = await listener.connect();
  await client.say('EHLO client.example.com', 250);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say('RSET', 250);
  free = 999;
  await client.say('MAIL FROM:<a@example.com>', 250);
  assert.equal(calls, 1, 'the result is cached for one second');

  const full = await listen(t, { minFreeBytes: 1000 }, hooks);
  const another = await full.connect();
  await another.say('EHLO client.example.com', 250);
  assert.match(await another.say('MAIL FROM:<a@example.com>', 452), /^452 4\.3\.1 /);
});

it('DATA gets 452 when the disk fills up after MAIL FROM', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let free = 1_000_000;
  const listener = await listen(t, { minFreeBytes: 1000 }, { freeBytes: async () => free });
  const client = await listener.connect();
  await client.say('EHLO client.example.com', 250);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say(`RCPT TO:<${ADDRESS}>`, 250);
  free = 999;
  t.mock.timers.tick(1000);
  assert.match(await client.say('DATA', 452), /^452 4\.3\.1 /);
  free = 1000;
  t.mock.timers.tick(1000);
  await client.say('DATA', 354);
  await client.say('a\r\n.', 250);
});

it('MAIL and RCPT accept quoted local parts, and pass them on as sent', async (t) => {
  const asked: string[] = [];
  const listener = await listen(
    t,
    {},
    {
      check: async ({ address }) => {
        asked.push(address);
        return { accept: true };
      },
    },
  );
  const senders = [
    '"john doe"@example.com',
    '"a@b"@example.com',
    '"<x>:y"@example.com',
    '"von der Heide, M."@example.com',
    '"say \\"hi\\""@example.com',
    '""@example.com',
    '"pay $& $$ $1"@example.com',
  ];
  for (const sender of senders) {
    const client = await listener.connect();
    await client.say('EHLO client.example.com', 250);
    await client.say(`MAIL FROM:<${sender}> SIZE=100`, 250);
    await client.say('RCPT TO:<@relay.example.net:"to ken"@inbox.example.com>', 250);
    await client.say('DATA', 354);
    await client.say('Subject: x\r\n\r\nx\r\n.', 250);
    assert.equal(listener.messages.at(-1)?.envelope.mail_from, sender);
    assert.equal(asked.at(-1), '"to ken"@inbox.example.com');
  }
  const client = await listener.connect();
  await client.say('EHLO client.example.com', 250);
  for (const bad of [
    '"john doe@example.com',
    '"john" doe@example.com',
    'john doe@example.com',
    `"${'x'.repeat(300)}"@example.com`,
  ])
    await client.say(`MAIL FROM:<${bad}>`, 501);
});

it('MAIL and RCPT reject parameters of extensions that EHLO does not offer', async (t) => {
  const client = await (await listen(t)).connect();
  await client.say('EHLO client.example.com', 250);
  for (const parameter of [
    'RET=HDRS',
    'ENVID=QQ314159',
    'AUTH=<>',
    'REQUIRETLS',
    'MT-PRIORITY=3',
    'X',
  ])
    assert.match(await client.say(`MAIL FROM:<a@example.com> ${parameter}`, 555), /^555 5\.5\.4 /);
  await client.say('MAIL FROM:<a@example.com> BODY=8BITMIME SIZE=20 SMTPUTF8', 250);
  for (const parameter of ['NOTIFY=NEVER', 'ORCPT=rfc822;a@b.example', 'SIZE=3'])
    await client.say(`RCPT TO:<${ADDRESS}> ${parameter}`, 555);
  await client.say(`RCPT TO:<${ADDRESS}>`, 250);
});

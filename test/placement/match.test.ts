/** Which message in a seed mailbox belongs to which test. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCopy } from '../../src/placement/mail-copy.ts';
import { type FoundMessage, matchMessages, type WantedTest } from '../../src/placement/match.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { mailWith } from './seeding.ts';

const NOW = Date.UTC(2026, 10, 21, 10);
const MINUTE_MS = 60_000;
const [A, B] = ['aaaabbbbccccdddd', 'eeeeffffgggghhhh'] as const;

async function found(raw: string, fields: Partial<FoundMessage> = {}): Promise<FoundMessage> {
  const place = { key: raw, folder: 'INBOX', isJunk: false, uid: 1, receivedAt: NOW };
  return { ...(await readCopy(Buffer.from(raw))), ...place, ...fields };
}

async function wanted(token: string, fields: Partial<WantedTest> = {}): Promise<WantedTest> {
  const copy = await readCopy(Buffer.from(mailWith({ To: `${token}@inbox.test` })));
  return {
    id: token,
    token,
    address: `seed+${token}@mail.example`,
    createdAt: NOW - MINUTE_MS,
    received: { copy, at: NOW - 10_000 },
    timeoutMs: 60 * MINUTE_MS,
    sharesToken: false,
    ...fields,
  };
}

async function matchOne(
  raw: string,
  fields: Partial<FoundMessage> = {},
  test: Partial<WantedTest> = {},
) {
  const matches = matchMessages([await found(raw, fields)], [await wanted(A, test)]);
  return matches.get(A)?.match ?? null;
}

const other = { 'Message-ID': '<other@example.com>', Subject: 'Another subject' };

test('A message to the seed address of a test is matched by its address', async () => {
  for (const field of ['To', 'Cc', 'Delivered-To', 'X-Original-To'])
    assert.equal(
      await matchOne(mailWith({ ...other, [field]: `seed+${A}@mail.example` })),
      'address',
    );
  const received = `from x by y for <Seed+${A.toUpperCase()}@Mail.Example>; Sat, 21 Nov 2026 10:00:00 +0000`;
  assert.equal(await matchOne(mailWith({ ...other, Received: received })), 'address');
  // The token at another address is only a token.
  assert.equal(await matchOne(mailWith({ ...other, To: `else+${A}@mail.example` })), 'token');
});

test('The token is found in the header, the subject and every kind of text', async () => {
  const base64 = Buffer.from(`<a href="https://x.example/?t=${A}">link</a>`).toString('base64');
  const soft = `Token: ${A.slice(0, 7)}=\r\n${A.slice(7)}`;
  const encodings: [Record<string, string>, string][] = [
    [{ 'X-Deliverability-Token': A }, 'Text'],
    [{ To: `${A}@inbox.test` }, 'Text'],
    [{ Subject: `=?utf-8?B?${Buffer.from(`Größe ${A}`).toString('base64')}?=` }, 'Text'],
    [{}, `Token: ${A.toUpperCase()}.`],
    [{ 'Content-Type': 'text/html', 'Content-Transfer-Encoding': 'base64' }, base64],
    [{ 'Content-Transfer-Encoding': 'quoted-printable' }, soft],
  ];
  for (const [fields, body] of encodings)
    assert.equal(await matchOne(mailWith({ ...other, ...fields }, body)), 'token', body);
  // Part of a longer word.
  assert.equal(await matchOne(mailWith(other, `x${A}`)), null);
});

test('Without address and token, the Message-ID is compared, then sender, subject and time', async () => {
  assert.equal(await matchOne(mailWith({ Subject: 'Another subject' })), 'message_id');
  const copy = mailWith({ 'Message-ID': '<other@example.com>' });
  assert.equal(await matchOne(copy), 'probable');
  assert.equal(await matchOne(mailWith({ ...other, Subject: 'Spring news' })), 'probable');
  assert.equal(await matchOne(mailWith(other)), null);
  assert.equal(await matchOne(copy.replace('news@', 'sales@')), null);
  assert.equal(await matchOne(copy, { receivedAt: NOW + 61 * MINUTE_MS }), null);
  // Before the message arrived at the test address, there is nothing to compare with.
  assert.equal(await matchOne(copy, {}, { received: null }), null);
});

test('Messages from before the test are never matched', async () => {
  const raw = mailWith({ To: `seed+${A}@mail.example` });
  assert.equal(await matchOne(raw, { receivedAt: NOW - 12 * MINUTE_MS }), null);
  assert.equal(await matchOne(raw, { receivedAt: NOW - 9 * MINUTE_MS }), 'address');
});

test('A message for another test is not matched, however alike the messages are', async () => {
  const forB = await found(mailWith({ To: `seed+${B}@mail.example` }));
  const both = [await wanted(A), await wanted(B)];
  assert.deepEqual([...matchMessages([forB], both).keys()], [B]);
  // Also when that test no longer waits.
  assert.deepEqual([...matchMessages([forB], [await wanted(A)]).keys()], []);
});

test('Messages that are exactly alike are divided among the tests by time', async () => {
  const raw = mailWith({ 'Message-ID': '<other@example.com>' });
  const early = await found(raw, { key: 'early', receivedAt: NOW - 8 * MINUTE_MS });
  const late = await found(raw, { key: 'late', receivedAt: NOW });
  const { copy } = (await wanted(A)).received!;
  const tests = [
    await wanted(B, { received: { copy, at: NOW - 5_000 } }),
    await wanted(A, {
      createdAt: NOW - 9 * MINUTE_MS,
      received: { copy, at: NOW - 8 * MINUTE_MS },
    }),
  ];
  const matches = matchMessages([late, early], tests);
  assert.deepEqual([matches.get(A)?.message.key, matches.get(B)?.message.key], ['early', 'late']);
});

test('Somebody’s reply that quotes the token is not the message of the test', async () => {
  const reply = { From: 'reader@example.net', Subject: 'Re: Spring news', 'Message-ID': '<r@x>' };
  for (const field of ['In-Reply-To', 'References', 'Auto-Submitted'])
    for (const to of [`${A}@inbox.test`, `seed+${A}@mail.example`])
      assert.equal(
        await matchOne(mailWith({ ...reply, To: to, [field]: '<copy@example.com>' })),
        null,
      );
  // The message of the test can be a reply itself.
  const own = mailWith({ ...other, To: `seed+${A}@mail.example`, References: '<thread@x>' });
  assert.equal(await matchOne(own), 'address');
});

test('Of several messages with the token, the one that is like the received copy is matched', async () => {
  const forwarded = mailWith({ ...other, From: 'else@example.net', To: 'x@y.example' }, A);
  const first = await found(forwarded, { key: 'first', receivedAt: NOW - 10_000 });
  const own = await found(mailWith({}, A), { key: 'own', receivedAt: NOW + 5 * MINUTE_MS });
  const matches = matchMessages([first, own], [await wanted(A)]);
  assert.equal(matches.get(A)?.message.key, 'own');
});

test('A message with the same sender and subject is left to a test that waits for its own, for a minute', async () => {
  const raw = mailWith({ 'Message-ID': '<other@example.com>' });
  const message = await found(raw);
  const received = await wanted(A);
  const waiting = await wanted(B, { received: null, createdAt: NOW - 1000 });
  const at = (now: number, tests: WantedTest[]) => [...matchMessages([message], tests, now).keys()];
  assert.deepEqual(at(NOW + 1000, [received, waiting]), []);
  assert.deepEqual(at(NOW + MINUTE_MS, [received, waiting]), [A]);
  assert.deepEqual(at(NOW + 1000, [received]), [A]);
  // Its own message has arrived meanwhile.
  const arrived = { ...waiting, received: { ...received.received!, at: NOW } };
  assert.deepEqual(at(NOW + 1000, [received, arrived]), [B]);
  // The Message-ID is sure.
  const sure = await found(mailWith());
  assert.deepEqual([...matchMessages([sure], [received, waiting], NOW).keys()], [A]);
});

test('A later message to the addresses of a monitor is left to its own test, for a minute', async () => {
  const raw = mailWith({ ...other, To: `seed+${A}@mail.example` });
  const monitored = await wanted(A, { id: 'first', sharesToken: true });
  const match = (receivedAt: number, now: number) =>
    found(raw, { receivedAt }).then((message) => matchMessages([message], [monitored], now).size);
  assert.equal(await match(NOW, NOW), 1);
  assert.equal(await match(NOW + 5 * MINUTE_MS, NOW + 5 * MINUTE_MS), 0);
  assert.equal(await match(NOW + 5 * MINUTE_MS, NOW + 6 * MINUTE_MS), 1);
});

test('Hostile messages are read within limits', async () => {
  const words = Array.from({ length: 20_000 }, () => `${A.slice(0, 15)}a`).join(' ');
  const { tokens } = await readCopy(Buffer.from(mailWith({}, words)));
  assert.ok(tokens.size <= 2000);
  assert.deepEqual((await readCopy(Buffer.alloc(65_536, 0x2b))).from, null);
  assert.deepEqual((await readCopy(new Uint8Array())).subject, null);
});

test('Recipient fields full of plus signs or letters are read in linear time', async () => {
  const token = `${A}@mail.example`;
  for (const piece of ['+', 'a', 'a+', `+${A}`, `+${A}@`]) {
    const value = piece.repeat(16_000 / piece.length);
    const raw = mailWith({ To: value, Cc: value, 'Delivered-To': value, Received: value });
    const before = cpuTime();
    await readCopy(Buffer.from(raw));
    // Quadratic time takes more than a second.
    assert.ok(cpuTime() - before < 300, `${piece}: ${Math.round(cpuTime() - before)} ms`);
  }
  const to = `"<a>,x+y+${token}", +${token}, b+${A}@[192.0.2.1]`;
  const { plusAddresses } = await readCopy(Buffer.from(mailWith({ To: to })));
  assert.deepEqual([...plusAddresses], [`x+y+${token}`]);
});

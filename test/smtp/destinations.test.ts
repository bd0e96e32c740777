/** Destinations of mail: which one gets a message, with its own limits, also for several recipients at once. */

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { createRateLimit } from '../../src/http/rate-limit.ts';
import { parseNetwork } from '../../src/lib/addresses.ts';
import {
  type Destination,
  type IncomingMail,
  type ReceiveVerdict,
  readRecipient,
  reject,
} from '../../src/smtp/destination.ts';
import type { SmtpHooks } from '../../src/smtp/listener-state.ts';
import type { SmtpOptions } from '../../src/smtp/server.ts';
import { testClock } from '../helpers/clock.ts';
import { listen } from './listener.ts';
import type { RawClient } from './raw-client.ts';

const LOOPBACK = [parseNetwork('127.0.0.1')];
const TEST = 'token@inbox.example.com';
const REPORTS = 'fb-abc@inbox.example.com';
const POSTMASTER = 'postmaster@inbox.example.com';

/** Tests, reports and postmaster, with what each has stored. */
function threeDestinations(changes: Record<string, Partial<Destination>> = {}) {
  const stored: string[] = [];
  const create = (
    label: string,
    pattern: RegExp,
    rest: Partial<Destination> = {},
  ): Destination => ({
    label,
    maxSize: 10_000,
    check: async ({ user }) => (pattern.test(user) ? { accept: true } : null),
    async receive({ recipients, envelope }) {
      const details = recipients.map(({ address, detail }) => `${address} ${detail}`);
      stored.push(`${label}: ${details.join(', ')} from <${envelope.mail_from}>`);
      return { accept: true, text: `Stored for ${label}` };
    },
    ...rest,
    ...changes[label],
  });
  const destinations = [
    create('test', /^token/, { single: true }),
    create('report', /^fb-/),
    create('postmaster', /^postmaster$/),
  ];
  return { destinations, stored };
}

async function connect(
  t: TestContext,
  options: Partial<SmtpOptions>,
  hooks: Partial<SmtpHooks> = {},
): Promise<RawClient> {
  const client = await (await listen(t, options, hooks)).connect();
  await client.say(`${options.lmtp ? 'LHLO' : 'EHLO'} client.example.com`, 250);
  return client;
}

/** Sends a message, and returns the reply. All recipients must be accepted. */
async function send(client: RawClient, to: string[], { from = 'a@example.com', body = 'x' } = {}) {
  await client.say(`MAIL FROM:<${from}>`, 250);
  for (const address of to) await client.say(`RCPT TO:<${address}>`, 250);
  await client.say('DATA', 354);
  await client.write(`${body}\r\n.\r\n`);
  return client.reply();
}

it('Each recipient of a message goes to the first destination that knows its address', async (t) => {
  const { destinations, stored } = threeDestinations();
  const labels: string[] = [];
  const accepted = ({ label }: Destination) => labels.push(label);
  const client = await connect(t, { destinations }, { accepted });
  const everyone = [
    'fb-def@inbox.example.com',
    POSTMASTER,
    TEST,
    'FB-ABC+Google+2@Inbox.example.com.',
  ];
  assert.match(
    await send(client, everyone, { from: '' }),
    /^250 2\.6\.0 Stored for report, Stored for postmaster, Stored for test$/,
  );
  assert.deepEqual(stored, [
    'report: fb-def@inbox.example.com null, FB-ABC+Google+2@Inbox.example.com. Google+2 from <>',
    `postmaster: ${POSTMASTER} null from <>`,
    `test: ${TEST} null from <>`,
  ]);
  assert.deepEqual(labels, ['report', 'postmaster', 'test']);
});

it('A second address of a destination for single recipients gets 452; other destinations take more', async (t) => {
  const { destinations, stored } = threeDestinations();
  const client = await connect(t, { destinations });
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say(`RCPT TO:<${TEST}>`, 250);
  await client.say('RCPT TO:<token2@inbox.example.com>', 452);
  await client.say(`RCPT TO:<${REPORTS}>`, 250);
  await client.say('RCPT TO:<fb-abc+dmarc@inbox.example.com>', 250);
  await client.say(`RCPT TO:<"fb-abc"@inbox.example.com>`, 250);
  await client.say('DATA', 354);
  await client.say('x\r\n.', 250);
  // Two forms of one address are one recipient.
  assert.equal(stored.length, 2);
  assert.equal(stored[1]?.match(/@inbox/g)?.length, 2);
});

it('An address that no destination knows gets 550, at the own domain and elsewhere', async (t) => {
  const { destinations } = threeDestinations();
  const client = await connect(t, { destinations });
  await client.say('MAIL FROM:<>', 250);
  for (const address of ['else@inbox.example.com', 'fb-abc@example.net', '"x@y"@z.example'])
    assert.equal(
      await client.say(`RCPT TO:<${address}>`, 550),
      '550 5.1.1 No such address',
      address,
    );
  await client.say('RCPT TO:<POSTMASTER>', 250);
});

it('A destination that rejects a recipient at RCPT leaves the others in the transaction', async (t) => {
  const closed = reject(550, '5.2.1', 'Closed');
  const check: Destination['check'] = async ({ user }) =>
    user === 'fb-closed' ? closed : user.startsWith('fb-') ? { accept: true } : null;
  const { destinations, stored } = threeDestinations({ report: { check } });
  const client = await connect(t, { destinations });
  await client.say('MAIL FROM:<>', 250);
  await client.say('RCPT TO:<fb-closed+x@inbox.example.com>', 550);
  await client.say(`RCPT TO:<${REPORTS}>`, 250);
  await client.say(`RCPT TO:<${TEST}>`, 250);
  await client.say('DATA', 354);
  await client.say('x\r\n.', 250);
  assert.equal(stored.length, 2);
});

it('Each destination has its own maximum size, at RCPT and at the end of the message', async (t) => {
  const { destinations, stored } = threeDestinations({
    test: { maxSize: 1000 },
    report: { maxSize: 5000 },
    postmaster: { maxSize: 200 },
  });
  const listener = await listen(t, { destinations });
  const client = await listener.connect();
  // The largest one; the others are known only at RCPT.
  assert.match(await client.say('EHLO client.example.com', 250), /SIZE 5000/);
  await client.say('MAIL FROM:<a@example.com> SIZE=5001', 552);
  await client.say('MAIL FROM:<a@example.com> SIZE=1001', 250);
  const refused = /^552 5\.3\.4 Message is larger than/;
  assert.match(await client.say(`RCPT TO:<${TEST}>`, 552), refused);
  assert.match(await client.say(`RCPT TO:<${POSTMASTER}>`, 552), refused);
  await client.say(`RCPT TO:<${REPORTS}>`, 250);
  await client.say('RSET', 250);
  const body = 'x'.repeat(900);
  assert.match(await send(client, [REPORTS, TEST], { body }), /^250 /);
  // SMTP has one reply for all recipients, so nobody gets the message.
  const large = 'x'.repeat(1200);
  assert.match(
    await send(client, [REPORTS, TEST], { body: large }),
    /^552 .*larger than 1000 bytes/,
  );
  assert.match(await send(client, [TEST, POSTMASTER], { body }), /^552 .*larger than 200 bytes/);
  assert.match(await send(client, [REPORTS], { body: large }), /^250 /);
  assert.match(await send(client, [REPORTS], { body: 'x'.repeat(9000) }), /^552 .*than 5000 bytes/);
  assert.deepEqual(
    stored.map((line) => line.split(':')[0]),
    ['report', 'test', 'report'],
  );
});

it('A network above the limit of a destination gets 451 until an hour later; other networks and destinations do not', async (t) => {
  const clock = testClock();
  const networkLimit = createRateLimit('reports', { requests: 2, seconds: 3600 }, clock);
  const { destinations, stored } = threeDestinations({ report: { networkLimit } });
  const listener = await listen(t, { destinations, forwardingNetworks: LOOPBACK });
  const sendFrom = async (ip: string, to: string[]) => {
    const client = await listener.connect();
    await client.say('EHLO mx.example.net', 250);
    await client.say(`XCLIENT ADDR=${ip}`, 220);
    await client.say('EHLO client.example.com', 250);
    const reply = await send(client, to);
    await client.say('QUIT', 221);
    return reply.slice(0, 9);
  };
  assert.equal(await sendFrom('192.0.2.1', [REPORTS]), '250 2.6.0');
  assert.equal(await sendFrom('192.0.2.200', [REPORTS, TEST]), '250 2.6.0');
  assert.equal(await sendFrom('192.0.2.3', [REPORTS]), '451 4.7.0');
  // The message is not stored for the other recipient either.
  assert.equal(await sendFrom('192.0.2.3', [TEST, REPORTS]), '451 4.7.0');
  assert.equal(await sendFrom('192.0.2.3', [TEST]), '250 2.6.0');
  assert.equal(await sendFrom('198.51.100.3', [REPORTS]), '250 2.6.0');
  assert.equal(await sendFrom('IPv6:2001:db8:1::1', [REPORTS]), '250 2.6.0');
  assert.equal(await sendFrom('IPv6:2001:db8:1:2::1', [REPORTS]), '250 2.6.0');
  assert.equal(await sendFrom('IPv6:2001:db8:1:3::1', [REPORTS]), '451 4.7.0');
  clock.advance(3_600_000);
  assert.equal(await sendFrom('192.0.2.3', [REPORTS]), '250 2.6.0');
  assert.equal(stored.filter((line) => line.startsWith('test')).length, 2);
});

it('250 follows only when every destination has stored the message', async (t) => {
  const pending = Promise.withResolvers<ReceiveVerdict>();
  const called = Promise.withResolvers<IncomingMail>();
  const receive = (mail: IncomingMail) => {
    called.resolve(mail);
    return pending.promise;
  };
  const { destinations, stored } = threeDestinations({ report: { receive } });
  const client = await connect(t, { destinations });
  let reply: string | null = null;
  const sent = send(client, [TEST, REPORTS]).then((line) => {
    reply = line;
  });
  await called.promise;
  assert.equal(stored.length, 1);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  assert.equal(reply, null);
  pending.resolve({ accept: true, text: 'On disk' });
  await sent;
  assert.equal(reply, '250 2.6.0 Stored for test, On disk');
});

it('A destination that rejects a message, or fails, decides the reply for all recipients', async (t) => {
  const full: Partial<Destination> = { receive: async () => reject(452, '4.2.2', 'Full') };
  const broken: Partial<Destination> = {
    receive: () => Promise.reject(new Error('SELECT secret')),
  };
  const outOfSpace: Partial<Destination> = {
    receive: () => Promise.reject(Object.assign(new Error('full'), { code: 'SQLITE_FULL' })),
  };
  const cases: [Partial<Destination>, RegExp][] = [
    [full, /^452 4\.2\.2 Full$/],
    [broken, /^451 4\.3\.0 Internal error, try again later$/],
    [outOfSpace, /^452 4\.3\.1 Insufficient disk space/],
  ];
  for (const [report, expected] of cases) {
    const { destinations, stored } = threeDestinations({ report });
    const refused: string[] = [];
    const client = await connect(
      t,
      { destinations },
      { attempted: ({ recipient, rejection }) => rejection && refused.push(recipient) },
    );
    assert.match(await send(client, [TEST, REPORTS, POSTMASTER]), expected);
    assert.deepEqual(refused, [TEST, REPORTS, POSTMASTER]);
    assert.deepEqual(
      stored.map((line) => line.split(':')[0]),
      ['test'],
    );
  }
});

it('LMTP answers each recipient with the verdict of its destination', async (t) => {
  const { destinations, stored } = threeDestinations({
    report: { receive: async () => reject(452, '4.2.2', 'Full') },
    postmaster: { maxSize: 10 },
  });
  const client = await connect(t, { destinations, lmtp: true, forwardingNetworks: LOOPBACK });
  await client.say('MAIL FROM:<>', 250);
  for (const address of [REPORTS, POSTMASTER, TEST]) await client.say(`RCPT TO:<${address}>`, 250);
  assert.match(
    await client.say(`RCPT TO:<${TEST.toUpperCase()}>`, 452),
    /4\.5\.3 This message already has this recipient/,
  );
  await client.say('RCPT TO:<token2@inbox.example.com>', 452);
  await client.say('DATA', 354);
  await client.write(`${'x'.repeat(100)}\r\n.\r\n`);
  assert.equal(await client.reply(), '452 4.2.2 Full');
  assert.match(await client.reply(), /^552 5\.3\.4 Message is larger than 10 bytes/);
  assert.equal(await client.reply(), '250 2.6.0 Stored for test');
  await client.say('NOOP', 250);
  assert.equal(stored.length, 1);
});

it('A recipient is read with its subaddress, its quotation marks and its domain', () => {
  const read = (address: string) => {
    const recipient = readRecipient(address, 'inbox.test');
    return recipient && [recipient.local, recipient.user, recipient.detail];
  };
  assert.deepEqual(read('Fb-1+Google@INBOX.test'), ['fb-1+google', 'fb-1', 'Google']);
  assert.deepEqual(read('fb-1+a+b@inbox.test.'), ['fb-1+a+b', 'fb-1', 'a+b']);
  assert.deepEqual(read('fb-1+@inbox.test'), ['fb-1+', 'fb-1', '']);
  assert.deepEqual(read('"fb-1+x y"@inbox.test'), ['fb-1+x y', 'fb-1', 'x y']);
  assert.deepEqual(read('+x@inbox.test'), ['+x', '', 'x']);
  assert.deepEqual(read('PostMaster'), ['postmaster', 'postmaster', null]);
  for (const other of ['a@inbox.test.example', 'a@test', 'a', 'inbox.test', ''])
    assert.equal(read(other), null);
});

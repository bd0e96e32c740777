import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { SMTP_LIMITS } from '../../src/smtp/listener-state.ts';
import { beginData, listen } from './listener.ts';
import type { RawClient } from './raw-client.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Starts a listener with mocked timers, and two clients. */
async function listenWithMockTimers(t: TestContext) {
  const listener = await listen(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [client, witness] = [await listener.connect(), await listener.connect()];
  return {
    listener,
    client,
    /** Lets the server read what was written, with a round trip of another client; then advances time. */
    async pass(ms: number): Promise<void> {
      await witness.say('NOOP', 250);
      t.mock.timers.tick(ms);
    },
    witness,
  };
}

async function assertTimedOut(client: RawClient): Promise<void> {
  assert.match(await client.reply(), /^421 4\.4\.2 /);
  assert.equal(await client.reply(), '');
}

it('SMTP_LIMITS match the documented values', () => {
  const { idleMs, dataMs, sessionMs, connectionsPerAddress, recipients, lineBytes } = SMTP_LIMITS;
  assert.deepEqual(
    { idleMs, dataMs, sessionMs, connectionsPerAddress, recipients, lineBytes },
    {
      idleMs: MINUTE,
      dataMs: 10 * MINUTE,
      sessionMs: 20 * MINUTE,
      connectionsPerAddress: 30,
      recipients: 100,
      lineBytes: 4096,
    },
  );
});

it('SMTP server closes a session after one idle minute', async (t) => {
  const { client, pass } = await listenWithMockTimers(t);
  await pass(MINUTE - 1);
  await client.say('EHLO client.example.com', 250);
  await pass(MINUTE - 1);
  await client.say('NOOP', 250);
  await pass(MINUTE);
  await assertTimedOut(client);
});

it('SMTP server: a command sent byte by byte does not extend the idle timeout', async (t) => {
  const { client, pass } = await listenWithMockTimers(t);
  for (const letter of 'NOOP x') {
    await client.write(letter);
    await pass(10 * SECOND);
  }
  await assertTimedOut(client);
});

it('SMTP server closes the session when a message stalls for one minute', async (t) => {
  const { client, listener, pass } = await listenWithMockTimers(t);
  await beginData(client);
  await pass(MINUTE - 1);
  await client.write('Subject: a\r\n');
  await pass(MINUTE - 1);
  await client.write('\r\n.\r');
  await pass(MINUTE);
  await assertTimedOut(client);
  assert.equal(listener.messages.length, 0);
});

it('SMTP server allows a slow message ten minutes', async (t) => {
  const { client, listener, pass } = await listenWithMockTimers(t);
  await beginData(client);
  for (let i = 0; i < 11; i++) {
    await client.write('x');
    await pass(50 * SECOND);
  }
  await client.write('\r\n.\r\n');
  assert.match(await client.reply(), /^250 /);
  assert.equal(listener.messages[0]?.raw.toString(), `${'x'.repeat(11)}\r\n`);

  await beginData(client, false);
  for (let i = 0; i < 12; i++) {
    await client.write('x');
    await pass(50 * SECOND);
  }
  await assertTimedOut(client);
  assert.equal(listener.messages.length, 1);
});

it('SMTP server closes a session after twenty minutes', async (t) => {
  const { client, pass, witness } = await listenWithMockTimers(t);
  for (let i = 0; i < 39; i++) {
    await client.say('NOOP', 250);
    await pass(30 * SECOND);
  }
  await client.say('NOOP', 250);
  await witness.say('NOOP', 250);
  t.mock.timers.tick(30 * SECOND);
  await assertTimedOut(client);
});

it('SMTP server does not time out while it stores a message', async (t) => {
  let store = () => {};
  let began = () => {};
  const receiving = new Promise<void>((resolve) => {
    began = resolve;
  });
  const listener = await listen(
    t,
    {},
    {
      receive: () =>
        new Promise((resolve) => {
          store = () => resolve({ accept: true, text: 'Kept' });
          began();
        }),
    },
  );
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const client = await listener.connect();
  await beginData(client);
  await client.write('a\r\n.\r\n');
  await receiving;
  t.mock.timers.tick(11 * MINUTE);
  store();
  assert.match(await client.reply(), /^250 /);
});

it('SMTP server closes a connection whose TLS handshake stalls', async (t) => {
  const { client, listener, pass } = await listenWithMockTimers(t);
  await client.say('STARTTLS', 220);
  await pass(MINUTE - 1);
  assert.equal(listener.connections(), 2);
  t.mock.timers.tick(1);
  t.mock.timers.tick(5 * SECOND);
  assert.equal(await client.reply(), '');
  while (listener.connections() > 1) await new Promise(setImmediate);
});

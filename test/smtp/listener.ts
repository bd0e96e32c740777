/** An SMTP listener on loopback for one test, with the messages it received. */

import type { TestContext } from 'node:test';
import { makeCertificate } from '../../src/lib/certificates.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import type { IncomingMessage, SmtpHooks } from '../../src/smtp/listener-state.ts';
import { type SmtpListener, type SmtpOptions, startSmtp } from '../../src/smtp/server.ts';
import { connectTo, type RawClient } from './raw-client.ts';

export const NOW = Date.UTC(2026, 10, 21, 10, 0, 0);
export const PAIR = await makeCertificate('mx.example.com', NOW);
export const ADDRESS = 'token@inbox.example.com';

export interface TestListener extends SmtpListener {
  messages: IncomingMessage[];
  /** The logged errors. */
  errors: string[];
  /** Connects a client and reads the greeting. */
  connect(): Promise<RawClient>;
  /** Connects a client that sends `first` and reads nothing. */
  connectUngreeted(first?: string | Buffer): Promise<RawClient>;
}

/** Starts a listener that accepts mail for addresses that start with `token` or `postmaster`. */
export async function listen(
  t: TestContext,
  options: Partial<SmtpOptions> = {},
  hooks: Partial<SmtpHooks> = {},
): Promise<TestListener> {
  const messages: IncomingMessage[] = [];
  const errors: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (message, fields) => errors.push(`${message} ${fields?.error}`),
  };
  const listener = await startSmtp(
    {
      host: '127.0.0.1',
      port: 0,
      name: 'mx.example.com',
      tls: PAIR,
      maxSize: 25 * 1024 * 1024,
      minFreeBytes: 1000,
      proxyNetworks: [],
      forwardingNetworks: [],
      trustedHops: [],
      log,
      ...options,
    },
    {
      checkRecipient: (address) =>
        /^(token|postmaster)/i.test(address)
          ? { accept: true }
          : { accept: false, code: 550, enhanced: '5.1.1', text: 'There is no such test address' },
      async receive(message) {
        // The listener frees the bytes after this call.
        messages.push({ ...message, raw: Buffer.from(message.raw) });
        return { accept: true, text: 'Kept' };
      },
      freeBytes: async () => 1_000_000,
      ...hooks,
    },
  );
  t.after(async () => {
    await listener.close(0);
    // Mocked timers must be cleared before another test mocks them again.
    while (listener.connections() > 0) await new Promise(setImmediate);
  });
  return {
    ...listener,
    messages,
    errors,
    connect: () => connectTo(t, listener.port),
    connectUngreeted: (first = '') => connectTo(t, listener.port, first),
  };
}

/** Sends EHLO, MAIL, RCPT and DATA; what follows is the message. */
export async function beginData(client: RawClient, greet = true): Promise<void> {
  if (greet) await client.say('EHLO client.example.com', 250);
  await client.say('MAIL FROM:<sender@example.com>', 250);
  await client.say(`RCPT TO:<${ADDRESS}>`, 250);
  await client.say('DATA', 354);
}

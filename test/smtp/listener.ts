/** An SMTP listener on loopback for one test, with the messages it received. */

import type { TestContext } from 'node:test';
import { makeCertificate } from '../../src/lib/certificates.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import type { Destination, IncomingMail } from '../../src/smtp/destination.ts';
import type { SmtpHooks } from '../../src/smtp/listener-state.ts';
import { type SmtpListener, type SmtpOptions, startSmtp } from '../../src/smtp/server.ts';
import { connectTo, type RawClient } from './raw-client.ts';

export const NOW = Date.UTC(2026, 10, 21, 10, 0, 0);
export const PAIR = await makeCertificate('mx.example.com', NOW);
export const ADDRESS = 'token@inbox.example.com';

interface TestMessage extends Omit<IncomingMail, 'recipients'> {
  /** As sent; separated by spaces if there are several. */
  recipient: string;
}

export interface TestListener extends SmtpListener {
  messages: TestMessage[];
  /** The logged errors. */
  errors: string[];
  /** Connects a client and reads the greeting. */
  connect(): Promise<RawClient>;
  /** Connects a client that sends `first` and reads nothing. */
  connectUngreeted(first?: string | Buffer): Promise<RawClient>;
}

/**
 * Starts a listener with one destination, which accepts mail for addresses that start with `token` or `postmaster`,
 * unless `destinations` has others.
 */
export async function listen(
  t: TestContext,
  { maxSize = 25 * 1024 * 1024, ...options }: Partial<SmtpOptions> & { maxSize?: number } = {},
  { check, receive, ...hooks }: Partial<SmtpHooks & Destination> = {},
): Promise<TestListener> {
  const messages: TestMessage[] = [];
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
      domain: 'inbox.example.com',
      destinations: [
        {
          ...acceptTokens(messages),
          maxSize,
          ...(check && { check }),
          ...(receive && { receive }),
        },
      ],
      minFreeBytes: 1000,
      proxyNetworks: [],
      forwardingNetworks: [],
      trustedHops: [],
      log,
      ...options,
    },
    {
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

/** A destination that keeps its messages in `messages`. */
export const acceptTokens = (
  messages: TestMessage[],
  pattern = /^(token|postmaster)/,
): Destination => ({
  label: 'test',
  maxSize: 25 * 1024 * 1024,
  single: true,
  check: async ({ local }) => (pattern.test(local) ? { accept: true } : null),
  async receive({ recipients, envelope, raw }) {
    const recipient = recipients.map(({ address }) => address).join(' ');
    // The listener frees the bytes after this call.
    messages.push({ recipient, envelope, raw: Buffer.from(raw) });
    return { accept: true, text: 'Kept' };
  },
});

/** Sends EHLO, MAIL, RCPT and DATA; what follows is the message. */
export async function beginData(client: RawClient, greet = true): Promise<void> {
  if (greet) await client.say('EHLO client.example.com', 250);
  await client.say('MAIL FROM:<sender@example.com>', 250);
  await client.say(`RCPT TO:<${ADDRESS}>`, 250);
  await client.say('DATA', 354);
}

/** An SMTP server on loopback that accepts emails or rejects them as a test wants. */

import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { makeCertificate } from '../../src/lib/certificates.ts';

export const HOST = 'relay.example.com';
export const PAIR = await makeCertificate(HOST, Date.now());

export interface TakenMail {
  mailFrom: string;
  to: string[];
  /** Whether it came over TLS. */
  secure: boolean;
  /** The authenticated user. */
  user: string | null;
  raw: Buffer;
}

export interface MailSink {
  port: number;
  taken: TakenMail[];
  /** All passwords received, right or wrong. */
  passwords: string[];
  /** The reply to MAIL, RCPT or the end of DATA while it is set. */
  refuse: { at: 'mail' | 'rcpt' | 'data'; code: number; text: string } | null;
  /** Awaited before the 250 after DATA. */
  hold: Promise<unknown> | null;
  /** Resolves with the match of the first email that matches, soft line breaks removed. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  close(): Promise<void>;
}

/** Accepts any email. Default: STARTTLS and optional authentication. */
export async function startMailSink(
  t: TestContext,
  options: SMTPServerOptions & { port?: number } = {},
): Promise<MailSink> {
  const { port = 0, ...rest } = options;
  const arrivals = new EventEmitter();
  const sink: MailSink = {
    port,
    taken: [],
    passwords: [],
    refuse: null,
    hold: null,
    async waitFor(pattern) {
      for (;;) {
        for (const { raw } of sink.taken) {
          const found = pattern.exec(raw.toString().replace(/=\r\n/g, ''));
          if (found) return found;
        }
        await once(arrivals, 'mail');
      }
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const refusal = (at: 'mail' | 'rcpt' | 'data') =>
    sink.refuse?.at === at
      ? Object.assign(new Error(sink.refuse.text), { responseCode: sink.refuse.code })
      : null;
  const server = new SMTPServer({
    ...PAIR,
    authOptional: true,
    logger: false,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      sink.passwords.push(password ?? '');
      if (password === 'right') done(null, { user: username });
      else done(new Error(`5.7.8 ${password} is not the password`));
    },
    onMailFrom: (_address, _session, done) => done(refusal('mail')),
    onRcptTo: (_address, _session, done) => done(refusal('rcpt')),
    async onData(stream, { envelope, secure, user }, done) {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of stream) chunks.push(chunk);
      } catch {
        // The sender disconnected, so nothing was received.
        return done(new Error('the connection was cut off'));
      }
      const refused = refusal('data');
      if (!refused)
        sink.taken.push({
          mailFrom: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          secure,
          user: typeof user === 'string' ? user : null,
          raw: Buffer.concat(chunks),
        });
      arrivals.emit('mail');
      await sink.hold;
      done(refused);
    },
    ...rest,
  });
  server.on('error', () => {});
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  sink.port = (server.server.address() as AddressInfo).port;
  t.after(sink.close);
  return sink;
}

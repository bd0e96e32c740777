/** Hands mail to the operator's server: a connection for each, bounded in time, signed by DKIM. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { createTransport } from 'nodemailer';
import type { Clock } from '../lib/clock.ts';
import { type Mail, writeMail } from './mail-composition.ts';
import { MailTooSlow, mailFailure } from './mail-failure.ts';
import { type MailServer, readMailServer } from './mail-server.ts';
import { trust } from './start-tls.ts';

export type MailOutcome =
  | { ok: true; response: string }
  /** `reason` is half a sentence, perhaps with what the server said; never a link or a password. */
  | { ok: false; temporary: boolean; reason: string };

/** The answer once the mailer is closed, and for what was under way then. */
export const CLOSED: MailOutcome = {
  ok: false,
  temporary: true,
  reason: 'the service is stopping',
};

export interface Mailer {
  /** Never rejects. */
  send(mail: Mail): Promise<MailOutcome>;
  /** Signs in to the server and sends nothing; `known` tells how it went. Never rejects. */
  verify(): Promise<void>;
  /** How the last attempt found the server, and when; `fault` is half a sentence. Null before the first. */
  known(): { at: number; fault: string | null } | null;
  /** Ends what is under way at once. */
  close(): void;
}

interface DkimKey {
  domain: string;
  selector: string;
  /** PEM, RSA: with any other, mail would go unsigned. */
  key: string;
}

export interface MailerOptions {
  /** `smtp://user:password@host:587` or `smtps://…`. */
  url: string;
  /** `Name <address>` or an address alone. */
  from: string;
  dkim: DkimKey | null;
  /** What this machine is called in EHLO. */
  name: string;
  clock: Clock;
  connectMs?: number;
  /** For all of it, the connection included. */
  totalMs?: number;
  /** Further certificate authorities (PEM), and another way to the server: for tests. */
  ca?: string[];
  dial?(port: number, host: string): Socket;
}

const CONNECT_MS = 10_000;
const TOTAL_MS = 60_000;

/** Not pooled: mails are few, and a connection that idles is one more thing that can be wrong. */
export function createMailer(options: MailerOptions): Mailer {
  const { clock, totalMs = TOTAL_MS } = options;
  const server = readMailServer(options.url);
  const secrets = server.login
    ? [server.login.password, Buffer.from(server.login.password).toString('base64')]
    : [];
  const line: Line = { server, secureContext: trust(options.ca), options, sockets: new Set() };
  const underWay = new Set<AbortController>();
  let closed = false;
  let known: ReturnType<Mailer['known']> = null;

  async function attempt<T>(work: (transport: Transport) => Promise<T>) {
    const control = new AbortController();
    const timer = setTimeout(() => control.abort(new MailTooSlow()), totalMs);
    underWay.add(control);
    try {
      const transport = transportOver(await reach(line, control.signal), line);
      const value = await Promise.race([work(transport), aborted(control.signal)]);
      known = { at: clock.now(), fault: null };
      return { ok: true, value } as const;
    } catch (error) {
      const failure = mailFailure(error, secrets);
      const fault = failure.aboutMail ? null : failure.fault;
      if (!closed) known = { at: clock.now(), fault };
      return { ok: false, failure } as const;
    } finally {
      clearTimeout(timer);
      underWay.delete(control);
    }
  }

  return {
    async send(mail) {
      if (closed) return CLOSED;
      const content = writeMail(mail, options.from, clock.now());
      const done = await attempt((transport) => transport.sendMail(content));
      if (done.ok) return { ok: true, response: done.value.response };
      if (closed) return CLOSED;
      const { temporary, reason } = done.failure;
      return { ok: false, temporary, reason };
    },
    async verify() {
      if (!closed) await attempt((transport) => transport.verify());
    },
    known: () => known,
    close() {
      closed = true;
      for (const control of underWay) control.abort(new Error('closed'));
      for (const socket of line.sockets) socket.destroy();
    },
  };
}

/** What every connection is made with. */
interface Line {
  server: MailServer;
  secureContext: SecureContext;
  options: MailerOptions;
  /** Those that are open, if only to take leave. */
  sockets: Set<Socket>;
}

/** Resolves with a connected socket; the signal destroys it then and later. */
async function reach({ server, options, sockets }: Line, signal: AbortSignal): Promise<Socket> {
  const { connectMs = CONNECT_MS, dial = connect } = options;
  const socket = dial(server.port, server.host);
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  // What comes after nobody waits any more must not crash the process.
  socket.on('error', () => {});
  signal.addEventListener('abort', () => socket.destroy(signal.reason), { once: true });
  const timer = setTimeout(() => socket.destroy(new MailTooSlow()), connectMs);
  try {
    await once(socket, 'connect');
    return socket;
  } finally {
    clearTimeout(timer);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

type Transport = ReturnType<typeof transportOver>;

function transportOver(socket: Socket, { server, secureContext, options }: Line) {
  const { host, port, implicitTls, requireTls, verifyTls, login } = server;
  const { name, dkim, totalMs = TOTAL_MS } = options;
  return createTransport({
    connection: socket,
    host,
    port,
    name,
    secure: implicitTls,
    requireTLS: requireTls,
    // Said aloud: otherwise a variable of the environment could turn it off.
    tls: { secureContext, rejectUnauthorized: verifyTls },
    auth: login ? { user: login.user, pass: login.password } : undefined,
    // A server that does not ask for the password might refuse the mail for want of it.
    forceAuth: login !== null,
    socketTimeout: totalMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    dkim: dkim ? dkimOptions(dkim) : undefined,
  });
}

/** More than nodemailer's own list: what makes unsubscribing by one click valid (RFC 8058 §4) is signed too. */
const SIGNED_FIELDS = [
  'From',
  'Reply-To',
  'To',
  'Subject',
  'Date',
  'Message-ID',
  'MIME-Version',
  'Content-Type',
  'Auto-Submitted',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
].join(':');

const dkimOptions = ({ domain, selector, key }: DkimKey) => ({
  domainName: domain,
  keySelector: selector,
  privateKey: key,
  headerFieldNames: SIGNED_FIELDS,
});

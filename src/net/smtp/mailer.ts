/** Hands mail to the operator's server: a connection for each, bounded in time, signed by DKIM. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { createTransport } from 'nodemailer';
import { isLocalAddress, normalizeAddress } from '../../lib/addresses.ts';
import type { Clock } from '../../lib/clock.ts';
import { printable } from '../../lib/log.ts';
import { connectionFailure, tlsProblem, trust } from '../tls.ts';
import { type Mail, writeMail } from './compose.ts';

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
  const connections: Connections = {
    server,
    secureContext: trust(options.ca),
    options,
    sockets: new Set(),
  };
  const inFlight = new Set<AbortController>();
  let closed = false;
  let known: ReturnType<Mailer['known']> = null;

  async function attempt<T>(work: (transport: Transport) => Promise<T>) {
    const control = new AbortController();
    const timer = setTimeout(() => control.abort(new MailTooSlow()), totalMs);
    inFlight.add(control);
    try {
      const transport = transportOver(await openSocket(connections, control.signal), connections);
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
      inFlight.delete(control);
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
      for (const control of inFlight) control.abort(new Error('closed'));
      for (const socket of connections.sockets) socket.destroy();
    },
  };
}

/** What every connection is made with. */
interface Connections {
  server: MailServer;
  secureContext: SecureContext;
  options: MailerOptions;
  /** Those that are open, if only to take leave. */
  sockets: Set<Socket>;
}

/** Resolves with a connected socket; the signal destroys it then and later. */
async function openSocket(
  { server, options, sockets }: Connections,
  signal: AbortSignal,
): Promise<Socket> {
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

function transportOver(socket: Socket, { server, secureContext, options }: Connections) {
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

// The operator's server for outgoing mail: what its address means, and how much TLS is asked of it.

export interface MailServer {
  host: string;
  port: number;
  /** TLS from the first byte (`smtps`). */
  implicitTls: boolean;
  /** STARTTLS is insisted on, whatever the server offers. */
  requireTls: boolean;
  /** Whether its certificate has to be one for its name from an authority that is trusted. */
  verifyTls: boolean;
  login: { user: string; password: string } | null;
}

/**
 * Reads `smtp://user:password@host:587` or `smtps://…`; the port is 587 or 465 unless said. A
 * password is never sent without TLS, but to this machine itself. Where the name or the address is
 * no public one no authority gives out certificates, so none is asked for there.
 */
export function readMailServer(address: string): MailServer {
  const url = new URL(address);
  const implicitTls = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const user = decoded(url.username);
  const login = user === '' ? null : { user, password: decoded(url.password) };
  return {
    host,
    port: Number(url.port) || (implicitTls ? 465 : 587),
    implicitTls,
    requireTls: login !== null && !implicitTls && !isThisMachine(host),
    verifyTls: isPublicName(host),
    login,
  };
}

/** A password may hold a `%` that nobody has encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const isThisMachine = (host: string): boolean =>
  /^(?:.+\.)?localhost$/i.test(host) || /^(?:127\.|::1$)/.test(normalizeAddress(host) ?? '');

function isPublicName(host: string): boolean {
  const address = normalizeAddress(host);
  if (address !== null) return !isLocalAddress(address);
  return host.includes('.') && !isThisMachine(host);
}

// Why a mail could not be handed over, and whether it is worth another try.

interface MailFailure {
  /** Whether the same mail may go through later. */
  temporary: boolean;
  /** Half a sentence of ours that names neither server nor mail. */
  fault: string;
  /** The fault with what the server said, cut, without links, tokens or the password. */
  reason: string;
  /** The server works; it is this mail that it did not take. */
  aboutMail: boolean;
}

/** What nodemailer's errors say beside their message. */
interface MailError {
  code?: string;
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

const REFUSED_COMMANDS: Record<string, string> = {
  'MAIL FROM': 'it refused the sender',
  'RCPT TO': 'it refused the recipient',
  DATA: 'it refused the message',
};

/** The time for the whole of it is up. */
class MailTooSlow extends Error {}

/**
 * A refusal with 5xx of this recipient or this message is for good. Everything else may be fixed: by
 * time, or, where it refuses the sender or the password, by the operator.
 */
function mailFailure(thrown: unknown, secrets: string[]): MailFailure {
  const error = thrown as MailError;
  const { response, responseCode: code = 0 } = error;
  // 421 says that the server is closing, whatever it was asked (RFC 5321 §3.8).
  const command = code === 421 ? '' : (error.command ?? '');
  if (thrown instanceof MailTooSlow) return failure('it did not answer in time');
  if (error.code === 'EENVELOPE' && command === 'API')
    return {
      ...failure('the address of the recipient is none'),
      temporary: false,
      aboutMail: true,
    };
  if (error.code === 'EAUTH')
    return failure('it did not accept the user name and password', statusOf(response));
  if (error.code === 'ETLS') return failure(tlsFault(error), statusOf(response));
  if (!response) return failure(connectionFault(error));
  const aboutMail = command === 'RCPT TO' || command === 'DATA';
  return {
    ...failure(REFUSED_COMMANDS[command] ?? 'it refused the session', quoted(response, secrets)),
    // 503 is about the order of the commands, not about the mail (RFC 5321 §4.2.3).
    temporary: !(aboutMail && code >= 500 && code !== 503),
    aboutMail,
  };
}

const failure = (fault: string, said = ''): MailFailure => ({
  temporary: true,
  fault,
  reason: said === '' ? fault : `${fault}: ${said}`,
  aboutMail: false,
});

function tlsFault({ originalCode, response }: MailError): string {
  return response ? 'it offers no TLS' : tlsProblem({ code: originalCode });
}

/** A certificate is refused on a socket like any other, and only its code tells. */
function connectionFault({ code, originalCode }: MailError): string {
  if (code === 'ETIMEDOUT') return 'it did not answer in time';
  if (code === 'ECONNECTION' && !originalCode) return 'it closed the connection';
  const cause = originalCode ?? code ?? '';
  return /^ERR_(?:SSL|TLS)|CERT|^UNABLE_TO/.test(cause)
    ? tlsProblem({ code: cause })
    : connectionFailure({ code: cause });
}

/** `535 5.7.8` alone: what stands behind it may repeat what was sent. */
const statusOf = (response = ''): string =>
  /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/.exec(response)?.[0].replace('-', ' ') ?? '';

const MAX_READ = 1000;
const MAX_QUOTED = 200;

/** Servers repeat what they dislike: links and tokens of the mail are not kept outside of it. */
function quoted(response: string, secrets: string[]): string {
  let text = printable(response.slice(0, MAX_READ).replace(/\s+/g, ' ')).trim();
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '…');
  return text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S*/gi, '…')
    .replace(/(?:[\w-]+\.)+[\w-]+\/\S*/g, '…')
    .replace(/[\w+/=-]{24,}/g, '…')
    .slice(0, MAX_QUOTED)
    .toWellFormed();
}

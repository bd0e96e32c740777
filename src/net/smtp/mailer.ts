/** Sends email through the operator's mail server: DKIM-signed, one connection per email, with time limits. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { createTransport } from 'nodemailer';
import { isLocalAddress, normalizeAddress } from '../../lib/addresses.ts';
import type { Clock } from '../../lib/clock.ts';
import { printable } from '../../lib/log.ts';
import { connectionFailure, createTrustContext, tlsProblem } from '../tls.ts';
import { composeMail, type Mail } from './compose.ts';

export type MailOutcome =
  | { ok: true; response: string }
  /** `reason` is a clause, with the server's reply if there is one; contains no links or passwords. */
  | { ok: false; temporary: boolean; reason: string };

/** The outcome of every `send` that ends after the mailer was closed. */
export const MAILER_CLOSED: MailOutcome = {
  ok: false,
  temporary: true,
  reason: 'the service is shutting down',
};

export interface Mailer {
  /** Never rejects. */
  send(mail: Mail): Promise<MailOutcome>;
  /** Signs in to the server without sending anything; `lastAttempt` then returns the result. Never rejects. */
  verify(): Promise<void>;
  /** The time and result of the last attempt; `fault` is a clause, null if the server works. Null before the first. */
  lastAttempt(): { at: number; fault: string | null } | null;
  /** Aborts all attempts immediately. */
  close(): void;
}

interface DkimKey {
  domain: string;
  selector: string;
  /** PEM of an RSA key; with any other key, email would not be signed. */
  key: string;
}

export interface MailerOptions {
  /** `smtp://user:password@host:587` or `smtps://…`. */
  url: string;
  /** `Name <address>`, or an address alone. */
  from: string;
  dkim: DkimKey | null;
  /** The host name for EHLO. */
  name: string;
  clock: Clock;
  /** Time limit of the connection in milliseconds. Default 10,000. */
  connectMs?: number;
  /** Time limit of the whole attempt in milliseconds. Default 60,000. */
  totalMs?: number;
  /** For tests: additional certificate authorities (PEM), and a replacement for `connect`. */
  ca?: string[];
  dial?(port: number, host: string): Socket;
}

const CONNECT_TIMEOUT_MS = 10_000;
const TOTAL_TIMEOUT_MS = 60_000;

/** Connections are not pooled: there are few emails, and idle connections can break. */
export function createMailer(options: MailerOptions): Mailer {
  const { clock, totalMs = TOTAL_TIMEOUT_MS } = options;
  const server = parseMailServerUrl(options.url);
  const secrets = server.login
    ? [server.login.password, Buffer.from(server.login.password).toString('base64')]
    : [];
  const connections: ConnectionContext = {
    server,
    secureContext: createTrustContext(options.ca),
    options,
    sockets: new Set(),
  };
  const inFlight = new Set<AbortController>();
  let closed = false;
  let lastResult: ReturnType<Mailer['lastAttempt']> = null;

  async function attempt<T>(work: (transport: Transport) => Promise<T>) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new MailTimeoutError()), totalMs);
    inFlight.add(controller);
    try {
      const transport = transportOver(
        await openSocket(connections, controller.signal),
        connections,
      );
      const value = await Promise.race([work(transport), rejectOnAbort(controller.signal)]);
      lastResult = { at: clock.now(), fault: null };
      return { ok: true, value } as const;
    } catch (error) {
      const failure = mailFailure(error, secrets);
      const fault = failure.isMailRejected ? null : failure.fault;
      if (!closed) lastResult = { at: clock.now(), fault };
      return { ok: false, failure } as const;
    } finally {
      clearTimeout(timer);
      inFlight.delete(controller);
    }
  }

  return {
    async send(mail) {
      if (closed) return MAILER_CLOSED;
      const content = composeMail(mail, options.from, clock.now());
      const result = await attempt((transport) => transport.sendMail(content));
      if (result.ok) return { ok: true, response: result.value.response };
      if (closed) return MAILER_CLOSED;
      const { temporary, reason } = result.failure;
      return { ok: false, temporary, reason };
    },
    async verify() {
      if (!closed) await attempt((transport) => transport.verify());
    },
    lastAttempt: () => lastResult,
    close() {
      closed = true;
      for (const controller of inFlight) controller.abort(new Error('closed'));
      for (const socket of connections.sockets) socket.destroy();
    },
  };
}

/** The state that all connections share. */
interface ConnectionContext {
  server: MailServer;
  secureContext: SecureContext;
  options: MailerOptions;
  /** Open sockets. */
  sockets: Set<Socket>;
}

/** Resolves with a connected socket. If the signal aborts, even later, the socket is destroyed. */
async function openSocket(
  { server, options, sockets }: ConnectionContext,
  signal: AbortSignal,
): Promise<Socket> {
  const { connectMs = CONNECT_TIMEOUT_MS, dial = connect } = options;
  const socket = dial(server.port, server.host);
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  // A late error must not crash the process.
  socket.on('error', () => {});
  signal.addEventListener('abort', () => socket.destroy(signal.reason), { once: true });
  const timer = setTimeout(() => socket.destroy(new MailTimeoutError()), connectMs);
  try {
    await once(socket, 'connect');
    return socket;
  } finally {
    clearTimeout(timer);
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

type Transport = ReturnType<typeof transportOver>;

function transportOver(socket: Socket, { server, secureContext, options }: ConnectionContext) {
  const { host, port, implicitTls, requireTls, verifyTls, login } = server;
  const { name, dkim, totalMs = TOTAL_TIMEOUT_MS } = options;
  return createTransport({
    connection: socket,
    host,
    port,
    name,
    secure: implicitTls,
    requireTLS: requireTls,
    // Explicit, because otherwise NODE_TLS_REJECT_UNAUTHORIZED could disable it.
    tls: { secureContext, rejectUnauthorized: verifyTls },
    auth: login ? { user: login.user, pass: login.password } : undefined,
    // Sign in even if the server does not advertise AUTH: it may reject unauthenticated mail.
    forceAuth: login !== null,
    socketTimeout: totalMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    dkim: dkim ? dkimOptions(dkim) : undefined,
  });
}

/** Unlike nodemailer's default list, includes the fields of one-click unsubscribe (RFC 8058 §4). */
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

// The operator's mail server: its address and TLS requirements.

export interface MailServer {
  host: string;
  port: number;
  /** TLS from the first byte (`smtps`). */
  implicitTls: boolean;
  /** Requires STARTTLS, even if the server does not offer it. */
  requireTls: boolean;
  /** Requires a certificate for the host name from a trusted authority. */
  verifyTls: boolean;
  login: { user: string; password: string } | null;
}

/**
 * Parses `smtp://user:password@host:587` or `smtps://…`; the default port is 587 or 465. A password
 * requires TLS, except to this host. A host that is not public needs no valid certificate, because
 * no authority issues one.
 */
export function parseMailServerUrl(address: string): MailServer {
  const url = new URL(address);
  const implicitTls = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const user = decodeOrKeep(url.username);
  const login = user === '' ? null : { user, password: decodeOrKeep(url.password) };
  return {
    host,
    port: Number(url.port) || (implicitTls ? 465 : 587),
    implicitTls,
    requireTls: login !== null && !implicitTls && !isThisHost(host),
    verifyTls: isPublicName(host),
    login,
  };
}

/** A password may contain an unencoded `%`. */
function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const isThisHost = (host: string): boolean =>
  /^(?:.+\.)?localhost$/i.test(host) || /^(?:127\.|::1$)/.test(normalizeAddress(host) ?? '');

function isPublicName(host: string): boolean {
  const address = normalizeAddress(host);
  if (address !== null) return !isLocalAddress(address);
  return host.includes('.') && !isThisHost(host);
}

// Why an email could not be sent, and whether to retry.

interface MailFailure {
  /** Whether the same email may succeed later. */
  temporary: boolean;
  /** A clause that identifies neither server nor email. */
  fault: string;
  /** `fault` with the server's reply, truncated and without links, tokens or the password. */
  reason: string;
  /** The server works, but rejected this email. */
  isMailRejected: boolean;
}

/** The properties of nodemailer's errors. */
interface MailError {
  code?: string;
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

const REJECTED_COMMANDS: Record<string, string> = {
  'MAIL FROM': 'the server rejected the sender',
  'RCPT TO': 'the server rejected the recipient',
  DATA: 'the server rejected the message',
};

/** The attempt took too long. */
class MailTimeoutError extends Error {}

/**
 * A 5xx reply to the recipient or the message is permanent. Everything else is temporary: the cause
 * may go away, or the operator may fix it, for example a rejected sender or password.
 */
function mailFailure(thrown: unknown, secrets: string[]): MailFailure {
  const error = thrown as MailError;
  const { response, responseCode: code = 0 } = error;
  // 421 means that the server is closing, whatever the command was (RFC 5321 §3.8).
  const command = code === 421 ? '' : (error.command ?? '');
  if (thrown instanceof MailTimeoutError) return failure('the server did not respond in time');
  if (error.code === 'EENVELOPE' && command === 'API')
    return {
      ...failure('the recipient address is invalid'),
      temporary: false,
      isMailRejected: true,
    };
  if (error.code === 'EAUTH')
    return failure('the server rejected the user name and password', codesOf(response));
  if (error.code === 'ETLS') return failure(tlsFault(error), codesOf(response));
  if (!response) return failure(connectionFault(error));
  const isMailRejected = command === 'RCPT TO' || command === 'DATA';
  return {
    ...failure(
      REJECTED_COMMANDS[command] ?? 'the server rejected the session',
      redactReply(response, secrets),
    ),
    // 503 is about the order of commands, not about the email (RFC 5321 §4.2.3).
    temporary: !(isMailRejected && code >= 500 && code !== 503),
    isMailRejected,
  };
}

const failure = (fault: string, reply = ''): MailFailure => ({
  temporary: true,
  fault,
  reason: reply === '' ? fault : `${fault}: ${reply}`,
  isMailRejected: false,
});

function tlsFault({ originalCode, response }: MailError): string {
  return response ? 'the server did not start TLS' : tlsProblem({ code: originalCode });
}

/** Certificate errors arrive as socket errors; only the code tells them apart. */
function connectionFault({ code, originalCode }: MailError): string {
  if (code === 'ETIMEDOUT') return 'the server did not respond in time';
  if (code === 'ECONNECTION' && !originalCode) return 'the server closed the connection';
  const cause = originalCode ?? code ?? '';
  return /^ERR_(?:SSL|TLS)|CERT|^UNABLE_TO/.test(cause)
    ? tlsProblem({ code: cause })
    : connectionFailure({ code: cause });
}

/** Only the codes, such as `535 5.7.8`: the text may repeat the credentials. */
const codesOf = (response = ''): string =>
  /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/.exec(response)?.[0].replace('-', ' ') ?? '';

const MAX_READ_LENGTH = 1000;
const MAX_QUOTE_LENGTH = 200;

/** Servers quote what they reject, so this removes links and tokens of the email. */
function redactReply(response: string, secrets: string[]): string {
  let text = printable(response.slice(0, MAX_READ_LENGTH).replace(/\s+/g, ' ')).trim();
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '…');
  return text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S*/gi, '…')
    .replace(/(?:[\w-]+\.)+[\w-]+\/\S*/g, '…')
    .replace(/[\w+/=-]{24,}/g, '…')
    .slice(0, MAX_QUOTE_LENGTH)
    .toWellFormed();
}

/** Asks a mail server whether it takes mail over TLS: greeting, EHLO, STARTTLS, certificate. No mail is sent. */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import { startDeadline } from '../../lib/concurrency.ts';
import { type ConnectorOptions, createConnector } from '../guarded-connection.ts';
import { certificateFault, trust } from '../tls.ts';

const SMTP_PORT = 25;
const TIMEOUT_MS = 10_000;
const OLD_TLS = { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;

/** `detail` is half a sentence, or the server's own words, cut. */
export type MailTls =
  /** No connection: port 25 is shut on the way, or the server is down; `silent` where nothing at all came back. */
  | { status: 'unreachable'; silent: boolean; detail: string }
  /** It is not connected to: it has no public address, or that of this machine. */
  | { status: 'forbidden'; detail: string }
  /** It answered, but not so that its TLS could be known. */
  | { status: 'unknown'; detail: string }
  | { status: 'no_starttls' }
  /** STARTTLS is offered and does not work. */
  | { status: 'broken'; detail: string }
  | { status: 'tls'; version: string; certificate: MailCertificate };

/** Probes a mail server by the name in its MX record; never rejects. */
export type ProbeMailTls = (host: string) => Promise<MailTls>;

export interface ProbeOptions extends ConnectorOptions {
  /** What is said in EHLO: the name of this machine. */
  helo: string;
  /** For all of it. */
  timeoutMs?: number;
}

export function createMailTlsProbe(options: ProbeOptions): ProbeMailTls {
  const openConnection = createConnector(options);
  let secureContext: SecureContext | undefined;
  return async (host) => {
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    const deadline = startDeadline(timeoutMs);
    const target = { host, port: SMTP_PORT, secure: false };
    try {
      // Half of the time is left for what is said once there is a connection.
      const attempt = startDeadline(timeoutMs / 2, deadline.signal);
      const opened = await openConnection(target, attempt.signal, timeoutMs / 2);
      attempt.stop();
      if (opened.status === 'failed') {
        if (opened.reason === 'forbidden_address')
          return { status: 'forbidden', detail: opened.detail };
        const isName = opened.reason === 'dns' || opened.reason === 'no_such_name';
        if (isName) return { status: 'unknown', detail: opened.detail };
        const silent = opened.reason === 'timeout';
        return { status: 'unreachable', silent, detail: opened.detail };
      }
      // Old versions of TLS too, so that they can be told: senders take them rather than none.
      secureContext ??= trust(options.ca, OLD_TLS);
      const socket = opened.socket as Socket;
      try {
        return await runDialogue(
          socket,
          { host, helo: options.helo, secureContext },
          deadline.signal,
        );
      } finally {
        socket.destroy();
      }
    } catch {
      return { status: 'unknown', detail: 'it could not be asked' };
    } finally {
      deadline.stop();
    }
  };
}

interface Dialogue {
  host: string;
  helo: string;
  secureContext: SecureContext;
}

async function runDialogue(
  socket: Socket,
  dialogue: Dialogue,
  signal: AbortSignal,
): Promise<MailTls> {
  const replies = readReplies(socket, signal);
  const greeting = await replies.next();
  if (greeting?.code !== 220) return unclear(greeting, 'it did not greet');
  socket.write(`EHLO ${dialogue.helo}\r\n`);
  const hello = await replies.next();
  if (hello?.code !== 250) return unclear(hello, 'it did not answer EHLO');
  if (!hello.lines.slice(1).some((line) => /^STARTTLS\s*$/i.test(line))) {
    await quit(socket, signal);
    return { status: 'no_starttls' };
  }
  socket.write('STARTTLS\r\n');
  const ready = await replies.next();
  // 421: it is closing, whatever was asked.
  if (ready === null || ready.code === 421) return unclear(ready, 'it did not answer STARTTLS');
  if (ready.code !== 220) return { status: 'broken', detail: wordsOf(ready) };
  // What somebody else put behind the answer would be read as if it had come over TLS.
  if (!replies.release()) return { status: 'broken', detail: 'it says more before TLS has begun' };
  return upgradeToTls(socket, dialogue, signal);
}

/** Takes leave, without waiting for the answer. */
async function quit(socket: Socket, signal: AbortSignal): Promise<void> {
  socket.end('QUIT\r\n');
  await once(socket, 'finish', { signal }).catch(() => {});
}

function unclear(reply: SmtpReply | null, silence: string): MailTls {
  return { status: 'unknown', detail: reply === null ? silence : wordsOf(reply) };
}

function wordsOf({ code, lines }: SmtpReply): string {
  return `it answered ${code} ${lines.join(' ').slice(0, 160)}`.trim().toWellFormed();
}

async function upgradeToTls(
  socket: Socket,
  { host, secureContext }: Dialogue,
  signal: AbortSignal,
): Promise<MailTls> {
  // The certificate is judged, not insisted on: most senders do not look at it.
  const options = { socket, host, servername: host, secureContext, rejectUnauthorized: false };
  const tls = connect(options);
  // What comes after nobody waits any more must not crash the process.
  tls.on('error', () => {});
  try {
    await once(tls, 'secureConnect', { signal });
    const certificate = describeCertificate(tls);
    const version = tls.getProtocol() ?? 'TLS';
    await quit(tls, signal);
    return { status: 'tls', version, certificate };
  } catch {
    if (signal.aborted)
      return { status: 'unknown', detail: 'the TLS handshake did not end in time' };
    return { status: 'broken', detail: 'the TLS handshake failed' };
  } finally {
    tls.destroy();
  }
}

// The replies of an SMTP server to its client, one at a time (RFC 5321 §4.2).

/** No honest reply comes near. */
const MAX_REPLY_BYTES = 8 * 1024;

interface SmtpReply {
  code: number;
  /** The text of each line, without the code. */
  lines: string[];
}

interface SmtpReplies {
  /** The next reply; null where the connection ended, the time is up, or what came is no reply. */
  next(): Promise<SmtpReply | null>;
  /** Stops reading; false where there is something that was not asked for. */
  release(): boolean;
}

function readReplies(socket: Socket, signal: AbortSignal): SmtpReplies {
  let received = '';
  let ended = false;
  let wake = () => {};
  const append = (chunk: Buffer) => {
    received += chunk.toString('latin1');
    wake();
  };
  const end = () => {
    ended = true;
    wake();
  };
  socket.on('data', append).on('close', end).on('end', end).on('error', end);
  signal.addEventListener('abort', end, { once: true });
  return {
    async next() {
      for (;;) {
        const found = firstReply(received);
        if (found) {
          received = received.slice(found.octets);
          return found.reply;
        }
        if (ended || signal.aborted || received.length > MAX_REPLY_BYTES) return null;
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
    },
    release() {
      socket.off('data', append).off('close', end).off('end', end).off('error', end);
      signal.removeEventListener('abort', end);
      return received === '';
    },
  };
}

/** The reply is null where a line is none; the whole is null while a line is still to come. */
function firstReply(text: string): { reply: SmtpReply | null; octets: number } | null {
  const lines: string[] = [];
  let at = 0;
  for (;;) {
    const end = text.indexOf('\n', at);
    if (end < 0) return null;
    const match = /^(\d{3})(?:([ -])(.*?))?\r?$/.exec(text.slice(at, end));
    at = end + 1;
    if (!match) return { reply: null, octets: at };
    lines.push(match[3] ?? '');
    if (match[2] !== '-') return { reply: { code: Number(match[1]), lines }, octets: at };
  }
}

// The certificate that a mail server shows, and whether it holds.

interface MailCertificate {
  /** Chain, time and name all hold (RFC 6125). */
  valid: boolean;
  /** Half a sentence where they do not. */
  problem: string | null;
  names: string[];
  issuer: string | null;
  /** As the certificate writes it. */
  validTo: string | null;
}

/** Of a connection that does not insist on one that holds. */
function describeCertificate(tls: TLSSocket): MailCertificate {
  const { authorized, authorizationError } = tls;
  const code = String(
    (authorizationError as { code?: string } | null)?.code ?? authorizationError ?? '',
  );
  const found = tls.getPeerX509Certificate();
  const names = (found?.subjectAltName ?? '').split(', ', 20).map((name) => name.slice(0, 255));
  return {
    valid: authorized,
    problem: authorized ? null : certificateProblem(code),
    names: names.filter((name) => name.startsWith('DNS:')).map((name) => name.slice(4)),
    issuer: found?.issuer?.replaceAll('\n', ', ').slice(0, 300) ?? null,
    validTo: found?.validTo ?? null,
  };
}

function certificateProblem(code: string): string {
  if (code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE') return 'the server does not send its whole chain';
  return `it ${certificateFault(code) ?? 'cannot be verified'}`;
}

// Spares the wait for mail servers where port 25 is shut on the way out, as many clouds have it.

/** Silence of so many different servers, with none that was heard between, is no longer theirs. */
const SILENT_HOSTS_TO_OPEN = 5;
/** After so long one is tried again. */
const PORT_25_RETRY_INTERVAL_MS = 10 * 60_000;

const PORT_25_BLOCKED: MailTls = {
  status: 'unreachable',
  silent: true,
  detail: 'port 25 seems to be shut on the way out of this network',
};

/** The same probe, which answers at once while the port seems shut. */
export function withPort25CircuitBreaker(probe: ProbeMailTls, clock: Clock): ProbeMailTls {
  const silentHosts = new Set<string>();
  let shutAt = 0;
  const isShut = () => {
    const age = clock.now() - shutAt;
    // A clock that was set back does not make it last.
    return silentHosts.size >= SILENT_HOSTS_TO_OPEN && age >= 0 && age < PORT_25_RETRY_INTERVAL_MS;
  };
  return async (host) => {
    if (isShut()) return PORT_25_BLOCKED;
    const found = await probe(host);
    if (found.status === 'unreachable' && found.silent) {
      if (silentHosts.size < SILENT_HOSTS_TO_OPEN) silentHosts.add(host);
      shutAt = clock.now();
    } else if (hasResponded(found)) silentHosts.clear();
    return found;
  };
}

/** Something came back from port 25, if only a refusal. */
function hasResponded({ status }: MailTls): boolean {
  return status !== 'forbidden' && status !== 'unknown';
}

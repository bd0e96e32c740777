/** Tests whether a mail server accepts mail over TLS: greeting, EHLO, STARTTLS, certificate. Sends no mail. */

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import {
  connect,
  type DetailedPeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import { startDeadline } from '../../lib/concurrency.ts';
import { type ConnectorOptions, createConnector } from '../guarded-connection.ts';
import { certificateProblem, createTrustContext } from '../tls.ts';

const SMTP_PORT = 25;
const TIMEOUT_MS = 10_000;
const OLD_TLS = { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;

/** `detail` is a clause, with the server's truncated reply if there is one. */
export type MailTlsResult =
  /** No connection: port 25 is blocked, or the server is down. `silent` if nothing at all came back. */
  | { status: 'unreachable'; silent: boolean; detail: string }
  /** Not tested: the server has no public address, or has the address of this host. */
  | { status: 'forbidden'; detail: string }
  /** The server responded, but its TLS could not be determined. */
  | { status: 'unknown'; detail: string }
  | { status: 'no_starttls' }
  /** The server offers STARTTLS, but it does not work. */
  | { status: 'broken'; detail: string }
  | {
      status: 'tls';
      version: string;
      certificate: MailCertificate;
      /** As the server sent it, its own certificate first. */
      chain?: PresentedCertificate[];
    };

/** In DER. */
export interface PresentedCertificate {
  der: Uint8Array;
  /** SubjectPublicKeyInfo. */
  publicKey: Uint8Array;
}

/** Probes a mail server by the name in its MX record; never rejects. */
export type ProbeMailTls = (host: string) => Promise<MailTlsResult>;

export interface ProbeOptions extends ConnectorOptions {
  /** The name of this host, for EHLO. */
  helo: string;
  /** Time limit of the whole probe. Default 10,000. */
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
      // Half of the time is reserved for the SMTP dialogue.
      const attempt = startDeadline(timeoutMs / 2, deadline.signal);
      const connection = await openConnection(target, attempt.signal, timeoutMs / 2);
      attempt.stop();
      if (connection.status === 'failed') {
        if (connection.reason === 'forbidden_address')
          return { status: 'forbidden', detail: connection.detail };
        const isDnsProblem = connection.reason === 'dns' || connection.reason === 'no_such_name';
        if (isDnsProblem) return { status: 'unknown', detail: connection.detail };
        const silent = connection.reason === 'timeout';
        return { status: 'unreachable', silent, detail: connection.detail };
      }
      // Allows old TLS versions too, in order to report them: senders prefer them to no TLS.
      secureContext ??= createTrustContext(options.ca, OLD_TLS);
      const socket = connection.socket as Socket;
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
      return { status: 'unknown', detail: 'could not test the server' };
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
): Promise<MailTlsResult> {
  const replies = readReplies(socket, signal);
  const greeting = await replies.next();
  if (greeting?.code !== 220) return unknownFrom(greeting, 'the server sent no SMTP greeting');
  socket.write(`EHLO ${dialogue.helo}\r\n`);
  const hello = await replies.next();
  if (hello?.code !== 250) return unknownFrom(hello, 'the server did not respond to EHLO');
  if (!hello.lines.slice(1).some((line) => /^STARTTLS\s*$/i.test(line))) {
    await quit(socket, signal);
    return { status: 'no_starttls' };
  }
  socket.write('STARTTLS\r\n');
  const ready = await replies.next();
  // 421 means that the server is closing, whatever the command was.
  if (ready === null || ready.code === 421)
    return unknownFrom(ready, 'the server did not respond to STARTTLS');
  if (ready.code !== 220) return { status: 'broken', detail: describeReply(ready) };
  // Data that an attacker injected here would be read as if it had come over TLS.
  if (!replies.release())
    return { status: 'broken', detail: 'the server sends data before TLS starts' };
  return upgradeToTls(socket, dialogue, signal);
}

/** Sends QUIT without waiting for the reply. */
async function quit(socket: Socket, signal: AbortSignal): Promise<void> {
  socket.end('QUIT\r\n');
  await once(socket, 'finish', { signal }).catch(() => {});
}

function unknownFrom(reply: SmtpReply | null, noReplyDetail: string): MailTlsResult {
  return { status: 'unknown', detail: reply === null ? noReplyDetail : describeReply(reply) };
}

function describeReply({ code, lines }: SmtpReply): string {
  return `the server replied ${code} ${lines.join(' ').slice(0, 160)}`.trim().toWellFormed();
}

async function upgradeToTls(
  socket: Socket,
  { host, secureContext }: Dialogue,
  signal: AbortSignal,
): Promise<MailTlsResult> {
  // The certificate is evaluated but not required: most senders ignore it.
  const options = { socket, host, servername: host, secureContext, rejectUnauthorized: false };
  const tls = connect(options);
  // A late error must not crash the process.
  tls.on('error', () => {});
  try {
    await once(tls, 'secureConnect', { signal });
    // Before the certificate: reading that leaves no chain.
    const chain = presentedChain(tls);
    const certificate = describeCertificate(tls);
    const version = tls.getProtocol() ?? 'TLS';
    await quit(tls, signal);
    return { status: 'tls', version, certificate, chain };
  } catch {
    if (signal.aborted)
      return { status: 'unknown', detail: 'the TLS handshake did not finish in time' };
    return { status: 'broken', detail: 'the TLS handshake failed' };
  } finally {
    tls.destroy();
  }
}

// Reads the replies of an SMTP server, one at a time (RFC 5321 §4.2).

/** Far above the size of valid replies. */
const MAX_REPLY_BYTES = 8 * 1024;

interface SmtpReply {
  code: number;
  /** The text of each line, without the code. */
  lines: string[];
}

interface SmtpReplies {
  /** The next reply; null if the connection ended, the time is up, or the reply is invalid. */
  next(): Promise<SmtpReply | null>;
  /** Stops reading; false if there is unexpected data. */
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
        const result = firstReply(received);
        if (result) {
          received = received.slice(result.octets);
          return result.reply;
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

/** Null while the reply is incomplete; `reply` is null if a line is invalid. */
function firstReply(text: string): { reply: SmtpReply | null; octets: number } | null {
  const lines: string[] = [];
  let offset = 0;
  for (;;) {
    const end = text.indexOf('\n', offset);
    if (end < 0) return null;
    const match = /^(\d{3})(?:([ -])(.*?))?\r?$/.exec(text.slice(offset, end));
    offset = end + 1;
    if (!match) return { reply: null, octets: offset };
    lines.push(match[3] ?? '');
    if (match[2] !== '-') return { reply: { code: Number(match[1]), lines }, octets: offset };
  }
}

// The certificate of a mail server, and whether it is valid.

interface MailCertificate {
  /** Whether chain, validity period and name are valid (RFC 6125). */
  valid: boolean;
  /** A clause; null for a valid certificate. */
  problem: string | null;
  names: string[];
  issuer: string | null;
  /** As Node formats it: `Nov 22 10:00:00 2026 GMT`. */
  validTo: string | null;
}

/** Reads the certificate of a connection that does not require a valid one. */
function describeCertificate(tls: TLSSocket): MailCertificate {
  const { authorized, authorizationError } = tls;
  const code = String(
    (authorizationError as { code?: string } | null)?.code ?? authorizationError ?? '',
  );
  const certificate = tls.getPeerX509Certificate();
  const names = (certificate?.subjectAltName ?? '')
    .split(', ', 20)
    .map((name) => name.slice(0, 255));
  return {
    valid: authorized,
    problem: authorized ? null : describeProblem(code),
    names: names.filter((name) => name.startsWith('DNS:')).map((name) => name.slice(4)),
    issuer: certificate?.issuer?.replaceAll('\n', ', ').slice(0, 300) ?? null,
    validTo: certificate?.validTo ?? null,
  };
}

/** Longer chains do not occur. */
const MAX_CHAIN = 10;

function presentedChain(tls: TLSSocket): PresentedCertificate[] {
  const chain: PresentedCertificate[] = [];
  const seen = new Set<string>();
  let next: Partial<DetailedPeerCertificate> | undefined = tls.getPeerCertificate(true);
  // A self-signed certificate is its own issuer.
  while (next?.raw && next.fingerprint256 && !seen.has(next.fingerprint256)) {
    if (chain.length >= MAX_CHAIN) break;
    seen.add(next.fingerprint256);
    const { raw, publicKey } = new X509Certificate(next.raw);
    chain.push({ der: raw, publicKey: publicKey.export({ type: 'spki', format: 'der' }) });
    next = next.issuerCertificate;
  }
  return chain;
}

function describeProblem(code: string): string {
  if (code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
    return 'the server does not send its full certificate chain';
  return `the certificate ${certificateProblem(code) ?? 'cannot be verified'}`;
}

// Avoids timeouts if outgoing port 25 is blocked, as in many clouds.

/** If this many different servers in a row are silent, the cause is this network. */
const SILENT_HOSTS_TO_OPEN = 5;
const PORT_25_RETRY_INTERVAL_MS = 10 * 60_000;

const PORT_25_BLOCKED: MailTlsResult = {
  status: 'unreachable',
  silent: true,
  detail: 'this network seems to block outgoing connections to port 25',
};

/** Wraps the probe: returns at once while port 25 seems blocked, and tries one server every ten minutes. */
export function withPort25CircuitBreaker(probe: ProbeMailTls, clock: Clock): ProbeMailTls {
  const silentHosts = new Set<string>();
  let blockedAt = 0;
  const isBlocked = () => {
    const elapsed = clock.now() - blockedAt;
    // A clock that was set back must not prolong the block.
    return (
      silentHosts.size >= SILENT_HOSTS_TO_OPEN &&
      elapsed >= 0 &&
      elapsed < PORT_25_RETRY_INTERVAL_MS
    );
  };
  return async (host) => {
    if (isBlocked()) return PORT_25_BLOCKED;
    const result = await probe(host);
    if (result.status === 'unreachable' && result.silent) {
      if (silentHosts.size < SILENT_HOSTS_TO_OPEN) silentHosts.add(host);
      blockedAt = clock.now();
    } else if (hasResponded(result)) silentHosts.clear();
    return result;
  };
}

/** Whether anything came back from port 25, even a refused connection. */
function hasResponded({ status }: MailTlsResult): boolean {
  return status !== 'forbidden' && status !== 'unknown';
}

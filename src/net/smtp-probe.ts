/** Asks a mail server whether it takes mail over TLS: greeting, EHLO, STARTTLS, certificate. No mail is sent. */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { startDeadline } from './dns-attempts.ts';
import { type ConnectorOptions, createConnector } from './guarded-connection.ts';
import { describeCertificate, type MailCertificate } from './mail-certificate.ts';
import { readReplies, type SmtpReply } from './smtp-replies.ts';

const SMTP_PORT = 25;
const TIMEOUT_MS = 10_000;

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
  const reach = createConnector(options);
  let secureContext: SecureContext | undefined;
  return async (host) => {
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    const deadline = startDeadline(timeoutMs);
    const goal = { host, port: SMTP_PORT, secure: false };
    try {
      // Half of the time is left for what is said once there is a connection.
      const attempt = startDeadline(timeoutMs / 2, deadline.signal);
      const reached = await reach(goal, attempt.signal, timeoutMs / 2);
      attempt.stop();
      if (reached.status === 'failed') {
        if (reached.reason === 'forbidden_address')
          return { status: 'forbidden', detail: reached.detail };
        const isName = reached.reason === 'dns' || reached.reason === 'no_such_name';
        if (isName) return { status: 'unknown', detail: reached.detail };
        const silent = reached.reason === 'timeout';
        return { status: 'unreachable', silent, detail: reached.detail };
      }
      secureContext ??= lenientContext(options.ca);
      const socket = reached.socket as Socket;
      try {
        return await converse(socket, { host, helo: options.helo, secureContext }, deadline.signal);
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

/** Old versions of TLS too, so that they can be told; senders take them rather than none. */
function lenientContext(further: string[] = []): SecureContext {
  const ca = further.length > 0 ? [...getCACertificates('default'), ...further] : undefined;
  return createSecureContext({ ca, minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' });
}

interface Dialogue {
  host: string;
  helo: string;
  secureContext: SecureContext;
}

async function converse(socket: Socket, dialogue: Dialogue, signal: AbortSignal): Promise<MailTls> {
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
  return secure(socket, dialogue, signal);
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

async function secure(
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

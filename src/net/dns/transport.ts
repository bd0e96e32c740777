/** Sends one DNS query to several servers in turn, with retries, until one answers or the time is up. */

import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { DnsServer } from '../../lib/addresses.ts';
import { startDeadline } from '../../lib/concurrency.ts';
import { encodeQuery, type ParsedReply, type Query, readReply, replyKind } from './message.ts';
import type { DnsErrorReason, RecordType } from './resolver.ts';

type Outcome = Extract<ParsedReply, { kind: 'answer' | 'failure' }>;

/**
 * Creates a function that queries the servers in turn until one answers or the signal aborts. It
 * retries silent servers, because datagrams get lost, but not servers that fail. The last server
 * that answered comes first next time, so that a dead server causes only one delay.
 */
export function createServerQuery(servers: DnsServer[], attemptMs: number) {
  let order = servers;
  return async (name: string, type: RecordType, signal: AbortSignal): Promise<Outcome> => {
    const candidates: Candidate[] = order.map((server) => ({ server, edns: true }));
    let outcome: Outcome = { kind: 'failure', reason: 'timeout' };
    while (!signal.aborted) {
      const candidate = candidates.shift();
      if (!candidate) break;
      const { reply, silent } = await attempt(candidate, name, type, signal, attemptMs);
      if (reply.kind === 'answer') {
        order = [candidate.server, ...servers.filter((server) => server !== candidate.server)];
        return reply;
      }
      if (reply.kind === 'no_edns' && candidate.edns)
        candidates.unshift({ ...candidate, edns: false });
      else if (silent) candidates.push(candidate);
      outcome = reply.kind === 'failure' ? reply : { kind: 'failure', reason: 'malformed' };
    }
    return outcome;
  };
}

interface Candidate {
  server: DnsServer;
  edns: boolean;
}

/** Queries one server once; `silent` if it timed out. */
async function attempt(
  { server, edns }: Candidate,
  name: string,
  type: RecordType,
  parent: AbortSignal,
  attemptMs: number,
): Promise<{ reply: ParsedReply; silent: boolean }> {
  const { signal, stop } = startDeadline(attemptMs, parent);
  try {
    const query = encodeQuery(name, type, { edns });
    const received = await sendQuery(server, query, signal);
    const reply = received.kind === 'whole' ? readReply(query, received.bytes) : received;
    return { reply, silent: signal.aborted };
  } finally {
    stop();
  }
}

export type Received =
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'failure'; reason: DnsErrorReason };

/** Sends one query to one server over UDP, and over TCP if the reply is truncated (RFC 7766 §5). */
export async function sendQuery(
  server: DnsServer,
  query: Query,
  signal: AbortSignal,
): Promise<Received> {
  const received = await queryOverUdp(server, query, signal);
  if (received !== 'truncated') return received;
  const whole = await queryOverTcp(server, query, signal);
  return whole === 'truncated' ? { kind: 'failure', reason: 'malformed' } : whole;
}

/** Sends one query to one server; `timeout` if the signal aborts first. Always closes the socket. */
type Transport = (
  server: DnsServer,
  query: Query,
  signal: AbortSignal,
) => Promise<Received | 'truncated'>;

/**
 * Opens a new socket for each query, and so uses a new source port (RFC 5452 §9.2). Ignores datagrams
 * that do not answer the query, because the real answer may still come. If nothing else comes, the
 * result is `malformed`.
 */
const queryOverUdp: Transport = (server, query, signal) =>
  new Promise((resolve) => {
    const socket = createSocket(isIPv6(server.host.replace(/%.*/, '')) ? 'udp6' : 'udp4');
    let hasMismatch = false;
    let done = false;
    const finish = (reply: Received | 'truncated') => {
      if (done) return;
      done = true;
      signal.removeEventListener('abort', expire);
      socket.close();
      resolve(reply);
    };
    const expire = () => finish({ kind: 'failure', reason: hasMismatch ? 'malformed' : 'timeout' });
    const unreachable = () => finish({ kind: 'failure', reason: 'unreachable' });
    if (signal.aborted) return expire();
    signal.addEventListener('abort', expire);
    socket.on('error', unreachable);
    socket.on('message', (bytes) => {
      const kind = replyKind(query, bytes);
      if (kind === 'mismatch') hasMismatch = true;
      else finish(kind === 'whole' ? { kind, bytes } : kind);
    });
    // A connected socket receives only from this server, and reports a closed port at once. Without a route, as on a
    // machine without a network, the error comes here and not as an event.
    socket.connect(server.port, server.host, (error?: Error) => {
      if (error) unreachable();
      else if (!done) socket.send(query.bytes, (failure) => failure && unreachable());
    });
  });

/** Over TCP, two bytes with the length precede each message (RFC 1035 §4.2.2). */
const queryOverTcp: Transport = (server, query, signal) =>
  new Promise((resolve) => {
    const socket = connect({ host: server.host, port: server.port });
    let received = Buffer.alloc(0);
    let done = false;
    const finish = (reply: Received | 'truncated') => {
      if (done) return;
      done = true;
      signal.removeEventListener('abort', expire);
      socket.destroy();
      resolve(reply);
    };
    const expire = () => finish({ kind: 'failure', reason: 'timeout' });
    if (signal.aborted) return expire();
    signal.addEventListener('abort', expire);
    socket.on('error', () => finish({ kind: 'failure', reason: 'unreachable' }));
    // The stream ended before the message did.
    socket.on('close', () => finish({ kind: 'failure', reason: 'malformed' }));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const bytes = received.subarray(2, 2 + received.readUInt16BE(0));
      const kind = replyKind(query, bytes);
      finish(kind === 'whole' ? { kind, bytes } : { kind: 'failure', reason: 'malformed' });
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.bytes.length);
    // The socket stays open for writing: some servers abort on a half-closed connection.
    socket.write(Buffer.concat([length, query.bytes]));
  });

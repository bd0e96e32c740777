/** Asks one DNS question of several servers, again and again, until one answers or time is up. */

import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { DnsServer } from '../../lib/addresses.ts';
import { startDeadline } from '../../lib/concurrency.ts';
import { encodeQuery, type Query, type Reading, readReply } from './message.ts';
import type { RecordType } from './resolver.ts';

type Outcome = Extract<Reading, { kind: 'answer' | 'failure' }>;

/**
 * Asks the servers in turn until one answers or the signal comes. A server that said something
 * useless is not asked again; one that stayed silent is, for datagrams get lost. The server that
 * answered last goes first next time, so that a dead one costs its delay once.
 */
export function createServerQuery(servers: DnsServer[], attemptMs: number) {
  let order = servers;
  return async (name: string, type: RecordType, signal: AbortSignal): Promise<Outcome> => {
    const candidates: Candidate[] = order.map((server) => ({ server, edns: true }));
    let outcome: Outcome = { kind: 'failure', reason: 'timeout' };
    while (!signal.aborted) {
      const candidate = candidates.shift();
      if (!candidate) break;
      const { reading, silent } = await attempt(candidate, name, type, signal, attemptMs);
      if (reading.kind === 'answer') {
        order = [candidate.server, ...servers.filter((server) => server !== candidate.server)];
        return reading;
      }
      if (reading.kind === 'no_edns' && candidate.edns)
        candidates.unshift({ ...candidate, edns: false });
      else if (silent) candidates.push(candidate);
      outcome = reading.kind === 'failure' ? reading : { kind: 'failure', reason: 'malformed' };
    }
    return outcome;
  };
}

interface Candidate {
  server: DnsServer;
  edns: boolean;
}

/** One server, once; `silent` where its time ran out. */
async function attempt(
  { server, edns }: Candidate,
  name: string,
  type: RecordType,
  parent: AbortSignal,
  attemptMs: number,
): Promise<{ reading: Reading; silent: boolean }> {
  const { signal, stop } = startDeadline(attemptMs, parent);
  const over = (transport: Transport) => transport(server, encodeQuery(name, type, edns), signal);
  try {
    const reading = await over(askOverUdp);
    if (reading.kind !== 'truncated') return { reading, silent: signal.aborted };
    return { reading: await over(askOverTcp), silent: signal.aborted };
  } finally {
    stop();
  }
}

/** One query to one server until a reply or the signal; silence is a `timeout`. The socket is always closed. */
type Transport = (server: DnsServer, query: Query, signal: AbortSignal) => Promise<Reading>;

/**
 * A fresh socket for each question means a fresh source port (RFC 5452 §9.2). Datagrams that do not
 * answer the question are passed over: the true answer may still come. Where nothing else comes,
 * they make the server's answer `malformed`.
 */
const askOverUdp: Transport = (server, query, signal) =>
  new Promise((resolve) => {
    const socket = createSocket(isIPv6(server.host.replace(/%.*/, '')) ? 'udp6' : 'udp4');
    let foreign = false;
    let done = false;
    const finish = (reading: Reading) => {
      if (done) return;
      done = true;
      signal.removeEventListener('abort', expire);
      socket.close();
      resolve(reading);
    };
    const expire = () => finish({ kind: 'failure', reason: foreign ? 'malformed' : 'timeout' });
    const unreachable = () => finish({ kind: 'failure', reason: 'unreachable' });
    if (signal.aborted) return expire();
    signal.addEventListener('abort', expire);
    socket.on('error', unreachable);
    socket.on('message', (bytes) => {
      const reading = readReply(query, bytes);
      if (reading.kind === 'foreign') foreign = true;
      else finish(reading);
    });
    // A connected socket hears only this server, and hears of a closed port at once.
    socket.connect(server.port, server.host, () => {
      if (!done) socket.send(query.bytes, (error) => error && unreachable());
    });
  });

/** Messages over TCP come after two octets that hold their length (RFC 1035 §4.2.2). */
const askOverTcp: Transport = (server, query, signal) =>
  new Promise((resolve) => {
    const socket = connect({ host: server.host, port: server.port });
    let received = Buffer.alloc(0);
    let done = false;
    const finish = (reading: Reading) => {
      if (done) return;
      done = true;
      signal.removeEventListener('abort', expire);
      socket.destroy();
      resolve(reading);
    };
    const expire = () => finish({ kind: 'failure', reason: 'timeout' });
    if (signal.aborted) return expire();
    signal.addEventListener('abort', expire);
    socket.on('error', () => finish({ kind: 'failure', reason: 'unreachable' }));
    // The end of the stream before the end of the message.
    socket.on('close', () => finish({ kind: 'failure', reason: 'malformed' }));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const reading = readReply(query, received.subarray(2, 2 + received.readUInt16BE(0)));
      const unusable = reading.kind === 'foreign' || reading.kind === 'truncated';
      finish(unusable ? { kind: 'failure', reason: 'malformed' } : reading);
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.bytes.length);
    // Not ended: some servers take a half-closed connection for a client that has gone.
    socket.write(Buffer.concat([length, query.bytes]));
  });

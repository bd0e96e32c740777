/** One DNS question to one server, over UDP or TCP; the socket is closed whatever happens. */

import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { DnsServer } from '../lib/dns-servers.ts';
import type { Query } from './dns-question.ts';
import { type Reading, readReply } from './dns-reply.ts';

/** Asks and waits until a reply or the signal; a server that stays silent is a `timeout`. */
export type Transport = (server: DnsServer, query: Query, signal: AbortSignal) => Promise<Reading>;

/**
 * A fresh socket for each question means a fresh source port (RFC 5452 §9.2). Datagrams that do not
 * answer the question are passed over: the true answer may still come. Where nothing else comes,
 * they make the server's answer `malformed`.
 */
export const askOverUdp: Transport = (server, query, signal) =>
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
export const askOverTcp: Transport = (server, query, signal) =>
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

/** Sends a signed message to a name server over TCP, and reads its signed response. */

import type { Duplex } from 'node:stream';
import { type DecodedPacket, decode } from 'dns-packet';
import type { Clock } from '../../lib/clock.ts';
import { startDeadline } from '../../lib/concurrency.ts';
import type { Connect, Failure } from '../guarded-connection.ts';
import { signMessage, type TsigKey, type Verification, verifyResponse } from './tsig.ts';

const TIMEOUT_MS = 10_000;

export type Exchange =
  | { kind: 'response'; rcode: number; packet: DecodedPacket }
  /** The server does not accept the signature, or the signature of its response is not valid. */
  | { kind: 'untrusted'; verification: Exclude<Verification, { kind: 'verified' }>; rcode: number }
  /** `wasSent`: the server may have received the message. */
  | { kind: 'failed'; failure: Failure; wasSent: boolean }
  /** Not a DNS message, or not a response to this one. */
  | { kind: 'malformed' };

export interface Peer {
  connect: Connect;
  host: string;
  port: number;
  key: TsigKey;
  clock: Clock;
  /** Ends the exchange early. */
  signal?: AbortSignal;
}

/** Never rejects. */
export async function exchange(peer: Peer, message: Buffer): Promise<Exchange> {
  const { connect, host, port, key, clock } = peer;
  const { signal, stop } = startDeadline(TIMEOUT_MS, peer.signal);
  try {
    const connection = await connect({ host, port, secure: false }, signal, TIMEOUT_MS);
    if (connection.status === 'failed')
      return { kind: 'failed', failure: connection, wasSent: false };
    const { bytes, mac } = signMessage(message, key, clock.now());
    const response = await roundTrip(connection.socket, bytes, signal);
    if (!Buffer.isBuffer(response)) return { kind: 'failed', failure: response, wasSent: true };
    return readResponse(response, message, (reply) => verifyResponse(reply, key, mac, clock.now()));
  } finally {
    stop();
  }
}

function readResponse(
  response: Buffer,
  message: Buffer,
  verify: (response: Buffer) => Verification,
): Exchange {
  const isReply =
    response.length >= 12 &&
    response.readUInt16BE(0) === message.readUInt16BE(0) &&
    (response[2]! & 0xf8) === (0x80 | (message[2]! & 0x78));
  if (!isReply) return { kind: 'malformed' };
  const rcode = response[3]! & 0x0f;
  const verification = verify(response);
  if (verification.kind !== 'verified') return { kind: 'untrusted', verification, rcode };
  try {
    return { kind: 'response', rcode, packet: decode(response) };
  } catch {
    return { kind: 'malformed' };
  }
}

/** Two bytes with the length precede each message (RFC 1035 §4.2.2). Always destroys the socket. */
function roundTrip(socket: Duplex, bytes: Buffer, signal: AbortSignal): Promise<Buffer | Failure> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (result: Buffer | Failure) => {
      signal.removeEventListener('abort', expire);
      socket.destroy();
      resolve(result);
    };
    const fail = (reason: 'timeout' | 'connection', detail: string) =>
      finish({ status: 'failed', reason, detail });
    const expire = () => fail('timeout', 'no response in time');
    socket.on('error', () => fail('connection', 'the server closed the connection'));
    socket.on('close', () => fail('connection', 'the server closed the connection'));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size < 2) return;
      const received = Buffer.concat(chunks);
      const end = 2 + received.readUInt16BE(0);
      if (size >= end) finish(received.subarray(2, end));
    });
    signal.addEventListener('abort', expire);
    if (signal.aborted) return expire();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    socket.write(Buffer.concat([length, bytes]));
  });
}

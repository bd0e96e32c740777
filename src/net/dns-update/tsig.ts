/** Signs DNS messages with a shared key, and verifies the signatures of responses (TSIG, RFC 8945). */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { lastAdditional, nameEnd } from './message.ts';

export interface TsigKey {
  /** In lower-case A-labels, without a trailing dot. */
  name: string;
  algorithm: TsigAlgorithm;
  secret: Uint8Array;
}

/** SHA-1 and MD5 are left out: RFC 8945 §6 advises against both. */
export const TSIG_ALGORITHMS = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const;
export type TsigAlgorithm = (typeof TSIG_ALGORITHMS)[number];

const TSIG_TYPE = 250;
const CLASS_ANY = 255;
/** By how many seconds the clocks of both sides may differ (§10). */
const FUDGE_SECONDS = 300;

export const TSIG_ERRORS = { 16: 'BADSIG', 17: 'BADKEY', 18: 'BADTIME', 22: 'BADTRUNC' } as const;
export type TsigError = (typeof TSIG_ERRORS)[keyof typeof TSIG_ERRORS];

/** `mac`: what the signature of the response depends on. `now`: in milliseconds since the epoch. */
export function signMessage(
  message: Buffer,
  key: TsigKey,
  now: number,
): { bytes: Buffer; mac: Buffer } {
  const time = Math.floor(now / 1000);
  const variables = { time, fudge: FUDGE_SECONDS, error: 0, other: Buffer.alloc(0) };
  const mac = macOf([message, tsigVariables(key, variables)], key);
  const data = Buffer.concat([
    wireName(key.algorithm),
    uint48(time),
    uint16(FUDGE_SECONDS),
    uint16(mac.length),
    mac,
    message.subarray(0, 2),
    uint16(0),
    uint16(0),
  ]);
  const bytes = Buffer.concat([
    message,
    wireName(key.name),
    uint16(TSIG_TYPE),
    uint16(CLASS_ANY),
    Buffer.alloc(4),
    uint16(data.length),
    data,
  ]);
  bytes.writeUInt16BE(message.readUInt16BE(10) + 1, 10);
  return { bytes, mac };
}

export type Verification =
  | { kind: 'verified' }
  /** The server does not accept the request. `serverTime`: with BADTIME, in milliseconds since the epoch. */
  | { kind: 'rejected'; error: TsigError; serverTime: number | null }
  /** Without a signature, anyone may have sent it. */
  | { kind: 'unsigned' }
  | { kind: 'wrong_signature' }
  /** The signature is right, but not from now. */
  | { kind: 'wrong_time'; serverTime: number };

/** Whether the response is signed with the key, for the request with this MAC. Never throws. */
export function verifyResponse(
  response: Buffer,
  key: TsigKey,
  requestMac: Buffer,
  now: number,
): Verification {
  try {
    return verify(response, key, requestMac, now);
  } catch {
    return { kind: 'wrong_signature' };
  }
}

function verify(response: Buffer, key: TsigKey, requestMac: Buffer, now: number): Verification {
  const tsig = readTsig(response);
  if (tsig === null) return { kind: 'unsigned' };
  const { mac, time, error, other, start, originalId } = tsig;
  const name = TSIG_ERRORS[error as keyof typeof TSIG_ERRORS];
  // A server that cannot verify the request does not sign its response (§5.3.2).
  if (name && name !== 'BADTIME') return { kind: 'rejected', error: name, serverTime: null };
  const message = Buffer.from(response.subarray(0, start));
  message.writeUInt16BE(message.readUInt16BE(10) - 1, 10);
  originalId.copy(message, 0);
  const parts = [uint16(requestMac.length), requestMac, message, tsigVariables(key, tsig)];
  const expected = macOf(parts, key);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected))
    return { kind: 'wrong_signature' };
  if (name) {
    const serverTime = other.length === 6 ? other.readUIntBE(0, 6) * 1000 : null;
    return { kind: 'rejected', error: name, serverTime };
  }
  return Math.abs(time * 1000 - now) > FUDGE_SECONDS * 1000
    ? { kind: 'wrong_time', serverTime: time * 1000 }
    : { kind: 'verified' };
}

interface Variables {
  /** In seconds since the epoch. */
  time: number;
  fudge: number;
  error: number;
  other: Buffer;
}

interface Tsig extends Variables {
  start: number;
  mac: Buffer;
  originalId: Buffer;
}

/** Throws if it is not well-formed. The key and the algorithm are part of what the MAC covers. */
function readTsig(response: Buffer): Tsig | null {
  const start = lastAdditional(response);
  if (start === null) return null;
  const head = nameEnd(response, start);
  if (response.readUInt16BE(head) !== TSIG_TYPE) return null;
  const data = response.subarray(head + 10, head + 10 + response.readUInt16BE(head + 8));
  let at = nameEnd(data, 0);
  const time = data.readUIntBE(at, 6);
  const fudge = data.readUInt16BE(at + 6);
  const macLength = data.readUInt16BE(at + 8);
  const mac = data.subarray(at + 10, at + 10 + macLength);
  at += 10 + macLength;
  const originalId = data.subarray(at, at + 2);
  const error = data.readUInt16BE(at + 2);
  const other = data.subarray(at + 6, at + 6 + data.readUInt16BE(at + 4));
  return { start, time, fudge, mac, originalId, error, other };
}

/** What is signed beside the message (§4.3.3). */
const tsigVariables = (key: TsigKey, { time, fudge, error, other }: Variables): Buffer =>
  Buffer.concat([
    wireName(key.name),
    uint16(CLASS_ANY),
    Buffer.alloc(4),
    wireName(key.algorithm),
    uint48(time),
    uint16(fudge),
    uint16(error),
    uint16(other.length),
    other,
  ]);

function macOf(parts: Buffer[], { algorithm, secret }: TsigKey): Buffer {
  const hmac = createHmac(algorithm.slice('hmac-'.length), secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

const wireName = (name: string): Buffer =>
  Buffer.concat([
    ...name
      .split('.')
      .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint48(value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}

/** The header of the PROXY protocol, by which a balancer says who its client is (versions 1 and 2). */

import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

interface ProxyHeader {
  /** Octets of the header; what follows is the client's. */
  length: number;
  /** The client's address; null where the header names none and the socket's own is meant. */
  address: string | null;
  port: number | null;
}

const V1_START = Buffer.from('PROXY ');
const V1_LONGEST = 107;
const V2_START = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V2_FIXED = 16;

/** Reads the header at the start of what a peer has sent so far. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  if (startsWith(bytes, V1_START)) return parseText(bytes);
  if (startsWith(bytes, V2_START)) return parseBinary(bytes);
  return 'invalid';
}

/** Whether the bytes begin with the start, as far as they go. */
function startsWith(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
}

function parseText(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  const end = bytes.subarray(0, V1_LONGEST).indexOf('\r\n');
  if (end < 0) return bytes.length < V1_LONGEST ? 'incomplete' : 'invalid';
  const [, family, source = '', target = '', port = '', targetPort = '', ...more] = bytes
    .toString('latin1', 0, end)
    .split(' ');
  const length = end + 2;
  if (family === 'UNKNOWN') return { length, address: null, port: null };
  const version = family === 'TCP4' ? 4 : family === 'TCP6' ? 6 : null;
  const right =
    version !== null &&
    isIP(source) === version &&
    isIP(target) === version &&
    isPort(port) &&
    isPort(targetPort) &&
    more.length === 0;
  return right ? { length, address: source, port: Number(port) } : 'invalid';
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65535;
}

function parseBinary(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  if (bytes.length < V2_FIXED) return 'incomplete';
  const command = bytes[12]!;
  const family = bytes[13]!;
  const length = V2_FIXED + bytes.readUInt16BE(14);
  if (command !== 0x20 && command !== 0x21) return 'invalid';
  if (bytes.length < length) return 'incomplete';
  // LOCAL is the balancer speaking for itself; other families than TCP are to be ignored (§2.2).
  const size = family === 0x11 ? 4 : family === 0x21 ? 16 : 0;
  if (command === 0x20 || size === 0) return { length, address: null, port: null };
  const portAt = V2_FIXED + 2 * size;
  if (length < portAt + 4) return 'invalid';
  const address = ipaddr.fromByteArray([...bytes.subarray(V2_FIXED, V2_FIXED + size)]);
  return { length, address: address.toString(), port: bytes.readUInt16BE(portAt) };
}

// Takes the PROXY header off a socket, before the protocol begins.

/**
 * The header, with what follows it put back; null where none came within `ms` or what came is
 * none: then the socket has been destroyed.
 */
export function readProxyHeader(socket: Socket, ms: number): Promise<ProxyHeader | null> {
  return new Promise((resolve) => {
    let seen: Buffer = Buffer.alloc(0);
    const finish = (header: ProxyHeader | null) => {
      clearTimeout(timer);
      socket.pause();
      socket.off('data', read).off('close', giveUp);
      if (!header) socket.destroy();
      else if (seen.length > header.length) socket.unshift(seen.subarray(header.length));
      resolve(header);
    };
    const giveUp = () => finish(null);
    const read = (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk]);
      const header = parseProxyHeader(seen);
      if (header !== 'incomplete') finish(header === 'invalid' ? null : header);
    };
    const timer = setTimeout(giveUp, ms);
    socket.on('data', read).on('close', giveUp);
  });
}

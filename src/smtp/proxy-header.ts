/** The PROXY protocol header, in which a load balancer sends the client's address (versions 1 and 2). */

import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

interface ProxyHeader {
  /** Length of the header in bytes; the client's data follows. */
  length: number;
  /** The client's address; null if the header has none, and the socket's address applies. */
  address: string | null;
  port: number | null;
}

const V1_START = Buffer.from('PROXY ');
const V1_MAX_BYTES = 107;
const V2_START = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V2_FIXED_BYTES = 16;

/** Parses the header at the start of the received bytes. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  if (startsWith(bytes, V1_START)) return parseText(bytes);
  if (startsWith(bytes, V2_START)) return parseBinary(bytes);
  return 'invalid';
}

/** Whether the bytes received so far match the start. */
function startsWith(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
}

function parseText(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  const end = bytes.subarray(0, V1_MAX_BYTES).indexOf('\r\n');
  if (end < 0) return bytes.length < V1_MAX_BYTES ? 'incomplete' : 'invalid';
  const [, family, source = '', target = '', port = '', targetPort = '', ...extraFields] = bytes
    .toString('latin1', 0, end)
    .split(' ');
  const length = end + 2;
  if (family === 'UNKNOWN') return { length, address: null, port: null };
  const version = family === 'TCP4' ? 4 : family === 'TCP6' ? 6 : null;
  const isValid =
    version !== null &&
    isIP(source) === version &&
    isIP(target) === version &&
    isPort(port) &&
    isPort(targetPort) &&
    extraFields.length === 0;
  return isValid ? { length, address: source, port: Number(port) } : 'invalid';
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65535;
}

function parseBinary(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  if (bytes.length < V2_FIXED_BYTES) return 'incomplete';
  const command = bytes[12]!;
  const family = bytes[13]!;
  const length = V2_FIXED_BYTES + bytes.readUInt16BE(14);
  if (command !== 0x20 && command !== 0x21) return 'invalid';
  if (bytes.length < length) return 'incomplete';
  // LOCAL is a connection of the proxy itself; families other than TCP must be ignored (§2.2).
  const size = family === 0x11 ? 4 : family === 0x21 ? 16 : 0;
  if (command === 0x20 || size === 0) return { length, address: null, port: null };
  const portOffset = V2_FIXED_BYTES + 2 * size;
  if (length < portOffset + 4) return 'invalid';
  const address = ipaddr.fromByteArray([...bytes.subarray(V2_FIXED_BYTES, V2_FIXED_BYTES + size)]);
  return { length, address: address.toString(), port: bytes.readUInt16BE(portOffset) };
}

// Reads the PROXY header from a socket, before SMTP starts.

/**
 * Reads the header and puts the bytes after it back into the socket. If there is no valid header
 * within `timeoutMs`, destroys the socket and returns null.
 */
export function readProxyHeader(socket: Socket, timeoutMs: number): Promise<ProxyHeader | null> {
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0);
    const finish = (header: ProxyHeader | null) => {
      clearTimeout(timer);
      socket.pause();
      socket.off('data', read).off('close', fail);
      if (!header) socket.destroy();
      else if (received.length > header.length) socket.unshift(received.subarray(header.length));
      resolve(header);
    };
    const fail = () => finish(null);
    const read = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const header = parseProxyHeader(received);
      if (header !== 'incomplete') finish(header === 'invalid' ? null : header);
    };
    const timer = setTimeout(fail, timeoutMs);
    socket.on('data', read).on('close', fail);
  });
}

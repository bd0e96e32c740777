/** Takes the PROXY header off a socket, before the protocol begins. */

import type { Socket } from 'node:net';
import { type ProxyHeader, parseProxyHeader } from './proxy-header.ts';

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

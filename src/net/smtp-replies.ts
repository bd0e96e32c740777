/** The replies of an SMTP server to its client, one at a time (RFC 5321 §4.2). */

import type { Socket } from 'node:net';

/** No honest reply comes near. */
const MAX_OCTETS = 8 * 1024;

export interface SmtpReply {
  code: number;
  /** The text of each line, without the code. */
  lines: string[];
}

interface SmtpReplies {
  /** The next reply; null where the connection ended, the time is up, or what came is no reply. */
  next(): Promise<SmtpReply | null>;
  /** Stops reading; false where there is something that was not asked for. */
  release(): boolean;
}

export function readReplies(socket: Socket, signal: AbortSignal): SmtpReplies {
  let received = '';
  let ended = false;
  let wake = () => {};
  const take = (chunk: Buffer) => {
    received += chunk.toString('latin1');
    wake();
  };
  const end = () => {
    ended = true;
    wake();
  };
  socket.on('data', take).on('close', end).on('end', end).on('error', end);
  signal.addEventListener('abort', end, { once: true });
  return {
    async next() {
      for (;;) {
        const found = firstReply(received);
        if (found) {
          received = received.slice(found.octets);
          return found.reply;
        }
        if (ended || signal.aborted || received.length > MAX_OCTETS) return null;
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
    },
    release() {
      socket.off('data', take).off('close', end).off('end', end).off('error', end);
      signal.removeEventListener('abort', end);
      return received === '';
    },
  };
}

/** The reply is null where a line is none; the whole is null while a line is still to come. */
function firstReply(text: string): { reply: SmtpReply | null; octets: number } | null {
  const lines: string[] = [];
  let at = 0;
  for (;;) {
    const end = text.indexOf('\n', at);
    if (end < 0) return null;
    const match = /^(\d{3})(?:([ -])(.*?))?\r?$/.exec(text.slice(at, end));
    at = end + 1;
    if (!match) return { reply: null, octets: at };
    lines.push(match[3] ?? '');
    if (match[2] !== '-') return { reply: { code: Number(match[1]), lines }, octets: at };
  }
}

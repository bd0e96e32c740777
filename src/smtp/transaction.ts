/** The course of a mail transaction: what the hooks are asked, and what becomes of their answers. */

import { finished } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { SMTPServerEnvelope, SMTPServerOptions } from 'smtp-server';
import type { DataParser } from './data-parser.ts';
import type {
  IncomingMessage,
  ListenerState,
  Memory,
  OpenSession,
  ReceiveVerdict,
  Reply,
} from './listener-state.ts';
import {
  FALSE_END,
  MEMORY_FULL,
  orFailure,
  refuseForSpace,
  refuseRecipient,
  replyError,
  tooLarge,
} from './replies.ts';

type Handlers = Required<
  Pick<SMTPServerOptions, 'onSecure' | 'onMailFrom' | 'onRcptTo' | 'onData'>
>;

/** What the library calls at STARTTLS, MAIL, RCPT and DATA. */
export function transactionHandlers(room: ListenerState): Handlers {
  return {
    onSecure(socket, { id }, callback) {
      const session = room.sessions.get(id);
      if (session && socket instanceof TLSSocket) session.tls = describeTls(socket);
      callback();
    },
    async onMailFrom(_address, _session, callback) {
      callback(asError(await refuseForSpace(room)));
    },
    async onRcptTo({ address }, { envelope }, callback) {
      const earlier = envelope.rcptTo[0]?.address;
      callback(asError(await refuseRecipient(room, address, earlier)));
    },
    onData(stream, { id, envelope }, callback) {
      const session = room.sessions.get(id);
      if (!session) return;
      // The library drops the parser of a client that goes before its answer.
      const { parser } = session;
      const collector = createCollector(room.maxSize, room.memory);
      stream.on('data', (chunk) => collector.add(chunk));
      finished(stream, async (broken) => {
        // A client that left in the midst of its message is told nothing.
        if (!broken) {
          const verdict = await orFailure(room, () =>
            settle(room, parser, collector, describe(session, envelope)),
          );
          if ('accept' in verdict && verdict.accept) callback(null, verdict.text);
          else callback(replyError(verdict));
        }
        collector.free();
      });
    },
  };
}

function asError(refusal: Reply | null): Error | null {
  return refusal && replyError(refusal);
}

/** To be asked at once: a socket that was closed knows nothing any more. */
function describeTls(socket: TLSSocket): OpenSession['tls'] {
  const cipher: { name: string } | null = socket.getCipher();
  return { used: true, version: socket.getProtocol(), cipher: cipher?.name ?? null };
}

function describe(
  { client, helo, tls }: OpenSession,
  { mailFrom, rcptTo }: SMTPServerEnvelope,
): Omit<IncomingMessage, 'raw'> {
  const mail_from = mailFrom ? mailFrom.address : null;
  return {
    envelope: { mail_from, client_ip: client, helo, tls },
    recipient: rcptTo[0]!.address,
  };
}

/** Decides on a message that came to its end. */
async function settle(
  room: ListenerState,
  parser: DataParser,
  collector: Collector,
  message: Omit<IncomingMessage, 'raw'>,
): Promise<ReceiveVerdict | Reply> {
  if (parser.reader.falseEnd) return FALSE_END;
  if (parser.dataBytes > room.maxSize) return tooLarge(room.maxSize);
  const raw = collector.message();
  return raw ? room.hooks.receive({ ...message, raw }) : MEMORY_FULL;
}

// Gathers the bytes of one message in memory, never more than allowed.

const FIRST = 64 * 1024;

interface Collector {
  /** Keeps a copy of the bytes, or forgets them all once a limit is passed. */
  add(chunk: Buffer): void;
  /** The message; null where it was too large or there was no memory for it. */
  message(): Buffer | null;
  /** Must be called when the message is no longer needed. */
  free(): void;
}

/**
 * One growing buffer, not a list of chunks: a client that sends byte by byte would make of 25 MiB
 * as many objects, and joining a list would need the space twice.
 */
function createCollector(maxSize: number, memory: Memory): Collector {
  let buffer: Buffer | null = Buffer.alloc(0);
  let size = 0;

  const resize = (capacity: number) => {
    const grown = Buffer.allocUnsafeSlow(capacity);
    buffer?.copy(grown, 0, 0, size);
    memory.held += capacity - (buffer?.length ?? 0);
    buffer = grown;
  };
  const free = () => {
    memory.held -= buffer?.length ?? 0;
    buffer = null;
  };

  return {
    add(chunk) {
      if (!buffer) return;
      const needed = size + chunk.length;
      if (needed > buffer.length) {
        const capacity = Math.min(maxSize, Math.max(FIRST, buffer.length * 2, needed));
        if (needed > maxSize || memory.held + capacity - buffer.length > memory.limit)
          return free();
        resize(capacity);
      }
      chunk.copy(buffer, size);
      size = needed;
    },
    message: () => buffer?.subarray(0, size) ?? null,
    free,
  };
}

/** The handlers of a mail transaction, which call the hooks and send their verdicts. */

import { finished } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { SMTPServerEnvelope, SMTPServerOptions } from 'smtp-server';
import type { DataParser } from './data-parser.ts';
import type {
  IncomingMessage,
  ListenerState,
  MemoryBudget,
  OpenSession,
  ReceiveVerdict,
  Reply,
} from './listener-state.ts';
import {
  checkDiskSpace,
  checkRecipient,
  FALSE_END_REPLY,
  MEMORY_FULL,
  replyError,
  tooLarge,
  withFailureReply,
} from './replies.ts';

type Handlers = Required<
  Pick<SMTPServerOptions, 'onSecure' | 'onMailFrom' | 'onRcptTo' | 'onData'>
>;

/** The handlers that the library calls at STARTTLS, MAIL, RCPT and DATA. */
export function transactionHandlers(state: ListenerState): Handlers {
  return {
    onSecure(socket, { id }, callback) {
      const session = state.sessions.get(id);
      if (session && socket instanceof TLSSocket) session.tls = describeTls(socket);
      callback();
    },
    async onMailFrom(_address, _session, callback) {
      callback(asError(await checkDiskSpace(state)));
    },
    async onRcptTo({ address }, { envelope }, callback) {
      const firstRecipient = envelope.rcptTo[0]?.address;
      callback(asError(await checkRecipient(state, address, firstRecipient)));
    },
    onData(stream, { id, envelope }, callback) {
      const session = state.sessions.get(id);
      if (!session) return;
      // The library drops the parser if the client disconnects before the reply.
      const { parser } = session;
      const collector = createCollector(state.maxSize, state.memory);
      stream.on('data', (chunk) => collector.add(chunk));
      finished(stream, async (streamError) => {
        // No reply if the client disconnected during the message.
        if (!streamError) {
          const verdict = await withFailureReply(state, () =>
            finishMessage(state, parser, collector, describeMessage(session, envelope)),
          );
          if ('accept' in verdict && verdict.accept) callback(null, verdict.text);
          else callback(replyError(verdict));
        }
        collector.free();
      });
    },
  };
}

function asError(rejection: Reply | null): Error | null {
  return rejection && replyError(rejection);
}

/** Call while the socket is open: a closed socket has no TLS state. */
function describeTls(socket: TLSSocket): OpenSession['tls'] {
  const cipher: { name: string } | null = socket.getCipher();
  return { used: true, version: socket.getProtocol(), cipher: cipher?.name ?? null };
}

function describeMessage(
  { client, helo, tls }: OpenSession,
  { mailFrom, rcptTo }: SMTPServerEnvelope,
): Omit<IncomingMessage, 'raw'> {
  const mail_from = mailFrom ? mailFrom.address : null;
  return {
    envelope: { mail_from, client_ip: client, helo, tls },
    recipient: rcptTo[0]!.address,
  };
}

/** Checks a complete message and passes it to the receive hook. */
async function finishMessage(
  state: ListenerState,
  parser: DataParser,
  collector: Collector,
  message: Omit<IncomingMessage, 'raw'>,
): Promise<ReceiveVerdict | Reply> {
  if (parser.reader.hasFalseEnd) return FALSE_END_REPLY;
  if (parser.dataBytes > state.maxSize) return tooLarge(state.maxSize);
  const raw = collector.message();
  return raw ? state.hooks.receive({ ...message, raw }) : MEMORY_FULL;
}

// Collects the bytes of one message in memory, within the limits.

const INITIAL_CAPACITY = 64 * 1024;

interface Collector {
  /** Stores a copy of the bytes, or drops everything if a limit is exceeded. */
  add(chunk: Buffer): void;
  /** The message; null if it exceeded the size limit or the memory budget. */
  message(): Buffer | null;
  /** Releases the memory. Must be called when the message is no longer needed. */
  free(): void;
}

function release(buffer: Buffer | null): void {
  if (buffer && buffer.length >= INITIAL_CAPACITY) (buffer.buffer as ArrayBuffer).transfer(0);
}

/**
 * Uses one growing buffer, not a list of chunks. A client that sends 25 MiB byte by byte would create as
 * many chunks, and joining them would need twice the memory.
 */
function createCollector(maxSize: number, memory: MemoryBudget): Collector {
  let buffer: Buffer | null = Buffer.alloc(0);
  let size = 0;

  // `transfer` frees the old memory now. The garbage collector would do so much later.
  const resize = (capacity: number) => {
    const newBuffer = Buffer.allocUnsafeSlow(capacity);
    buffer?.copy(newBuffer, 0, 0, size);
    memory.usedBytes += capacity - (buffer?.length ?? 0);
    release(buffer);
    buffer = newBuffer;
  };
  const free = () => {
    memory.usedBytes -= buffer?.length ?? 0;
    release(buffer);
    buffer = null;
  };

  return {
    add(chunk) {
      if (!buffer) return;
      const requiredSize = size + chunk.length;
      if (requiredSize > buffer.length) {
        const capacity = Math.min(
          maxSize,
          Math.max(INITIAL_CAPACITY, buffer.length * 2, requiredSize),
        );
        if (requiredSize > maxSize || memory.usedBytes + capacity - buffer.length > memory.limit)
          return free();
        resize(capacity);
      }
      chunk.copy(buffer, size);
      size = requiredSize;
    },
    message: () => buffer?.subarray(0, size) ?? null,
    free,
  };
}

/** The handlers of a mail transaction, which call the hooks and send their verdicts. */

import { finished } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { SMTPServerEnvelope, SMTPServerOptions } from 'smtp-server';
import { createMessageBuffer, type MessageBuffer } from '../lib/message-memory.ts';
import type { DataParser } from './data-parser.ts';
import type {
  IncomingMessage,
  ListenerState,
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
      const buffer = createMessageBuffer(state.maxSize, state.memory);
      stream.on('data', (chunk) => buffer.add(chunk));
      finished(stream, async (streamError) => {
        // No reply if the client disconnected during the message.
        if (!streamError) {
          const verdict = await withFailureReply(state, () =>
            finishMessage(state, parser, buffer, describeMessage(session, envelope)),
          );
          if ('accept' in verdict && verdict.accept) callback(null, verdict.text);
          else callback(replyError(verdict));
        }
        buffer.free();
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
  buffer: MessageBuffer,
  message: Omit<IncomingMessage, 'raw'>,
): Promise<ReceiveVerdict | Reply> {
  if (parser.reader.hasFalseEnd) return FALSE_END_REPLY;
  if (parser.dataBytes > state.maxSize) return tooLarge(state.maxSize);
  const raw = buffer.message();
  return raw ? state.hooks.receive({ ...message, raw }) : MEMORY_FULL;
}

/** The handlers of a mail transaction, which call the hooks and send their verdicts. */

import { finished } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { SMTPServerEnvelope, SMTPServerOptions } from 'smtp-server';
import { createMessageBuffer, type MessageBuffer } from '../lib/message-memory.ts';
import type { DataParser } from './data-parser.ts';
import type { ListenerState, OpenSession, ReceiveVerdict, Reply } from './listener-state.ts';
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
    async onRcptTo({ address }, { id, envelope }, callback) {
      const firstRecipient = envelope.rcptTo[0]?.address;
      const session = state.sessions.get(id);
      const rejection = await checkRecipient(state, address, firstRecipient);
      if (session) reportAttempt(state, session, address, rejection);
      callback(asError(rejection));
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
            finishMessage(state, { parser, session, envelope }, buffer),
          );
          if ('accept' in verdict && verdict.accept) {
            session.counts.messages += 1;
            callback(null, verdict.text);
          } else {
            reportAttempt(state, session, envelope.rcptTo[0]!.address, verdict);
            callback(replyError(verdict));
          }
        }
        buffer.free();
      });
    },
  };
}

function reportAttempt(
  { hooks }: ListenerState,
  session: OpenSession,
  recipient: string,
  rejection: Reply | null,
): void {
  if (rejection) session.counts.refusals += 1;
  hooks.attempted?.({ recipient, client: session.describeClient(), rejection });
}

function asError(rejection: Reply | null): Error | null {
  return rejection && replyError(rejection);
}

/** Call while the socket is open: a closed socket has no TLS state. */
function describeTls(socket: TLSSocket): OpenSession['tls'] {
  const cipher: { name: string } | null = socket.getCipher();
  return { used: true, version: socket.getProtocol(), cipher: cipher?.name ?? null };
}

interface Transaction {
  parser: DataParser;
  session: OpenSession;
  envelope: SMTPServerEnvelope;
}

/** Checks a complete message and passes it to the receive hook. */
async function finishMessage(
  state: ListenerState,
  { parser, session, envelope: { mailFrom, rcptTo } }: Transaction,
  buffer: MessageBuffer,
): Promise<ReceiveVerdict | Reply> {
  if (parser.reader.hasFalseEnd) return FALSE_END_REPLY;
  if (parser.dataBytes > state.maxSize) return tooLarge(state.maxSize);
  const raw = buffer.message();
  if (!raw) return MEMORY_FULL;
  const mail_from = mailFrom ? mailFrom.address : null;
  return state.hooks.receive({
    envelope: { mail_from, ...session.clientOf(raw) },
    recipient: rcptTo[0]!.address,
    raw,
  });
}

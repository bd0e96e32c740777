/** The course of a mail transaction: what the hooks are asked, and what becomes of their answers. */

import { finished } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { SMTPServerEnvelope, SMTPServerOptions } from 'smtp-server';
import { type Collector, createCollector } from './collect.ts';
import type { DataParser } from './data-parser.ts';
import type { IncomingMessage, ReceiveVerdict, Reply } from './hooks.ts';
import { orFailure, refuseForSpace, refuseRecipient } from './refusals.ts';
import { FALSE_END, MEMORY_FULL, replyError, tooLarge } from './replies.ts';
import type { OpenSession, Room } from './room.ts';

type Handlers = Required<
  Pick<SMTPServerOptions, 'onSecure' | 'onMailFrom' | 'onRcptTo' | 'onData'>
>;

/** What the library calls at STARTTLS, MAIL, RCPT and DATA. */
export function transactionHandlers(room: Room): Handlers {
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
  room: Room,
  parser: DataParser,
  collector: Collector,
  message: Omit<IncomingMessage, 'raw'>,
): Promise<ReceiveVerdict | Reply> {
  if (parser.reader.falseEnd) return FALSE_END;
  if (parser.dataBytes > room.maxSize) return tooLarge(room.maxSize);
  const raw = collector.message();
  return raw ? room.hooks.receive({ ...message, raw }) : MEMORY_FULL;
}

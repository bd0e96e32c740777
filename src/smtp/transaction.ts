/** The course of a mail transaction: what the hooks are asked, and what becomes of their answers. */

import { finished } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { SMTPServerOptions } from 'smtp-server';
import { errorMessage } from '../lib/errors.ts';
import { type Collector, createCollector } from './collect.ts';
import type { DataParser } from './data-parser.ts';
import type { ReceiveVerdict, Reply } from './hooks.ts';
import {
  DISK_FULL,
  FALSE_END,
  HOOK_FAILED,
  MEMORY_FULL,
  ONE_RECIPIENT,
  replyError,
  tooLarge,
} from './replies.ts';
import type { Room } from './room.ts';
import type { Session } from './session.ts';

type Handlers = Required<
  Pick<SMTPServerOptions, 'onSecure' | 'onMailFrom' | 'onRcptTo' | 'onData'>
>;

/** The reply for a disk that is nearly full, or null where there is room. Never rejects. */
export function refuseForSpace(room: Room): Promise<Reply | null> {
  return orFailure(room, async () => ((await room.hasSpace()) ? null : DISK_FULL));
}

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
    onData(stream, { id }, callback) {
      const session = room.sessions.get(id);
      if (!session) return;
      // The library drops the parser of a client that goes before its answer.
      const { parser } = session;
      const collector = createCollector(room.maxSize, room.memory);
      stream.on('data', (chunk) => collector.add(chunk));
      finished(stream, async (broken) => {
        // A client that left in the midst of its message is told nothing.
        if (!broken) {
          const verdict = await orFailure(room, () => settle(room, session, parser, collector));
          if ('accept' in verdict && verdict.accept) callback(null, verdict.text);
          else callback(replyError(verdict));
        }
        collector.free();
      });
    },
  };
}

/** To be asked at once: a socket that was closed knows nothing any more. */
function describeTls(socket: TLSSocket): Session['tls'] {
  const cipher: { name: string } | null = socket.getCipher();
  return { used: true, version: socket.getProtocol(), cipher: cipher?.name ?? null };
}

function asError(refusal: Reply | null): Error | null {
  return refusal && replyError(refusal);
}

/** What a hook throws is our fault, not the client's: it is logged, and the client may try again. */
async function orFailure<T>(room: Room, work: () => Promise<T>): Promise<T | Reply> {
  try {
    return await work();
  } catch (error) {
    room.log.error('Receiving mail failed.', { error: errorMessage(error) });
    return HOOK_FAILED;
  }
}

function refuseRecipient(
  room: Room,
  address: string,
  earlier: string | undefined,
): Promise<Reply | null> {
  return orFailure(room, async () => {
    const verdict = await room.hooks.recipient(address);
    if (!verdict.accept) return verdict;
    const another = earlier !== undefined && earlier.toLowerCase() !== address.toLowerCase();
    return another ? ONE_RECIPIENT : null;
  });
}

/** Decides on a message that came to its end. */
async function settle(
  room: Room,
  session: Session,
  parser: DataParser,
  collector: Collector,
): Promise<ReceiveVerdict | Reply> {
  if (parser.reader.falseEnd) return FALSE_END;
  if (parser.dataBytes > room.maxSize) return tooLarge(room.maxSize);
  const raw = collector.message();
  if (!raw) return MEMORY_FULL;
  const { mailFrom, rcptTo } = session.session.envelope;
  const envelope = {
    mail_from: mailFrom ? mailFrom.address : null,
    client_ip: session.client,
    helo: session.helo,
    tls: session.tls,
  };
  return room.hooks.receive({ envelope, recipient: rcptTo[0]!.address, raw });
}

/** The handlers of a mail transaction, which ask the destinations and send their verdicts. */

import { finished } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { SMTPServerAddress, SMTPServerEnvelope, SMTPServerOptions } from 'smtp-server';
import { createMessageBuffer, type MessageBuffer } from '../lib/message-memory.ts';
import type { DataParser } from './data-parser.ts';
import { type AcceptedRecipient, deliver } from './delivery.ts';
import {
  findDestination,
  NO_SUCH_ADDRESS,
  type ReceiveVerdict,
  type Reply,
  readRecipient,
} from './destination.ts';
import type { ListenerState, OpenSession } from './listener-state.ts';
import {
  checkDiskSpace,
  FALSE_END_REPLY,
  MEMORY_FULL,
  NAMED_BEFORE,
  ONE_TEST_ADDRESS,
  rejection,
  replyError,
  tooLarge,
  withFailureReply,
} from './replies.ts';

type Handlers = Required<
  Pick<SMTPServerOptions, 'onSecure' | 'onMailFrom' | 'onRcptTo' | 'onData'>
>;

/** The handlers that the library calls at STARTTLS, MAIL, RCPT and DATA. */
export function transactionHandlers(state: ListenerState): Handlers {
  // The library keeps the recipients of a transaction, and drops them at its end.
  const accepted = new WeakMap<SMTPServerAddress, AcceptedRecipient>();
  const acceptedIn = ({ rcptTo }: SMTPServerEnvelope) =>
    rcptTo.map((address) => accepted.get(address)!);
  return {
    onSecure(socket, { id }, callback) {
      const session = state.sessions.get(id);
      if (session && socket instanceof TLSSocket) session.tls = describeTls(socket);
      callback();
    },
    async onMailFrom(_address, _session, callback) {
      callback(asError(await checkDiskSpace(state)));
    },
    async onRcptTo(rcpt, { id, envelope }, callback) {
      const session = state.sessions.get(id);
      const outcome = await checkRecipient(state, rcpt.address, envelope, acceptedIn(envelope));
      const reply = 'code' in outcome ? outcome : null;
      if (!('code' in outcome)) accepted.set(rcpt, outcome);
      if (session) reportAttempt(state, session, rcpt.address, reply);
      callback(asError(reply));
    },
    onData(stream, { id, envelope }, callback) {
      const session = state.sessions.get(id);
      if (!session) return;
      // The library drops the parser if the client disconnects before the reply.
      const { parser } = session;
      const recipients = acceptedIn(envelope);
      const maxSize = Math.max(...recipients.map(({ destination }) => destination.maxSize));
      const buffer = createMessageBuffer(maxSize, state.memory);
      stream.on('data', (chunk) => buffer.add(chunk));
      finished(stream, async (streamError) => {
        // No reply if the client disconnected during the message.
        if (!streamError) {
          const message = { parser, session, envelope, recipients, maxSize };
          const outcome = await withFailureReply(state, () =>
            finishMessage(state, message, buffer),
          );
          const verdicts = 'code' in outcome ? recipients.map(() => rejection(outcome)) : outcome;
          if (verdicts.some(({ accept }) => accept)) session.counts.messages += 1;
          for (const [i, verdict] of verdicts.entries())
            if (!verdict.accept)
              reportAttempt(state, session, recipients[i]!.recipient.address, verdict);
          const results = verdicts.map((verdict) =>
            verdict.accept ? verdict.text : replyError(verdict),
          );
          callback(null, state.lmtp ? results : results.slice(0, 1));
        }
        buffer.free();
      });
    },
  };
}

/** The recipient with its destination, or the reply that rejects it. Never rejects. */
function checkRecipient(
  state: ListenerState,
  address: string,
  { mailFrom }: SMTPServerEnvelope,
  earlier: AcceptedRecipient[],
): Promise<AcceptedRecipient | Reply> {
  return withFailureReply(state, async () => {
    const recipient = readRecipient(address, state.domain);
    if (!recipient) return NO_SUCH_ADDRESS;
    const destination = await findDestination(state.destinations, recipient);
    if ('accept' in destination) return destination;
    const isRepeated = earlier.some((other) => other.recipient.local === recipient.local);
    // LMTP answers each accepted RCPT after DATA (RFC 2033 §4.2); the library answers each address.
    if (isRepeated && state.lmtp) return NAMED_BEFORE;
    const hasOther = earlier.some((other) => other.destination.single);
    if (destination.single && hasOther && !isRepeated) return ONE_TEST_ADDRESS;
    // As declared at MAIL (RFC 1870 §6.3).
    const args = mailFrom ? mailFrom.args : false;
    if (Number(args ? args.SIZE : 0) > destination.maxSize) return tooLarge(destination.maxSize);
    return { recipient, destination };
  });
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
  recipients: AcceptedRecipient[];
  /** The largest size that one of the destinations accepts. */
  maxSize: number;
}

/** Checks a complete message and delivers it. Returns one verdict for each recipient; for SMTP, they are equal. */
async function finishMessage(
  state: ListenerState,
  { parser, session, envelope: { mailFrom }, recipients, maxSize }: Transaction,
  buffer: MessageBuffer,
): Promise<ReceiveVerdict[]> {
  const forAll = (verdict: ReceiveVerdict) => recipients.map(() => verdict);
  if (parser.reader.hasFalseEnd) return forAll(rejection(FALSE_END_REPLY));
  if (parser.dataBytes > maxSize) return forAll(rejection(tooLarge(maxSize)));
  const raw = buffer.message();
  if (!raw) return forAll(rejection(MEMORY_FULL));
  const mail_from = mailFrom ? mailFrom.address : null;
  const envelope = { mail_from, ...session.clientOf(raw) };
  const verdicts = await deliver(state, recipients, { envelope, raw });
  if (state.lmtp) return recipients.map(({ destination }) => verdicts.get(destination)!);
  const [first, ...others] = verdicts.values();
  if (!first!.accept) return forAll(first!);
  const texts = [first!, ...others].map(({ text }) => text);
  return forAll({ accept: true, text: texts.join(', ') });
}

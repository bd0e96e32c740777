/** What the listener says of its own accord (RFC 5321 §4.2, RFC 3463). */

import { errorMessage } from '../lib/errors.ts';
import type { ListenerState, Reply } from './listener-state.ts';

const reply = (code: number, enhanced: string, text: string): Reply => ({ code, enhanced, text });

const HOOK_FAILED = reply(451, '4.3.0', 'Something failed here, try again later');
const DISK_FULL = reply(452, '4.3.1', 'There is no room for more mail, try again later');
export const MEMORY_FULL = reply(452, '4.3.1', 'Too much mail at once, try again later');
const ONE_RECIPIENT = reply(452, '4.5.3', 'One test address for each message');
export const TOO_MANY_RCPT = reply(452, '4.5.3', 'Too many recipients');
export const STOP_RCPT = reply(421, '4.5.3', 'Too many recipients, closing the connection');
export const LINE_TOO_LONG = reply(500, '5.5.2', 'The command line is too long');
export const TIMED_OUT = reply(421, '4.4.2', 'You took too long, closing the connection');
export const SHUTTING_DOWN = reply(421, '4.3.2', 'The service is shutting down, try again later');
export const TOO_MANY_FROM_ADDRESS = reply(421, '4.7.0', 'Too many connections from your address');
export const TOO_MANY_CONNECTIONS = reply(421, '4.3.2', 'Too many connections, try again later');
export const FALSE_END = reply(
  554,
  '5.6.0',
  'The message holds a line with only a dot whose ends are not <CR><LF>, which may smuggle a second message',
);

export const tooLarge = (maxSize: number): Reply =>
  reply(552, '5.3.4', `The message is larger than ${maxSize} bytes`);

/** A line of the protocol without its end. */
export function replyLine({ code, enhanced, text }: Reply): string {
  return `${code} ${enhanced} ${text}`;
}

/** A reply as the library takes it from a handler. */
export function replyError({ code, enhanced, text }: Reply): Error {
  return Object.assign(new Error(`${enhanced} ${text}`), { responseCode: code });
}

// Asks the hooks whether something is to be refused, and takes their failing for a reason too.

/** What a hook throws is our fault, not the client's: it is logged, and the client may try again. */
export async function orFailure<T>(
  room: ListenerState,
  work: () => Promise<T>,
): Promise<T | Reply> {
  try {
    return await work();
  } catch (error) {
    room.log.error('Receiving mail failed.', { error: errorMessage(error) });
    return HOOK_FAILED;
  }
}

/** The reply for a disk that is nearly full, or null where there is room. Never rejects. */
export function refuseForSpace(room: ListenerState): Promise<Reply | null> {
  return orFailure(room, async () => ((await room.hasSpace()) ? null : DISK_FULL));
}

/** The reply to a recipient that is not taken, or null; `earlier` was taken before. Never rejects. */
export function refuseRecipient(
  room: ListenerState,
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

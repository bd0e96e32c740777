/** The listener's own replies (RFC 5321 §4.2, RFC 3463). */

import { errorMessage } from '../lib/errors.ts';
import { DatabaseUnavailableError, isOutOfSpace } from '../store/errors.ts';
import type { Rejection, Reply } from './destination.ts';
import type { ListenerState } from './listener-state.ts';

const reply = (code: number, enhanced: string, text: string): Reply => ({ code, enhanced, text });

const HOOK_FAILED = reply(451, '4.3.0', 'Internal error, try again later');
export const DISK_FULL = reply(452, '4.3.1', 'Insufficient disk space, try again later');
export const MEMORY_FULL = reply(452, '4.3.1', 'Too many messages in transfer, try again later');
export const ONE_TEST_ADDRESS = reply(452, '4.5.3', 'Only one test address per message');
export const NAMED_BEFORE = reply(452, '4.5.3', 'This message already has this recipient');
export const TOO_MANY_RCPT = reply(452, '4.5.3', 'Too many recipients');
export const STOP_RCPT = reply(421, '4.5.3', 'Too many recipients, closing the connection');
export const LINE_TOO_LONG = reply(500, '5.5.2', 'Command line too long');
export const UNKNOWN_PARAMETER = reply(
  555,
  '5.5.4',
  'A parameter of this command is not supported by this server',
);
export const TIMED_OUT = reply(421, '4.4.2', 'Timeout, closing the connection');
export const SHUTTING_DOWN = reply(421, '4.3.2', 'Service shutting down, try again later');
export const TOO_MANY_FROM_ADDRESS = reply(
  421,
  '4.7.0',
  'Too many connections from your IP address',
);
export const TOO_MANY_FROM_NETWORK = reply(
  451,
  '4.7.0',
  'Too many messages from your network, try again later',
);
export const TOO_MUCH_FROM_NETWORK = reply(
  451,
  '4.7.0',
  'Too many bytes from your network, try again later',
);
export const NOT_ALLOWED = reply(
  550,
  '5.7.1',
  'Your IP address may not deliver mail with LMTP to this server',
);
export const TOO_MANY_CONNECTIONS = reply(421, '4.3.2', 'Too many connections, try again later');
export const FALSE_END_REPLY = reply(
  554,
  '5.6.0',
  'Message has a dot-only line that is not delimited by <CR><LF> (possible SMTP smuggling)',
);

export const tooLarge = (maxSize: number): Reply =>
  reply(552, '5.3.4', `Message is larger than ${maxSize} bytes`);

/** The reply as a protocol line, without CRLF. */
export function replyLine({ code, enhanced, text }: Reply): string {
  return `${code} ${enhanced} ${text}`;
}

/** The reply as the error that a handler passes to the library. */
export function replyError({ code, enhanced, text }: Reply): Error {
  return Object.assign(new Error(`${enhanced} ${text}`), { responseCode: code });
}

export const rejection = (rejected: Reply): Rejection => ({ accept: false, ...rejected });

// Calls hooks and destinations; if one throws, the reply is a temporary failure.

/** Runs `work`. If it throws, logs the error and returns a temporary failure for the client. */
export async function withFailureReply<T>(
  state: ListenerState,
  work: () => Promise<T>,
): Promise<T | Reply> {
  try {
    return await work();
  } catch (error) {
    if (isOutOfSpace(error)) return DISK_FULL;
    const level = error instanceof DatabaseUnavailableError ? 'warn' : 'error';
    state.log[level]('could not receive a message', { error: errorMessage(error) });
    return HOOK_FAILED;
  }
}

/** The reply if the disk is nearly full, or null. Never rejects. */
export function checkDiskSpace(state: ListenerState): Promise<Reply | null> {
  return withFailureReply(state, async () => ((await state.hasSpace()) ? null : DISK_FULL));
}

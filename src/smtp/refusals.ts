/** Asks the hooks whether something is to be refused, and takes their failing for a reason too. */

import { errorMessage } from '../lib/errors.ts';
import type { Reply } from './hooks.ts';
import { DISK_FULL, HOOK_FAILED, ONE_RECIPIENT } from './replies.ts';
import type { Room } from './room.ts';

/** What a hook throws is our fault, not the client's: it is logged, and the client may try again. */
export async function orFailure<T>(room: Room, work: () => Promise<T>): Promise<T | Reply> {
  try {
    return await work();
  } catch (error) {
    room.log.error('Receiving mail failed.', { error: errorMessage(error) });
    return HOOK_FAILED;
  }
}

/** The reply for a disk that is nearly full, or null where there is room. Never rejects. */
export function refuseForSpace(room: Room): Promise<Reply | null> {
  return orFailure(room, async () => ((await room.hasSpace()) ? null : DISK_FULL));
}

/** The reply to a recipient that is not taken, or null; `earlier` was taken before. Never rejects. */
export function refuseRecipient(
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

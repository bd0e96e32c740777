/** Moves messages of a mailbox to its trash, over a connection of its own: all others only read. */

import type { ImapAccount } from '../../config/seed-mailboxes.ts';
import { ImapError } from './errors.ts';
import { createClient, withinLimits } from './mailbox.ts';

/** Messages in one folder. UIDs identify messages only while the folder has this UIDVALIDITY (RFC 9051 §2.3.1.1). */
export interface MessagesInFolder {
  folder: string;
  uidValidity: string;
  uids: number[];
}

const LIMITS = { timeoutMs: 60_000, bytes: 4 * 1024 * 1024 };

/**
 * Moves messages that still exist, and touches nothing else. Does nothing in a folder that is gone, or whose UIDs have
 * changed. Rejects with an ImapError, also if the server can’t move messages in one step or has no trash.
 */
export async function moveToTrash(
  account: ImapAccount,
  messages: MessagesInFolder[],
): Promise<void> {
  const { host } = account;
  const client = await createClient(account, {});
  const bounded = <T>(work: () => Promise<T>): Promise<T> =>
    withinLimits(client, account, LIMITS, work);
  try {
    await bounded(() => client.connect());
    // Without MOVE (RFC 6851), removing a copied message can remove others that are marked as deleted.
    if (!client.capabilities.has('MOVE'))
      throw new ImapError('refused', `${host} doesn’t support MOVE, so nothing is cleaned up.`);
    const folders = await bounded(() => client.list({ listOnly: true }));
    const trash = folders.find(({ flags }) => flags.has('\\Trash'));
    if (!trash)
      throw new ImapError(
        'refused',
        `${host} has no folder flagged as trash, so nothing is cleaned up.`,
      );
    for (const { folder, uidValidity, uids } of messages) {
      if (folder !== 'INBOX' && !folders.some(({ path }) => path === folder)) continue;
      const opened = await bounded(() => client.mailboxOpen(folder));
      if (String(opened.uidValidity) !== uidValidity || uids.length === 0) continue;
      const moved = await bounded(() =>
        client.messageMove(uids.join(','), trash.path, { uid: true }),
      );
      if (!moved) throw new ImapError('refused', `${host} didn’t move messages to the trash.`);
    }
  } finally {
    client.close();
  }
}

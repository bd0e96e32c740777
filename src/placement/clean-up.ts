/** The job that moves old messages of tests in seed mailboxes to the trash, if `SEED_CLEANUP` names an age. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { AccountError } from '../net/account-error.ts';
import { type MessagesInFolder, moveToTrash } from '../net/imap/trash.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { type ImapSeed, withAccount } from './imap-source.ts';
import type { Match } from './match.ts';
import { releaseSeed, SINGLE_LEASE_MS } from './seeds.ts';

export const cleanUpJob = (app: App): Job => ({
  name: 'placement.clean_up',
  tick: '15 */10 * * * *',
  run: () => cleanUpSeeds(app),
});

/** `probable` matches could be messages of somebody else. */
const SURE_MATCHES: Match[] = ['address', 'token', 'message_id'];
const BATCH_SIZE = 200;

/** Skips mailboxes that a node is looking into, so that the limit on connections holds. */
export async function cleanUpSeeds(app: App): Promise<void> {
  if (app.config.SEED_CLEANUP === 0) return;
  for (const { imap, ...seed } of app.config.SEED_MAILBOXES) {
    // Microsoft Graph allows only reading.
    if (imap === null) continue;
    const found = await findMessages(app, seed.name);
    if (found.length === 0) continue;
    const due = app.db.selectFrom('seed_mailboxes').select('id').where('id', '=', seed.name);
    const [held] = await claimRows(app, { table: 'seed_mailboxes', due, leaseMs: SINGLE_LEASE_MS });
    if (!held) continue;
    try {
      await cleanUp(app, { ...seed, imap }, found);
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      app.log.warn('cleaning up a seed mailbox failed', {
        seed: seed.name,
        error: errorMessage(error),
      });
    } finally {
      await releaseSeed(app.db, held);
    }
  }
}

interface OldMessage {
  test_id: string;
  message_key: string;
}

/** Final placements of kept tests whose message is old enough. */
async function findMessages(
  { db, clock, config }: Pick<App, 'db' | 'clock' | 'config'>,
  seed: string,
): Promise<OldMessage[]> {
  const rows = await db
    .selectFrom('placements')
    .select(['test_id', 'message_key'])
    .where('seed', '=', seed)
    .where('message_key', 'is not', null)
    .where('matched_by', 'in', SURE_MATCHES)
    .where('settled_at', 'is not', null)
    .where('cleaned_at', 'is', null)
    .where('created_at', '<', isoTime(clock.now() - config.SEED_CLEANUP))
    .orderBy('created_at')
    .limit(BATCH_SIZE)
    .execute();
  return rows.map(({ test_id, message_key }) => ({ test_id, message_key: message_key! }));
}

async function cleanUp(app: App, seed: ImapSeed, messages: OldMessage[]): Promise<void> {
  await withAccount(app, seed, (account) => moveToTrash(account, foldersOf(messages)));
  await app.db
    .updateTable('placements')
    .set({ cleaned_at: isoTime(app.clock.now()) })
    .where('seed', '=', seed.name)
    .where(
      'test_id',
      'in',
      messages.map(({ test_id }) => test_id),
    )
    .execute();
}

/** A key holds the folder, its UIDVALIDITY and the UID. */
function foldersOf(messages: OldMessage[]): MessagesInFolder[] {
  const folders = new Map<string, MessagesInFolder>();
  for (const { message_key } of messages) {
    // The mailbox was read through Microsoft Graph before.
    if (!message_key.startsWith('[')) continue;
    const [folder, uidValidity, uid] = JSON.parse(message_key) as [string, string, number];
    const key = JSON.stringify([folder, uidValidity]);
    const others = folders.get(key)?.uids ?? [];
    folders.set(key, { folder, uidValidity, uids: [...others, uid] });
  }
  return [...folders.values()];
}

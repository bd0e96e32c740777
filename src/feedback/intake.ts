/** Stores the messages and files that carry feedback, before they are read. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Envelope } from '../analysis/check.ts';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { discardChunks, insertFirstChunk, storeLaterChunks } from '../store/chunks.ts';
import { afterCommit, type Tx, transact } from '../store/open.ts';
import type { FeedbackMailRow } from '../store/tables.generated.ts';
import { bytesUntilRead, isKnownSource } from './storage/stored.ts';
import { changeStored } from './storage/usage.ts';
import type { TrustedServers } from './thread/recorded.ts';

export const READ_JOB = 'feedback.read';

/** How a report came here. */
export const FEEDBACK_ORIGINS = ['smtp', 'https', 'upload', 'imap'] as const;
export type FeedbackOrigin = (typeof FEEDBACK_ORIGINS)[number];

export interface NewFeedback {
  raw: Uint8Array;
  source: FeedbackOrigin;
  /** The domain whose address it was sent to; null if it was sent to none. */
  domainId: string | null;
  suffix: string | null;
  envelope: Envelope | null;
  /** Whose Authentication-Results are believed. */
  authserv?: TrustedServers;
  /** For how many milliseconds the caller reads it itself. After that, the job does. */
  ownMs?: number;
}

const MAX_SUFFIX = 64;

/**
 * Stores a message or file that was admitted. Resolves when it survives any crash; its reports are read later, and once. `within` runs the
 * transaction, such as that of a request.
 */
export async function storeFeedback(
  app: App,
  { raw, source, domainId, suffix, envelope, authserv, ownMs }: NewFeedback,
  within: (work: (tx: Tx) => Promise<FeedbackMailRow>) => Promise<FeedbackMailRow> = (work) =>
    transact(app.db, work),
): Promise<FeedbackMailRow> {
  const { db, clock, newId } = app;
  const now = clock.now();
  const row: FeedbackMailRow = {
    id: newId('fbm'),
    domain_id: domainId,
    source,
    suffix: suffix?.slice(0, MAX_SUFFIX) || null,
    size: raw.byteLength,
    envelope: envelope === null ? null : JSON.stringify(envelope),
    received_at: isoTime(now),
    due_at: isoTime(now + (ownMs ?? 0)),
    attempts: 0,
    lease: null,
    leased_until: null,
    authserv: authserv ? JSON.stringify(authserv) : null,
  };
  try {
    await storeLaterChunks(db, row.id, raw);
    await nextTurn();
    return await within(async (tx) => {
      await tx.insertInto('feedback_mails').values(row).execute();
      await insertFirstChunk(tx, row, raw);
      if (ownMs === undefined) afterCommit(tx, () => app.scheduler.wake(READ_JOB));
      return row;
    });
  } catch (error) {
    changeStored(app, domainId, isKnownSource(source), -bytesUntilRead(row.size));
    await discardChunks(db, row.id, error);
    throw error;
  }
}

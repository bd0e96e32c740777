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
  /** The servers whose Authentication-Results are trusted. */
  authserv?: TrustedServers;
  /** For how many milliseconds the caller reads it itself. After that, the job does. */
  ownMs?: number;
}

const MAX_SUFFIX = 64;

type Within<Result> = (work: (tx: Tx) => Promise<Result>) => Promise<Result>;

/**
 * Stores a message or file that was admitted. Resolves when it survives any crash; its reports are read later, and once. `within` runs the
 * transaction, such as that of a request.
 */
export async function storeFeedback(
  app: App,
  arrival: NewFeedback,
  within?: Within<FeedbackMailRow[]>,
): Promise<FeedbackMailRow> {
  return (await storeAll(app, [arrival], within))[0]!;
}

/** The same for several files in one transaction. Each file is stored unchanged. */
export async function storeAll(
  app: App,
  arrivals: NewFeedback[],
  within: Within<FeedbackMailRow[]> = (work) => transact(app.db, work),
): Promise<FeedbackMailRow[]> {
  const { db } = app;
  const stored = arrivals.map((arrival) => ({ row: rowOf(app, arrival), raw: arrival.raw }));
  const rows = stored.map(({ row }) => row);
  try {
    for (const { row, raw } of stored) await storeLaterChunks(db, row.id, raw);
    await nextTurn();
    return await within(async (tx) => {
      await tx.insertInto('feedback_mails').values(rows).execute();
      for (const { row, raw } of stored) await insertFirstChunk(tx, row, raw);
      if (arrivals.some(({ ownMs }) => ownMs === undefined))
        afterCommit(tx, () => app.scheduler.wake(READ_JOB));
      return rows;
    });
  } catch (error) {
    for (const { id, domain_id, source, size } of rows) {
      changeStored(app, domain_id, isKnownSource(source), -bytesUntilRead(size));
      await discardChunks(db, id, error);
    }
    throw error;
  }
}

function rowOf(
  { clock, newId }: App,
  { raw, source, domainId, suffix, envelope, authserv, ownMs }: NewFeedback,
): FeedbackMailRow {
  const now = clock.now();
  return {
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
}

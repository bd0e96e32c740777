/** Stores the messages that arrive for tests, inboxes, monitors and postmaster. */

import type { App } from '../app.ts';
import { traceOf } from '../events/traces.ts';
import { isoTime } from '../lib/clock.ts';
import { sha256 } from '../lib/crypto.ts';
import { inTrace } from '../lib/trace-context.ts';
import type { IncomingMail, ReceiveVerdict, Rejection } from '../smtp/destination.ts';
import { deleteChunks, discardChunks, storeLaterChunks } from '../store/chunks.ts';
import { type Tx, transact } from '../store/open.ts';
import type { MessageRow } from '../store/tables.generated.ts';

/** The stored message, which is the earlier message if the same bytes arrive again, or the reply that rejects it. */
export type StoreOutcome =
  | {
      accept: true;
      id: string;
      testId: string | null;
      /** Its work has begun, so that no job need look for it. */
      isTaken?: boolean;
    }
  | Rejection;

/**
 * Stores a message: `store` decides in a transaction. Resolves after the commit, so that an accepted message survives
 * any crash and is due for `job`. The same bytes are accepted again: the sender may have missed our 250, or the
 * connection to the database was lost during the commit.
 */
export async function storeMail(
  app: App,
  { envelope, raw }: IncomingMail,
  {
    recipient,
    job,
    store,
  }: {
    recipient: string;
    job: string;
    store(tx: Tx, message: MessageRow, raw: Uint8Array): Promise<StoreOutcome>;
  },
): Promise<ReceiveVerdict> {
  const { db, clock, newId } = app;
  const message: MessageRow = {
    id: newId('msg'),
    test_id: null,
    recipient,
    sha256: sha256(raw),
    size: raw.byteLength,
    envelope: JSON.stringify(envelope),
    received_at: isoTime(clock.now()),
  };
  try {
    await storeLaterChunks(db, message.id, raw);
    const outcome = await transact(db, (tx) => store(tx, message, raw));
    if (!outcome.accept || outcome.id !== message.id) await deleteChunks(db, message.id);
    else if (!outcome.isTaken) app.scheduler.wake(job);
    if (!outcome.accept) return outcome;
    const { id, testId } = outcome;
    inTrace(testId === null ? null : traceOf(app, testId), () =>
      app.log.info('accepted a message', {
        message_id: id,
        test: testId,
        client_ip: envelope.client_ip,
        bytes: message.size,
        known: id !== message.id,
      }),
    );
    return { accept: true, text: `Accepted as ${id}` };
  } catch (error) {
    await discardChunks(db, message.id, error);
    throw error;
  }
}

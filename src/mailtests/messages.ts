/** Received messages. Their bytes are in chunks. */

import { deleteFirstChunks, insertFirstChunk, type Stored } from '../store/chunks.ts';
import { type Db, type PreparedParameter, prepared, type Tx } from '../store/open.ts';
import { insertRow } from '../store/rows.ts';
import type { MessageRow } from '../store/tables.generated.ts';

/** Stores the message and its first chunk in the transaction that accepts it. Throws if a later chunk is missing. */
export async function insertMessage(tx: Tx, message: MessageRow, raw: Uint8Array): Promise<void> {
  await insertFirstChunk(tx, message, raw);
  await insertRow(tx, 'messages', message);
}

/** The message of a test; undefined until it arrives. */
export async function findMessageOf(db: Db | Tx, testId: string): Promise<MessageRow | undefined> {
  const [message] = await findByTest(db, { testId });
  return message;
}

const findByTest = prepared((db, parameter: PreparedParameter<{ testId: string }>) =>
  db.selectFrom('messages').selectAll().where('test_id', '=', parameter('testId')),
);

/**
 * Deletes messages with their first chunks. Returns those that have more chunks, for `deleteLaterChunks` after the
 * commit.
 */
export async function deleteMessages(tx: Tx, messages: Stored[]): Promise<Stored[]> {
  const later = await deleteFirstChunks(tx, messages);
  const ids = messages.map(({ id }) => id);
  if (ids.length > 0) await tx.deleteFrom('messages').where('id', 'in', ids).execute();
  return later;
}

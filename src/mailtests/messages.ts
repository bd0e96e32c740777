/** Raw messages in the database, in chunks that are quick to write and read. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../app.ts';
import { idAt } from '../lib/ids.ts';
import { CommitUnknownError } from '../store/errors.ts';
import { type Db, engineOf, type Tx } from '../store/open.ts';
import { inSteps } from '../store/steps.ts';
import type { MessageRow } from '../store/tables.generated.ts';

/** Writing a chunk takes a few milliseconds. Most messages are one chunk. */
const CHUNK_BYTES = 512 * 1024;

/**
 * Stores all chunks of a message except the first, each in its own transaction, and yields between
 * them. If `insertMessage` never commits, they are orphans, which are deleted later.
 */
export async function storeLaterChunks(db: Db, messageId: string, raw: Uint8Array): Promise<void> {
  if (raw.byteLength <= CHUNK_BYTES) return;
  await oneAtATime(db, async () => {
    for (let position = 1; position * CHUNK_BYTES < raw.byteLength; position++) {
      await insertChunk(db, messageId, position, raw);
      await nextTurn();
    }
  });
}

const lastInQueue = new WeakMap<Db, Promise<unknown>>();

/**
 * Large messages are processed one at a time. In parallel, each turn of the event loop would handle
 * a chunk of every message and block for all of them together.
 */
function oneAtATime<T>(db: Db, work: () => Promise<T>): Promise<T> {
  const done = (lastInQueue.get(db) ?? Promise.resolve()).then(work);
  lastInQueue.set(
    db,
    done.catch(() => {}),
  );
  return done;
}

/** Stores the message and its first chunk in the transaction that accepts it. Throws if a later chunk is missing. */
export async function insertMessage(tx: Tx, message: MessageRow, raw: Uint8Array): Promise<void> {
  await requireLaterChunks(tx, message);
  await insertChunk(tx, message.id, 0, raw);
  await tx.insertInto('messages').values(message).execute();
}

/** This process may have been suspended for so long that another node deleted them. */
async function requireLaterChunks(tx: Tx, { id, size }: MessageRow): Promise<void> {
  if (size <= CHUNK_BYTES || engineOf(tx) === 'sqlite') return;
  const { count } = await tx
    .selectFrom('message_chunks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('message_id', '=', id)
    .executeTakeFirstOrThrow();
  if (count !== Math.ceil(size / CHUNK_BYTES) - 1)
    throw new Error('Chunks of the message were deleted while it was being stored.');
}

async function insertChunk(db: Db | Tx, message_id: string, position: number, raw: Uint8Array) {
  const bytes = raw.subarray(position * CHUNK_BYTES, (position + 1) * CHUNK_BYTES);
  await db.insertInto('message_chunks').values({ message_id, position, bytes }).execute();
}

/** The message of a test; undefined until it arrives. */
export async function findMessageOf(db: Db | Tx, testId: string): Promise<MessageRow | undefined> {
  return db.selectFrom('messages').selectAll().where('test_id', '=', testId).executeTakeFirst();
}

/** Thrown when a message is deleted while it is being read. */
export class MessageDeletedError extends Error {}

/** The chunks in order, one query each. Throws MessageDeletedError if one is missing. */
export async function* readChunks(
  db: Db,
  { id, size }: Pick<MessageRow, 'id' | 'size'>,
): AsyncGenerator<Uint8Array> {
  for (let position = 0; position === 0 || position * CHUNK_BYTES < size; position++) {
    const row = await db
      .selectFrom('message_chunks')
      .select('bytes')
      .where('message_id', '=', id)
      .where('position', '=', position)
      .executeTakeFirst();
    if (!row) throw new MessageDeletedError('The message was deleted.');
    yield row.bytes;
    await nextTurn();
  }
}

/** The whole message, byte for byte. Rejects with MessageDeletedError. */
export async function readMessage(db: Db, message: MessageRow): Promise<Uint8Array> {
  const { size } = message;
  const read = async () => {
    const raw = Buffer.allocUnsafeSlow(size);
    let offset = 0;
    for await (const chunk of readChunks(db, message)) {
      raw.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return raw;
  };
  return size <= CHUNK_BYTES ? read() : oneAtATime(db, read);
}

/** Deletes the chunks of a message that was not accepted. */
export async function deleteChunks(db: Db, messageId: string): Promise<void> {
  await db.deleteFrom('message_chunks').where('message_id', '=', messageId).execute();
}

/**
 * After `error`, deletes what `storeLaterChunks` stored, unless the message may be stored. What remains is
 * deleted as orphaned.
 */
export async function discardChunks(db: Db, messageId: string, error: unknown): Promise<void> {
  if (error instanceof CommitUnknownError) return;
  await deleteChunks(db, messageId).catch(() => {});
}

// Deletes messages of deleted tests, and chunks without a message.

/** Freeing the pages of a chunk takes a fraction of a millisecond. */
const CHUNKS_PER_STEP = 16;

/**
 * Deletes messages with their first chunks. Returns those that have more chunks, which `deleteLaterChunks` deletes
 * after the commit: in one transaction, large messages would block the process.
 */
export async function deleteMessages(
  tx: Tx,
  messages: Pick<MessageRow, 'id' | 'size'>[],
): Promise<Pick<MessageRow, 'id' | 'size'>[]> {
  const ids = messages.map(({ id }) => id);
  if (ids.length === 0) return [];
  await tx
    .deleteFrom('message_chunks')
    .where('message_id', 'in', ids)
    .where('position', '=', 0)
    .execute();
  await tx.deleteFrom('messages').where('id', 'in', ids).execute();
  return messages.filter(({ size }) => size > CHUNK_BYTES);
}

/** After a crash, `deleteOrphanedChunks` deletes what remains. */
export async function deleteLaterChunks(
  db: Db,
  messages: Pick<MessageRow, 'id' | 'size'>[],
): Promise<void> {
  for (const { id, size } of messages)
    for (let first = 1; first * CHUNK_BYTES < size; first += CHUNKS_PER_STEP) {
      await db
        .deleteFrom('message_chunks')
        .where('message_id', '=', id)
        .where('position', '>=', first)
        .where('position', '<', first + CHUNKS_PER_STEP)
        .execute();
      await nextTurn();
    }
}

/** No message takes that long to be stored. */
const ORPHAN_AGE_MS = 3_600_000;

/**
 * Deletes chunks that were left without their message by a crash. Keeps recent ones: this or another node may be
 * storing their message.
 */
export async function deleteOrphanedChunks({
  db,
  clock,
}: Pick<App, 'db' | 'clock'>): Promise<void> {
  await deleteOrphans(db, idAt('msg', clock.now() - ORPHAN_AGE_MS));
}

/** At start, no other process uses an SQLite database, so all chunks without a message are orphans. */
export async function deleteChunksOfLastRun(app: Pick<App, 'db' | 'clock'>): Promise<void> {
  await (engineOf(app.db) === 'sqlite' ? deleteOrphans(app.db, null) : deleteOrphanedChunks(app));
}

/** Deletes orphans of messages with an ID below `end`; null: of all. Looks at some messages at a time. */
async function deleteOrphans(db: Db, end: string | null): Promise<void> {
  let after = '';
  await inSteps(async (limit) => {
    const chunks = db
      .selectFrom('message_chunks')
      .select('message_id')
      .distinct()
      .where('message_id', '>', after)
      .$if(end !== null, (query) => query.where('message_id', '<', end!))
      .orderBy('message_id')
      .limit(limit);
    const ids = (await chunks.execute()).map(({ message_id }) => message_id);
    if (ids.length === 0) return 0;
    after = ids.at(-1)!;
    const messages = await db.selectFrom('messages').select('id').where('id', 'in', ids).execute();
    const existing = new Set(messages.map(({ id }) => id));
    for (const id of ids.filter((id) => !existing.has(id))) await deleteChunks(db, id);
    return ids.length;
  });
}

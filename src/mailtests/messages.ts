/** Raw messages in the database, in pieces that none takes long to write or read. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Db, Tx } from '../store/open.ts';
import type { MessageRow } from '../store/tables.generated.ts';

/** A piece this large is written in a few milliseconds; most messages are one piece. */
const CHUNK_BYTES = 512 * 1024;

/**
 * Stores all pieces of a message but the first, each in a transaction of its own, the event loop
 * free in between. Until `insertMessage` has committed, they belong to nothing and are swept.
 */
export async function storeTail(db: Db, messageId: string, raw: Uint8Array): Promise<void> {
  if (raw.byteLength <= CHUNK_BYTES) return;
  await oneAtATime(db, async () => {
    for (let position = 1; position * CHUNK_BYTES < raw.byteLength; position++) {
      await insertChunk(db, messageId, position, raw);
      await nextTurn();
    }
  });
}

const lastInLine = new WeakMap<Db, Promise<unknown>>();

/**
 * Messages of several pieces wait for each other: side by side, a piece of each would fall into
 * every turn of the event loop, and it would stand still for all of them together.
 */
function oneAtATime<T>(db: Db, work: () => Promise<T>): Promise<T> {
  const done = (lastInLine.get(db) ?? Promise.resolve()).then(work);
  lastInLine.set(
    db,
    done.catch(() => {}),
  );
  return done;
}

/** Stores the message and its first piece, in the transaction that makes it count. */
export async function insertMessage(tx: Tx, message: MessageRow, raw: Uint8Array): Promise<void> {
  await insertChunk(tx, message.id, 0, raw);
  await tx.insertInto('messages').values(message).execute();
}

async function insertChunk(db: Db | Tx, message_id: string, position: number, raw: Uint8Array) {
  const bytes = raw.subarray(position * CHUNK_BYTES, (position + 1) * CHUNK_BYTES);
  await db.insertInto('message_chunks').values({ message_id, position, bytes }).execute();
}

/** The message of a test; undefined before it has come. */
export async function findMessageOf(db: Db | Tx, testId: string): Promise<MessageRow | undefined> {
  return db.selectFrom('messages').selectAll().where('test_id', '=', testId).executeTakeFirst();
}

/** The message was deleted while it was read. */
export class MessageGone extends Error {}

/** The pieces in order, each read by itself. Throws MessageGone where one is missing. */
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
    if (!row) throw new MessageGone('The message is gone.');
    yield row.bytes;
    await nextTurn();
  }
}

/** The whole message, exactly as it came. Rejects with MessageGone. */
export async function readMessage(db: Db, message: MessageRow): Promise<Uint8Array> {
  const { size } = message;
  const read = async () => {
    const raw = Buffer.allocUnsafeSlow(size);
    let at = 0;
    for await (const chunk of readChunks(db, message)) {
      raw.set(chunk, at);
      at += chunk.byteLength;
    }
    return raw;
  };
  return size <= CHUNK_BYTES ? read() : oneAtATime(db, read);
}

/** Deletes the pieces of a message that is not kept. */
export async function dropPieces(db: Db, messageId: string): Promise<void> {
  await db.deleteFrom('message_chunks').where('message_id', '=', messageId).execute();
}

/** Deletes the pieces that `storeTail` left when the process ended before their message counted. */
export async function sweepChunks(db: Db): Promise<void> {
  await db
    .deleteFrom('message_chunks')
    .where('message_id', 'not in', db.selectFrom('messages').select('id'))
    .execute();
}

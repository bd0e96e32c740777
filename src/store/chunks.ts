/** The bytes of messages and of mail with feedback, in chunks that are quick to write and read. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Clock } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { type IdPrefix, idAt } from '../lib/ids.ts';
import { engineOf } from './engine.ts';
import { CommitUnknownError } from './errors.ts';
import { type PreparedParameter, prepared } from './prepared.ts';
import { insertRow } from './rows.ts';
import { inSteps } from './steps.ts';
import type { Db, Tx } from './types.ts';

/** A row whose bytes are stored in chunks: of `messages` or `feedback_mails`. */
export interface Stored {
  id: string;
  /** In bytes. */
  size: number;
}

/** Writing a chunk takes a few milliseconds. Most messages are one chunk. */
const CHUNK_BYTES = 512 * 1024;

/**
 * Stores all chunks of a message except the first, each in its own transaction, and yields between
 * them. If `insertFirstChunk` never commits, they are orphans, which are deleted later.
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

/** Stores the first chunk in the transaction that stores the row. Throws if a later chunk is missing. */
export async function insertFirstChunk(tx: Tx, stored: Stored, raw: Uint8Array): Promise<void> {
  await requireLaterChunks(tx, stored);
  await insertChunk(tx, stored.id, 0, raw);
}

/** This process may have been suspended for so long that another node deleted them. */
async function requireLaterChunks(tx: Tx, { id, size }: Stored): Promise<void> {
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
  await insertRow(db, 'message_chunks', { message_id, position, bytes });
}

/** Thrown when a message is deleted while it is being read. */
export class MessageDeletedError extends Error {}

const findChunk = prepared((db, parameter: PreparedParameter<{ id: string; position: number }>) =>
  db
    .selectFrom('message_chunks')
    .select('bytes')
    .where('message_id', '=', parameter('id'))
    .where('position', '=', parameter('position')),
);

/** The chunks in order, one query each. Throws MessageDeletedError if one is missing. */
export async function* readChunks(db: Db, { id, size }: Stored): AsyncGenerator<Uint8Array> {
  for (let position = 0; position === 0 || position * CHUNK_BYTES < size; position++) {
    const [row] = await findChunk(db, { id, position });
    if (!row) throw new MessageDeletedError('The message was deleted.');
    yield row.bytes;
    await nextTurn();
  }
}

/** For clients: each can have a piece waiting, and requests that wait for an earlier response have the first one. */
const FIRST_PIECE_BYTES = 64 * 1024;
const PIECE_BYTES = 128 * 1024;

/** The message for a client that may be slow, one query for each piece. Throws MessageDeletedError as `readChunks` does. */
export async function* readPieces(db: Db, { id, size }: Stored): AsyncGenerator<Uint8Array> {
  for (let start = 0; start === 0 || start < size; ) {
    const first = start % CHUNK_BYTES;
    const length = Math.min(start === 0 ? FIRST_PIECE_BYTES : PIECE_BYTES, CHUNK_BYTES - first);
    const row = await db
      .selectFrom('message_chunks')
      // SQL counts from 1.
      .select(sql<Uint8Array>`substr(bytes, ${first + 1}, ${length})`.as('piece'))
      .where('message_id', '=', id)
      .where('position', '=', Math.floor(start / CHUNK_BYTES))
      .executeTakeFirst();
    if (!row) throw new MessageDeletedError('The message was deleted.');
    yield row.piece;
    start += length;
  }
}

/** The whole message, byte for byte. Rejects with MessageDeletedError. */
export async function readMessage(db: Db, message: Stored): Promise<Uint8Array> {
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

// Deletes bytes whose row was deleted, and chunks that never got one.

/** Freeing the pages of a chunk takes a fraction of a millisecond. */
const CHUNKS_PER_STEP = 16;

/**
 * Deletes the first chunks. Returns the rows that have more, for `deleteLaterChunks` after the commit: in one
 * transaction, large messages would block the process.
 */
export async function deleteFirstChunks(tx: Tx, rows: Stored[]): Promise<Stored[]> {
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  await tx
    .deleteFrom('message_chunks')
    .where('message_id', 'in', ids)
    .where('position', '=', 0)
    .execute();
  return rows.filter(({ size }) => size > CHUNK_BYTES);
}

/** After a crash, `deleteOrphanedChunks` deletes what remains. */
export async function deleteLaterChunks(db: Db, messages: Stored[]): Promise<void> {
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
const ORPHAN_AGE_MS = HOUR_MS;

/**
 * Deletes chunks that were left without their message by a crash. Keeps recent ones: this or another node may be
 * storing their message.
 */
export async function deleteOrphanedChunks({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  await deleteOrphans(db, clock.now() - ORPHAN_AGE_MS);
}

/** At start, no other process uses an SQLite database, so all chunks without a message are orphans. */
export async function deleteChunksOfLastRun(app: { db: Db; clock: Clock }): Promise<void> {
  await (engineOf(app.db) === 'sqlite' ? deleteOrphans(app.db, null) : deleteOrphanedChunks(app));
}

/** What has chunks. */
const OWNERS = [
  { table: 'messages', prefix: 'msg' },
  { table: 'feedback_mails', prefix: 'fbm' },
] as const;

/** Deletes orphans with an ID from before `end`, in milliseconds; null: all. */
async function deleteOrphans(db: Db, end: number | null): Promise<void> {
  for (const { table, prefix } of OWNERS) await deleteOrphansOf(db, table, prefix, end);
}

/** Looks at some rows at a time. */
async function deleteOrphansOf(
  db: Db,
  table: (typeof OWNERS)[number]['table'],
  prefix: IdPrefix,
  end: number | null,
): Promise<void> {
  const last = end === null ? `${prefix}_~` : idAt(prefix, end);
  let after = `${prefix}_`;
  await inSteps(async (limit) => {
    const chunks = db
      .selectFrom('message_chunks')
      .select('message_id')
      .distinct()
      .where('message_id', '>', after)
      .where('message_id', '<', last)
      .orderBy('message_id')
      .limit(limit);
    const ids = (await chunks.execute()).map(({ message_id }) => message_id);
    if (ids.length === 0) return 0;
    after = ids.at(-1)!;
    const owners = await db.selectFrom(table).select('id').where('id', 'in', ids).execute();
    const existing = new Set(owners.map(({ id }) => id));
    for (const id of ids.filter((id) => !existing.has(id))) await deleteChunks(db, id);
    // What is behind the end of a message that was reduced or emptied before a crash.
    await db
      .deleteFrom('message_chunks')
      .where('message_id', 'in', ids)
      .where('position', '>', 0)
      .where(({ eb, selectFrom }) =>
        eb(
          sql<number>`position * ${sql.lit(CHUNK_BYTES)}`,
          '>=',
          selectFrom(table).select('size').whereRef('id', '=', 'message_chunks.message_id'),
        ),
      )
      .execute();
    return ids.length;
  });
}

/** Bodies of responses that are made while the client reads them, so that a slow client costs little memory. */

import { setTimeout as pause } from 'node:timers/promises';
import { createSemaphore } from '../lib/concurrency.ts';
import { type CsvColumn, toCsv } from '../lib/csv.ts';

/** Smaller parts are joined, up to about this size in bytes. Every client can have that much waiting. */
const MIN_PIECE_BYTES = 64 * 1024;
/** The downloads of many clients leave time for other requests: so many pieces are made at once, with pauses. */
const MAX_CONCURRENT_PIECES = 2;
const PAUSE_MS = 1;

const turns = createSemaphore(MAX_CONCURRENT_PIECES);
const NEVER = new AbortController().signal;

/**
 * A response body with the parts in order. It asks for parts only when the client has taken what it got, and joins small
 * ones. If a part fails, the response ends early, and the client sees that it is incomplete.
 */
export function streamed(parts: AsyncGenerator<string | Uint8Array>): ReadableStream<Uint8Array> {
  let hasEnded = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await turns.acquire(NEVER);
        try {
          const piece = hasEnded ? null : await nextPiece(parts);
          if (hasEnded) return;
          if (piece) controller.enqueue(piece);
          else controller.close();
          hasEnded = piece === null;
          await pause(PAUSE_MS);
        } finally {
          turns.release();
        }
      },
      async cancel() {
        hasEnded = true;
        await parts.return(undefined);
      },
    },
    // Nothing is made ahead of the client.
    { highWaterMark: 0 },
  );
}

/** A CSV file that browsers save. `name` has letters, digits, dots and hyphens only. */
export const csvFile = <Item>(
  name: string,
  columns: CsvColumn<Item>[],
  items: AsyncIterable<Item> | Iterable<Item>,
): Response =>
  new Response(streamed(toCsv(columns, items)), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
    },
  });

/** Joins parts until they have the size of a piece; null after the last one. */
async function nextPiece(parts: AsyncGenerator<string | Uint8Array>): Promise<Uint8Array | null> {
  const joined: Uint8Array[] = [];
  for (let size = 0; size < MIN_PIECE_BYTES; ) {
    const { value, done } = await parts.next();
    if (done) break;
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    joined.push(bytes);
    size += bytes.byteLength;
  }
  if (joined.length < 2) return joined[0] ?? null;
  return Buffer.concat(joined);
}

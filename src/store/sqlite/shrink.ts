/** Returns the space of deleted rows to the file system. New rows would use it too, so some remains. */

import { sql } from 'kysely';
import { inSteps } from '../steps.ts';
import type { Db } from '../types.ts';

export interface FreeSpace {
  /** Bytes of the file, without its log. */
  size: number;
  /** Bytes in it that no row uses. */
  free: number;
  pageSize: number;
  /** Whether `shrink` can return them. An older file can once it was backed up and restored. */
  canShrink: boolean;
}

/** The value of `auto_vacuum` of a file that can shrink. */
export const INCREMENTAL = 2;

export async function readFreeSpace(db: Db): Promise<FreeSpace> {
  const { rows } = await sql<{ page: number; pages: number; free: number; mode: number }>`
    select page_size as page, page_count as pages, freelist_count as free, auto_vacuum as mode
    from pragma_page_size(), pragma_page_count(), pragma_freelist_count(), pragma_auto_vacuum()`.execute(
    db,
  );
  const { page, pages, free, mode } = rows[0]!;
  return { size: page * pages, free: page * free, pageSize: page, canShrink: mode === INCREMENTAL };
}

/** Below this, or this part of the file, the next messages use the space soon. */
const MIN_FREE_BYTES = 16 * 1024 * 1024;
const MIN_FREE_PART = 0.2;
/** What shrinking leaves, so that files in use don't shrink and grow every hour. */
const KEPT_PART = 0.05;

const PAGE_STEPS = { first: 100, min: 50, max: 500 };

/** Shrinks the file in short steps if much of it is free. Returns the bytes that it shrank by. */
export async function shrink(
  db: Db,
  { minBytes = MIN_FREE_BYTES }: { minBytes?: number } = {},
): Promise<number> {
  const before = await readFreeSpace(db);
  const isWorthwhile = before.free >= minBytes && before.free >= before.size * MIN_FREE_PART;
  if (!before.canShrink || !isWorthwhile) return 0;
  const kept = (before.size - before.free) * KEPT_PART;
  let left = Math.floor((before.free - kept) / before.pageSize);
  await inSteps(async (limit) => {
    const pages = Math.min(limit, left);
    if (pages <= 0) return 0;
    left -= pages;
    await sql`pragma incremental_vacuum(${sql.raw(String(pages))})`.execute(db);
    return pages;
  }, PAGE_STEPS);
  return before.size - (await readFreeSpace(db)).size;
}

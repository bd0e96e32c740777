/** The space on the disk of the database, and what of it is kept for which messages. */

import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isPostgresUrl } from './database-url.ts';

/** In bytes; both are infinite unless the database is a file on this machine. */
export interface DiskSpace {
  free: number;
  /** The size of the file system. */
  total: number;
}

export const UNLIMITED: DiskSpace = {
  free: Number.POSITIVE_INFINITY,
  total: Number.POSITIVE_INFINITY,
};

/** With less free space than this, the service rejects all mail. Messages already accepted still fit. */
export const MIN_FREE_BYTES = 256 * 1024 * 1024;

const MAX_RESERVE_BYTES = 512 * 1024 * 1024;

/** Whether there is space for more than messages to tests, for which the last bytes are reserved. */
export const hasSpare = ({ free, total }: DiskSpace): boolean =>
  free >= MIN_FREE_BYTES + Math.min(MAX_RESERVE_BYTES, total / 8);

export async function readDisk(databaseUrl: string): Promise<DiskSpace> {
  if (databaseUrl === ':memory:' || isPostgresUrl(databaseUrl)) return UNLIMITED;
  const { bavail, blocks, bsize } = await statfs(dirname(databaseUrl));
  return { free: bavail * bsize, total: blocks * bsize };
}

const CACHE_MS = 1000;

/** Reads at most once per second. */
export function createDiskReader(read: () => Promise<DiskSpace>): () => Promise<DiskSpace> {
  let cached: Promise<DiskSpace> | null = null;
  const clear = () => {
    cached = null;
  };
  return () => {
    cached ??= read().finally(() => setTimeout(clear, CACHE_MS).unref());
    return cached;
  };
}

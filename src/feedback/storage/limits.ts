/** How much of the disk feedback may use. */

import type { Config } from '../../config/config.ts';
import type { DiskSpace } from '../../lib/disk.ts';

/** In bytes. */
export interface StorageLimit {
  total: number;
  /** The part of it for what comes from reporters that are neither known nor confirmed. */
  unverified: number;
}

export interface StorageLimits {
  /** For all domains together. */
  all: StorageLimit;
  /** For each domain. */
  domain: StorageLimit;
}

const UNVERIFIED_PART = 0.2;

const limitOf = (configured: number, disk: DiskSpace): StorageLimit => {
  const total = Math.floor(Math.min(configured, disk.total / 4));
  return { total, unverified: Math.floor(total * UNVERIFIED_PART) };
};

type Variables = Pick<Config, 'FEEDBACK_STORAGE' | 'FEEDBACK_STORAGE_PER_DOMAIN'>;

/** The configured sizes, and at most a quarter of the file system. */
export const storageLimits = (config: Variables, disk: DiskSpace): StorageLimits => ({
  all: limitOf(config.FEEDBACK_STORAGE, disk),
  domain: limitOf(config.FEEDBACK_STORAGE_PER_DOMAIN, disk),
});

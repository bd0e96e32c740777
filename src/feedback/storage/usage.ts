/** How full the shares of the disk are. Reads the whole only now and then, and adds what this node has changed since. */

import type { App } from '../../app.ts';
import type { Config } from '../../config/config.ts';
import type { DiskSpace } from '../../lib/disk.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { engineOf } from '../../store/open.ts';
import { addBytes, readStored, type StoredBytes } from './stored.ts';

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

const MIN_AGE_MS = 60_000;
/** On SQLite, only this process writes, so that only what it deletes is missing. */
const MIN_AGE_SQLITE_MS = 300_000;
/** The whole is read for at most 2% of the time. */
const AGE_PER_DURATION = 50;

interface Cache {
  base: StoredBytes;
  /** Changes since the last reading began, and those before them that a reading in progress will include. */
  recent: StoredBytes;
  earlier: StoredBytes;
  readAt: number | null;
  maxAgeMs: number;
  reading: Promise<void> | null;
}

const cacheOf = memoizePerObject(
  (_: App): Cache => ({
    base: new Map(),
    recent: new Map(),
    earlier: new Map(),
    readAt: null,
    maxAgeMs: 0,
    reading: null,
  }),
);

/** Adds what was just stored, or subtracts what was deleted. */
export const changeStored = (
  app: App,
  domainId: string | null,
  isKnown: boolean,
  bytes: number,
): void => addBytes(cacheOf(app).recent, domainId, isKnown, bytes);

/** The next question reads the whole again. */
export const forgetStored = (app: App): void => {
  cacheOf(app).readAt = null;
};

async function read(app: App, cache: Cache): Promise<void> {
  const startedAt = app.clock.now();
  [cache.earlier, cache.recent] = [cache.recent, new Map()];
  try {
    cache.base = await readStored(app.db);
    cache.earlier = new Map();
    cache.readAt = startedAt;
    const minAge = engineOf(app.db) === 'sqlite' ? MIN_AGE_SQLITE_MS : MIN_AGE_MS;
    cache.maxAgeMs = Math.max(minAge, AGE_PER_DURATION * (app.clock.now() - startedAt));
  } catch (error) {
    for (const [id, { known, unverified }] of cache.earlier) {
      addBytes(cache.recent, id, true, known);
      addBytes(cache.recent, id, false, unverified);
    }
    cache.earlier = new Map();
    throw error;
  } finally {
    cache.reading = null;
  }
}

export interface Fullness {
  used: { total: number; unverified: number };
  limit: StorageLimit;
}

export interface StorageUsage {
  limits: StorageLimits;
  all: Fullness;
  /** Of one domain. */
  ofDomain(id: string): Fullness;
  /** The IDs of domains with stored bytes. */
  domains: string[];
}

/** Waits for a reading only if there was none, or after `forgetStored`. Otherwise, an old one is replaced in the background. */
export async function storageUsage(app: App): Promise<StorageUsage> {
  const cache = cacheOf(app);
  const age = cache.readAt === null ? Number.POSITIVE_INFINITY : app.clock.now() - cache.readAt;
  if (age > cache.maxAgeMs || age < 0) {
    cache.reading ??= read(app, cache);
    if (cache.readAt === null) await cache.reading;
    else cache.reading.catch(() => {});
  }
  return usageOf(cache, storageLimits(app.config, await app.disk()));
}

/** The same without a service, read now. */
export const usageFrom = (stored: StoredBytes, limits: StorageLimits): StorageUsage =>
  usageOf({ base: stored, earlier: new Map(), recent: new Map() }, limits);

function usageOf(
  { base, earlier, recent }: Pick<Cache, 'base' | 'earlier' | 'recent'>,
  limits: StorageLimits,
): StorageUsage {
  const layers = [base, earlier, recent];
  const sumOf = (entries: Iterable<{ known: number; unverified: number }>) => {
    const used = { total: 0, unverified: 0 };
    for (const { known, unverified } of entries) {
      used.total += known + unverified;
      used.unverified += unverified;
    }
    // Changes that a reading already includes are counted twice for a moment.
    return { total: Math.max(0, used.total), unverified: Math.max(0, used.unverified) };
  };
  return {
    limits,
    all: { used: sumOf(layers.flatMap((layer) => [...layer.values()])), limit: limits.all },
    ofDomain: (id) => ({
      used: sumOf(layers.flatMap((layer) => layer.get(id) ?? [])),
      limit: limits.domain,
    }),
    domains: [...new Set(layers.flatMap((layer) => [...layer.keys()]))].filter((id) => id !== ''),
  };
}

/** How many bytes of reports that do not count fit into the share of a domain. */
export function freeBytesFor(usage: StorageUsage, domainId: string): number {
  const { used, limit } = usage.ofDomain(domainId);
  return Math.min(limit.total - used.total, limit.unverified - used.unverified);
}

/** The fuller of its two parts, from 0 to 1 and above. */
export const fullnessOf = ({ used, limit }: Fullness): number =>
  Math.max(used.total / limit.total, used.unverified / limit.unverified);

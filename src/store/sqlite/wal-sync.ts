/** Syncs the WAL to disk outside the event loop; concurrent writers share one sync. */

import { close, fdatasync, open } from 'node:fs';
import { promisify } from 'node:util';

const openFile = promisify(open);
const closeFile = promisify(close);

export interface WalSync {
  /**
   * Resolves when everything committed before the call is on disk. Never rejects, because a commit
   * cannot be undone and others may have read it. If the sync of the WAL fails, calls `rescue`, which
   * must bring all commits to disk in another way.
   */
  waitForSync(rescue: () => Promise<void>): Promise<void>;
  /** Waits for a running sync, then closes the WAL. */
  close(): Promise<void>;
}

/** For an in-memory database. */
export const NO_WAL_SYNC: WalSync = { async waitForSync() {}, async close() {} };

interface SyncOptions {
  syncFile(file: number): Promise<void>;
  /** Called if `rescue` fails too: from then on, no acknowledgment can be trusted. */
  fatal(error: unknown): void;
}

const DEFAULT_OPTIONS: SyncOptions = {
  syncFile: promisify(fdatasync),
  fatal(error) {
    // Uncaught on purpose: the process ends, and the next start recovers from the disk.
    setImmediate(() => {
      throw error;
    });
  },
};

/**
 * In WAL mode, a commit appends frames with checksums to the log. It is durable once the log is
 * synced, whoever does it. SQLite would sync within the commit (`synchronous = FULL`) and block everything
 * else. `path` is the database file.
 */
export function createWalSync(path: string, options: SyncOptions = DEFAULT_OPTIONS): WalSync {
  let file: number | null = null;
  let nextBatch: PromiseWithResolvers<void> | null = null;
  let runningSync: Promise<void> | null = null;
  const closeWal = async () => {
    const openedFile = file;
    file = null;
    if (openedFile !== null) await closeFile(openedFile);
  };
  const sync = async (rescue: () => Promise<void>) => {
    try {
      // The file exists from the first write on, and is not replaced until the database is closed.
      file ??= await openFile(`${path}-wal`, 'r+');
      await options.syncFile(file);
    } catch {
      // After a failure, the kernel may mark pages as clean that never reached the disk (fsync(2)), so a
      // retry could report success although data was lost.
      await closeWal().catch(() => {});
      await rescue();
    }
  };
  const syncAll = async (rescue: () => Promise<void>) => {
    while (nextBatch) {
      // Later callers may have committed after this sync started, so they wait for the next one.
      const batch = nextBatch;
      nextBatch = null;
      try {
        await sync(rescue);
      } catch (error) {
        options.fatal(error);
        return;
      }
      batch.resolve();
    }
    runningSync = null;
  };
  return {
    waitForSync(rescue) {
      nextBatch ??= Promise.withResolvers();
      const { promise } = nextBatch;
      runningSync ??= syncAll(rescue);
      return promise;
    },
    async close() {
      await runningSync;
      await closeWal();
    },
  };
}

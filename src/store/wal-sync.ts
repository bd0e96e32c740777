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
  /** Called if `rescue` fails too: no response could be trusted from now on. */
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
 * synced, no matter by whom. SQLite would sync within the commit (`synchronous = FULL`) and block
 * everything else. `path` is the database file.
 */
export function createWalSync(path: string, options: SyncOptions = DEFAULT_OPTIONS): WalSync {
  let file: number | null = null;
  let waiting: PromiseWithResolvers<void> | null = null;
  let running: Promise<void> | null = null;
  const release = async () => {
    const openedFile = file;
    file = null;
    if (openedFile !== null) await closeFile(openedFile);
  };
  const sync = async (rescue: () => Promise<void>) => {
    try {
      // Exists from the first write on, and stays the same file until the database is closed.
      file ??= await openFile(`${path}-wal`, 'r+');
      await options.syncFile(file);
    } catch {
      // After a failure, the system may mark pages as clean that never reached the disk (fsync(2)), so
      // a retry would succeed wrongly.
      await release().catch(() => {});
      await rescue();
    }
  };
  const syncAll = async (rescue: () => Promise<void>) => {
    while (waiting) {
      // Later callers may have committed after this sync started, so they wait for the next one.
      const batch = waiting;
      waiting = null;
      try {
        await sync(rescue);
      } catch (error) {
        options.fatal(error);
        return;
      }
      batch.resolve();
    }
    running = null;
  };
  return {
    waitForSync(rescue) {
      waiting ??= Promise.withResolvers();
      const { promise } = waiting;
      running ??= syncAll(rescue);
      return promise;
    },
    async close() {
      await running;
      await release();
    },
  };
}

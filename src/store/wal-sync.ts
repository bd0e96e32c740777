/** What was committed, brought to the disk beside the event loop: many that wait share one write. */

import { close, fdatasync, open } from 'node:fs';
import { promisify } from 'node:util';

const openFile = promisify(open);
const closeFile = promisify(close);

export interface WalSync {
  /**
   * Resolves when all that was committed before the call is on the disk. Never rejects: what is
   * committed stands, and others have seen it. `rescue` is called where the log cannot be brought
   * there: it has to put all that is committed on the disk in another way.
   */
  synced(rescue: () => Promise<void>): Promise<void>;
  /** After what is under way. */
  close(): Promise<void>;
}

/** For a database without a file. */
export const NOTHING_TO_SYNC: WalSync = { async synced() {}, async close() {} };

interface Means {
  syncFile(file: number): Promise<void>;
  /** Nothing that is answered from now on could be trusted. */
  fatal(error: unknown): void;
}

const MEANS: Means = {
  syncFile: promisify(fdatasync),
  fatal(error) {
    // Nobody catches it: the process ends, and the next start recovers what the disk has.
    setImmediate(() => {
      throw error;
    });
  },
};

/**
 * In WAL mode a commit is one or more frames at the end of the log, valid by their checksums: it is
 * durable once the log is, whoever asks the system for that. SQLite itself would ask within the
 * commit (`synchronous = FULL`), and nothing else could run meanwhile. `path` is the database.
 */
export function createWalSync(path: string, means: Means = MEANS): WalSync {
  let file: number | null = null;
  let waiting: PromiseWithResolvers<void> | null = null;
  let running: Promise<void> | null = null;
  const release = async () => {
    const former = file;
    file = null;
    if (former !== null) await closeFile(former);
  };
  const sync = async (rescue: () => Promise<void>) => {
    try {
      // There from the first write on, and the same until the database is closed.
      file ??= await openFile(`${path}-wal`, 'r+');
      await means.syncFile(file);
    } catch {
      // After a failure the system may call pages clean that never came to the disk (fsync(2)): to
      // ask again would be told that all is well.
      await release().catch(() => {});
      await rescue();
    }
  };
  const syncAll = async (rescue: () => Promise<void>) => {
    while (waiting) {
      // Who comes from now on may have committed after this has begun, and waits for the next.
      const now = waiting;
      waiting = null;
      try {
        await sync(rescue);
      } catch (error) {
        means.fatal(error);
        return;
      }
      now.resolve();
    }
    running = null;
  };
  return {
    synced(rescue) {
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

/** Backups of an SQLite database: a consistent copy of a database in use, and the check that a file is one. */

import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite, { type Database as Sqlite } from 'better-sqlite3';
import { randomToken } from '../../lib/crypto.ts';
import { errorMessage } from '../../lib/errors.ts';
import { StoreError } from '../errors.ts';
import { SCHEMA_VERSION } from '../migrations/index.ts';
import { INCREMENTAL } from './shrink.ts';

/** The service facts of a copy. */
export interface CopiedFacts {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  delete(name: string): void;
}

export interface BackupFile {
  bytes: number;
  /** The version of its schema. */
  version: number;
}

/**
 * Writes a copy of the database at `path` to the new file `target`, which only its owner can read, while a service
 * may use the database. `change` may change the copy. The file appears only when it
 * is complete, checked and on the disk. Throws a StoreError if that is impossible.
 */
export function backUp(
  path: string,
  target: string,
  change: (facts: CopiedFacts) => void,
): BackupFile {
  if (!existsSync(path)) throw new StoreError(`There is no database at ${path}.`);
  if (existsSync(target)) throw new StoreError(`${target} exists already. Choose another name.`);
  return creating(target, (part) => {
    const sqlite = new BetterSqlite(path, { fileMustExist: true });
    try {
      requireOwn(sqlite, path);
      // SQLite's own backup starts again whenever another process writes. This reads one snapshot.
      sqlite.prepare('VACUUM INTO ?').run(part);
    } finally {
      sqlite.close();
    }
    return changeAndCheck(part, target, change);
  });
}

/**
 * Replaces the database at `path` with the backup `source`; `change` may change it first. The present files
 * are kept under the returned name, or null if there are none. The caller holds the lock of the database. Throws a StoreError if
 * the backup is damaged, of another program or of a newer version, and changes nothing.
 */
export function restoreBackup(
  source: string,
  path: string,
  change: (facts: CopiedFacts) => void,
): BackupFile & { previous: string | null } {
  if (!existsSync(source)) throw new StoreError(`There is no file ${source}.`);
  const part = `${path}.${randomToken(8)}.part`;
  try {
    createPrivateFile(part);
    const sqlite = new BetterSqlite(source, { readonly: true });
    try {
      requireOwn(sqlite, source);
      // The copy gets new indexes, so it would not show damage in those of the backup.
      requireIntact(sqlite, source);
      sqlite.prepare('VACUUM INTO ?').run(part);
    } finally {
      sqlite.close();
    }
    const file = changeAndCheck(part, source, change);
    const previous = setAside(path);
    renameSync(part, path);
    syncPath(dirname(path));
    return { ...file, previous };
  } catch (error) {
    rmSync(part, { force: true });
    throw asStoreError(error, source);
  }
}

/** Renames the file and SQLite's files beside it. */
export function setAside(path: string): string | null {
  const previous = `${path}.before-restore-${randomToken(6)}`;
  let found = false;
  for (const suffix of ['-wal', '-shm', '']) {
    if (!existsSync(path + suffix)) continue;
    renameSync(path + suffix, previous + suffix);
    found = true;
  }
  return found ? previous : null;
}

function creating(target: string, write: (part: string) => BackupFile): BackupFile {
  const part = `${target}.${randomToken(8)}.part`;
  try {
    createPrivateFile(part);
    const file = write(part);
    // Unlike a rename, a link never replaces a file.
    linkSync(part, target);
    syncPath(dirname(target));
    return file;
  } catch (error) {
    throw asStoreError(error, target);
  } finally {
    rmSync(part, { force: true });
  }
}

const createPrivateFile = (path: string): void => closeSync(openSync(path, 'wx', 0o600));

function changeAndCheck(
  part: string,
  name: string,
  change: (facts: CopiedFacts) => void,
): BackupFile {
  const copy = new BetterSqlite(part);
  try {
    change(factsIn(copy));
    allowShrinking(copy);
    requireIntact(copy, name);
    const version = copy.pragma('user_version', { simple: true }) as number;
    copy.close();
    syncPath(part);
    return { bytes: statSync(part).size, version };
  } finally {
    copy.close();
  }
}

/** Files of older versions can't shrink, unless they are rewritten. */
function allowShrinking(copy: Sqlite): void {
  if (copy.pragma('auto_vacuum', { simple: true }) === INCREMENTAL) return;
  copy.pragma('auto_vacuum = INCREMENTAL');
  copy.exec('VACUUM');
}

const factsIn = (copy: Sqlite): CopiedFacts => ({
  get: (name) =>
    copy.prepare('SELECT value FROM service_facts WHERE name = ?').pluck().get(name) as
      | string
      | undefined,
  set: (name, value) =>
    void copy.prepare('INSERT OR REPLACE INTO service_facts VALUES (?, ?)').run(name, value),
  delete: (name) => void copy.prepare('DELETE FROM service_facts WHERE name = ?').run(name),
});

function requireIntact(sqlite: Sqlite, path: string): void {
  const found = sqlite.pragma('integrity_check(1)', { simple: true });
  if (found !== 'ok') throw new StoreError(`${path} is damaged: ${found}.`);
}

/** Refuses databases of other programs and of newer versions. */
function requireOwn(sqlite: Sqlite, path: string): void {
  const version = sqlite.pragma('user_version', { simple: true }) as number;
  const isOwn =
    version > 0 &&
    sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'service_facts'").get() !== undefined;
  if (!isOwn) throw new StoreError(`${path} is not a database of this program.`);
  if (version > SCHEMA_VERSION)
    throw new StoreError(
      `${path} has schema version ${version}, but this program supports only versions up to ${SCHEMA_VERSION}. Use the newer program.`,
    );
}

function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function asStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const { code } = error as { code?: string };
  if (code === 'SQLITE_NOTADB') return new StoreError(`${path} is not an SQLite database.`);
  if (code === 'SQLITE_CORRUPT')
    return new StoreError(`${path} is damaged: ${errorMessage(error)}.`);
  if (code === 'SQLITE_FULL' || code === 'ENOSPC')
    return new StoreError(`There is not enough space on the disk for a copy of the database.`);
  return new StoreError(`Could not copy the database: ${errorMessage(error)}.`);
}

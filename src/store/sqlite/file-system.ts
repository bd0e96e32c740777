/** Refuses file systems on which SQLite can lose data: those of other machines. */

import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../errors.ts';

/** By the type that statfs(2) reports on Linux. Other systems use other, small numbers. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x5346414f, 'AFS'],
]);

/** The kind of the network file system with this type; undefined for local ones. A negative 32-bit number on some platforms. */
export const networkFileSystem = (type: number): string | undefined =>
  NETWORK_FILE_SYSTEMS.get(type >>> 0);

/**
 * Throws a StoreError if the folder is on a network file system. There, the log of SQLite cannot be shared
 * (sqlite.org/wal.html), locks of different machines do not exclude each other, and a sync may not reach the disk.
 */
export function requireLocalFileSystem(folder: string, statfs = statfsSync): void {
  // The first start creates the folder.
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const name = networkFileSystem(statfs(existing).type);
  if (name !== undefined)
    throw new StoreError(
      `${folder} is on a network file system (${name}), where SQLite can lose data. Set DELIVERABILITY_DATA_DIR to a local disk, or use PostgreSQL.`,
    );
}

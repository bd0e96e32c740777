/** Creates folders that other users of the machine cannot read. */

import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates the folder and those above it that are missing. Throws the system error: `ENOTDIR` if the path or
 * a part of it is a file, `EEXIST` if it is a broken link.
 */
export function createFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })) {
    // Throws if it is not a folder.
    statSync(`${folder}/.`);
    return;
  }
  // One level at a time, because Node's `recursive` option never returns for some paths below /proc.
  createFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

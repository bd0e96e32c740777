/** Creates folders that other users of the machine cannot read, and says why a folder cannot be used. */

import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
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

/** Like `createFolder`. Throws `EACCES` or `EROFS` too if this user cannot create files in an existing folder. */
export function createWritableFolder(folder: string): void {
  createFolder(folder);
  accessSync(folder, constants.W_OK | constants.X_OK);
}

/** What is wrong with a folder and how to change that, in sentences. `error`: from `createWritableFolder`. */
export function folderProblem(folder: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') {
    const user = currentUser();
    return `The user ${user} cannot write to the data directory ${folder}. Make this user its owner (chown -R ${user} ${folder}), or choose another directory.`;
  }
  if (code === 'EROFS') return `The file system of the data directory ${folder} is read-only.`;
  if (code === 'ENOTDIR') return `A part of the path ${folder} is a file.`;
  if (code === 'EEXIST') return `A part of the path ${folder} is a broken link.`;
  return `The data directory ${folder} cannot be used: ${message}.`;
}

/** The name, or the number of a user without one, as in some containers. */
function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(statSync('/proc/self', { throwIfNoEntry: false })?.uid ?? 'of this process');
  }
}

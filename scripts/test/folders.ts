/** Folders of a test run below `dist`, where modules find the packages of the project. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A new folder whose name begins so. It is deleted when this process exits. */
export function folderInDist(prefix: string): string {
  mkdirSync('dist', { recursive: true });
  const folder = resolve(mkdtempSync(join('dist', prefix)));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

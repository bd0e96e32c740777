/** A folder in memory, for files that tests need not keep. */

import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
const MIN_BYTES = 4 * 1024 ** 3;

/** The folder for temporary files if there is too little memory, as in containers, which often have 64 MB. */
export function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MIN_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Writes the file with the checksums of a release, as `sha256sum --check` reads it. */

import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const CHECKSUM_FILE = 'SHA256SUMS';

/** Returns the paths of all files in `folder`, in the order of the lines. */
export function writeChecksums(folder: string): string[] {
  const files = globSync('**/*', { cwd: folder })
    .filter((path) => path !== CHECKSUM_FILE && statSync(join(folder, path)).isFile())
    .sort();
  const lines = files.map((path) => {
    const hash = createHash('sha256').update(readFileSync(join(folder, path)));
    return `${hash.digest('hex')}  ${path}\n`;
  });
  writeFileSync(join(folder, CHECKSUM_FILE), lines.join(''));
  return files;
}

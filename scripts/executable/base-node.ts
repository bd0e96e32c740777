/** The Node that the executable carries: the pinned one, without its symbols, where pkg looks for it. */

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lays out `<home>/.pkg-cache/sea` as if pkg had downloaded Node there: pkg downloads nothing then.
 * The executable so holds the very Node that runs this script and the tests.
 */
export function placeBaseNode(home: string): void {
  const cache = join(home, '.pkg-cache', 'sea');
  const name = `node-${process.version}-${process.platform}-${process.arch}`;
  const bin = join(cache, name, 'bin');
  mkdirSync(bin, { recursive: true });
  const node = join(bin, 'node');
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  strip(node);
  const archive = join(cache, `${name}.tar.gz`);
  // Read once and thrown away: speed matters, size does not.
  execFileSync('tar', ['-C', cache, '-I', 'gzip -1', '-cf', archive, name]);
  rmSync(join(cache, name), { recursive: true });
  writeFileSync(`${archive}.ok`, '');
}

/** Debug symbols are a fifth of Node, and nobody debugs Node itself in the field. */
function strip(file: string): void {
  try {
    execFileSync('strip', [file], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'it is not installed' : error;
    console.warn(`strip (binutils) did not run: ${why}. The executable gets about 20 MB larger.`);
  }
}

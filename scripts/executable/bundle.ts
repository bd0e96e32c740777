/** The code of the program in two CommonJS files, as the executable runs it. */

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { RENDER_BUNDLE } from '../../src/report/worker-file.ts';

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/**
 * Writes the bundle to `file`, and beside it that of the threads that make reports. Names stay, for
 * the stack traces that people send; white space goes, which is more than a megabyte that the
 * executable has no room for, but lines stay short enough to tell a place.
 */
export async function bundle(file: string): Promise<void> {
  await bundleOne('entry.ts', file);
  await bundleOne('../../src/report/worker.ts', join(dirname(file), RENDER_BUNDLE));
}

async function bundleOne(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [here(entry)],
    outfile,
    bundle: true,
    minifyWhitespace: true,
    lineLimit: 200,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'cjs',
    // Native: it stays a package of its own inside the executable.
    external: ['better-sqlite3'],
    alias: { 'brotli/decompress.js': here('brotli.ts') },
    // CommonJS knows no import.meta; threads start from this URL, and fonts are found from it.
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  });
}

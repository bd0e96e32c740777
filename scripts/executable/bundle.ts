/** Bundles the program into two CommonJS files, as the executable runs it. */

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { RENDER_BUNDLE } from '../../src/report/worker-file.ts';

const resolvePath = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/**
 * Writes the bundle to `file`, and the bundle of the report threads beside it. Names are kept, so that
 * stack traces in bug reports are useful. White space is removed, which saves more than a megabyte.
 * Lines stay short enough to locate an error.
 */
export async function bundle(file: string): Promise<void> {
  await bundleOne('entry.ts', file);
  await bundleOne('../../src/report/worker.ts', join(dirname(file), RENDER_BUNDLE));
}

async function bundleOne(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [resolvePath(entry)],
    outfile,
    bundle: true,
    minifyWhitespace: true,
    lineLimit: 200,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'cjs',
    // A native addon: it remains a package inside the executable.
    external: ['better-sqlite3'],
    alias: { 'brotli/decompress.js': resolvePath('brotli.ts') },
    // CommonJS has no import.meta. Threads and fonts are located relative to this URL.
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  });
}

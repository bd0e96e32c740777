/** All code of the program in one CommonJS file, as the executable runs it. */

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ENTRY = fileURLToPath(new URL('entry.ts', import.meta.url));

/**
 * Writes the bundle to `file`. Not minified: that would save 1% of the executable and cost the
 * names and lines in the stack traces that people send.
 */
export async function bundle(file: string): Promise<void> {
  await build({
    entryPoints: [ENTRY],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'cjs',
    // Native: it stays a package of its own inside the executable.
    external: ['better-sqlite3'],
    // CommonJS knows no import.meta; analysis threads start from this URL.
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  });
}

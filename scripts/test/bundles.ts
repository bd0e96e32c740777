/** Bundles of what the program's threads run, for the test processes. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/** The threads of the program, and those of tests that go wrong on purpose. */
const THREADS = [
  'src/analysis/worker.ts',
  'src/report/worker.ts',
  'test/analysis/bad-worker.ts',
  'test/report/bad-worker.ts',
];

/** The absolute path of each bundle by that of its source. They are removed when this process ends. */
export async function bundleThreads(): Promise<Record<string, string>> {
  // Packages that are not bundled are looked for upwards from here.
  mkdirSync('dist', { recursive: true });
  const folder = resolve(mkdtempSync(join('dist', 'threads-')));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const bundles = THREADS.map((source, i) => [resolve(source), join(folder, `${i}.cjs`)] as const);
  await Promise.all(bundles.map(([source, outfile]) => bundle(source, outfile)));
  return Object.fromEntries(bundles);
}

async function bundle(source: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    keepNames: true,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'cjs',
    external: ['better-sqlite3'],
    // As in the executable.
    alias: { 'brotli/decompress.js': resolve('scripts/executable/brotli.ts') },
    // CommonJS knows no import.meta; fonts are found from this URL.
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  });
}

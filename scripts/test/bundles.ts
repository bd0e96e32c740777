/** Bundles the program, and the code of its threads, once for all test processes. */

import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { bundle, MAIN_BUNDLE } from '../executable/bundle.ts';
import { folderInDist } from './folders.ts';
import { filesThatImport } from './imports.ts';

/** The threads of the program, and deliberately faulty ones for tests. */
const THREADS = [
  'src/analysis/worker.ts',
  'src/feedback/thread/worker.ts',
  'src/report/worker.ts',
  'test/analysis/bad-worker.ts',
  'test/report/bad-worker.ts',
];

/** The absolute path of each bundle by the path of its source. Bundles are deleted when this process exits. */
export async function bundleTestThreads(): Promise<Record<string, string>> {
  const folder = folderInDist('threads-');
  await bundleThreads(folder, Object.fromEntries(THREADS.entries()));
  return Object.fromEntries(
    THREADS.map((source, i) => [resolve(source), join(folder, `${i}.cjs`)]),
  );
}

/** The file that runs the program, if one of the test files does. It is deleted when this process exits. */
export async function bundleProgram(files: string[]): Promise<string | null> {
  if (filesThatImport(['test/helpers/program.ts'], files).length === 0) return null;
  const folder = folderInDist('program-');
  await bundle(folder);
  return join(folder, MAIN_BUNDLE);
}

/** Bundles the code of threads as CommonJS into a folder: the name of each file without `.cjs`, and its source. */
export async function bundleThreads(
  folder: string,
  threads: Record<string, string>,
): Promise<void> {
  // One build, because threads share most modules.
  await build({
    entryPoints: Object.entries(threads).map(([name, source]) => ({ in: source, out: name })),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    keepNames: true,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'cjs',
    external: ['better-sqlite3'],
    // As in the executable.
    alias: { 'brotli/decompress.js': resolve('scripts/executable/brotli.ts') },
    // CommonJS has no import.meta; fonts are located relative to this URL.
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  });
}

/** Bundles the program into four CommonJS files, as the executable runs it. */

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { ANALYSIS_BUNDLE } from '../../src/analysis/worker-file.ts';
import { FEEDBACK_BUNDLE } from '../../src/feedback/thread/worker-file.ts';
import { RENDER_BUNDLE } from '../../src/report/worker-file.ts';

const resolvePath = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/**
 * Writes the bundle to `file`, and the bundles of the threads beside it. Names are kept, so that
 * stack traces in bug reports are useful. White space is removed, which saves more than a megabyte.
 * Lines stay short enough to locate an error. Returns the paths of all files in the bundles, below the folder of
 * the project.
 */
export async function bundle(file: string): Promise<string[]> {
  const beside = (name: string) => join(dirname(file), name);
  const inputs = [
    await bundleOne('entry.ts', file, MAIN_ALIASES),
    await bundleOne('../../src/analysis/worker.ts', beside(ANALYSIS_BUNDLE)),
    await bundleOne('../../src/report/worker.ts', beside(RENDER_BUNDLE)),
    await bundleOne('../../src/feedback/thread/worker.ts', beside(FEEDBACK_BUNDLE)),
  ];
  return [...new Set(inputs.flat())];
}

/** The main thread needs the whole packages, for the names of mailboxes. */
const THREAD_ALIASES = {
  'iconv-lite': resolvePath('charsets.ts'),
  'encoding-japanese': resolvePath('charsets.ts'),
};

/** imapflow imports the other format of the same code. */
const MAIN_ALIASES = { libmime: createRequire(import.meta.url).resolve('libmime') };

async function bundleOne(
  entry: string,
  outfile: string,
  aliases: { [name: string]: string } = THREAD_ALIASES,
): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [resolvePath(entry)],
    outfile,
    // Names of modules in the bundle are relative to this folder, wherever the build was started.
    absWorkingDir: resolvePath('../../'),
    bundle: true,
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'cjs',
    // A native addon: it remains a package inside the executable.
    external: ['better-sqlite3'],
    alias: {
      'brotli/decompress.js': resolvePath('brotli.ts'),
      pino: resolvePath('pino.ts'),
      ...aliases,
    },
    // CommonJS has no import.meta. Threads and fonts are located relative to this URL.
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    metafile: true,
    logLevel: 'warning',
  });
  writeFileSync(outfile, escapeNonAscii(readFileSync(outfile, 'utf8')));
  return Object.keys(metafile.inputs);
}

/**
 * V8 needs two bytes for each character of a source that is not Latin-1, in each thread. esbuild escapes strings;
 * regular expressions remain, where an escape means the same.
 */
const escapeNonAscii = (source: string): string =>
  source.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

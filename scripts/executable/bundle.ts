/** Bundles the program into CommonJS files, as the executable runs it. */

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { type BuildOptions, build, transform } from 'esbuild';
import { ANALYSIS_BUNDLE } from '../../src/analysis/worker-file.ts';
import { FEEDBACK_BUNDLE } from '../../src/feedback/thread/worker-file.ts';
import { collectDocuments, DOCUMENTS_FILE } from '../../src/help/documents.ts';
import { RENDER_BUNDLE } from '../../src/report/worker-file.ts';

const resolvePath = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** The file that starts the program. */
export const MAIN_BUNDLE = 'deliverability.cjs';

/** The sources of the program and of its threads. */
const ENTRIES = {
  [MAIN_BUNDLE]: 'entry.ts',
  [ANALYSIS_BUNDLE]: '../../src/analysis/worker.ts',
  [RENDER_BUNDLE]: '../../src/report/worker.ts',
  [FEEDBACK_BUNDLE]: '../../src/feedback/thread/worker.ts',
};

/**
 * Names are kept, so that stack traces in bug reports are useful. White space is removed, which saves more than a
 * megabyte. Lines stay short enough to locate an error.
 */
const OUTPUT = {
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  platform: 'node',
  target: `node${process.versions.node}`,
} satisfies BuildOptions;

const ALIASES = {
  'brotli/decompress.js': resolvePath('brotli.ts'),
  'encoding-japanese': resolvePath('charsets.ts'),
  'iconv-lite': resolvePath('charsets.ts'),
  joi: resolvePath('joi.ts'),
  pino: resolvePath('pino.ts'),
  // imapflow imports the other format of the same code.
  libmime: createRequire(import.meta.url).resolve('libmime'),
};

export interface Bundle {
  /** The names of the files in the folder. */
  outputs: string[];
  /** The paths of all files in the bundle, below the folder of the project. */
  inputs: string[];
}

/**
 * Writes MAIN_BUNDLE, the bundles of the threads, the code that several of them share, and the documents to a folder. Shared code saves
 * almost 3 MB; each thread still loads only what it needs.
 */
export async function bundle(folder: string): Promise<Bundle> {
  const { metafile } = await build({
    ...OUTPUT,
    entryPoints: Object.entries(ENTRIES).map(([name, source]) => ({
      in: resolvePath(source),
      out: basename(name, '.cjs'),
    })),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    // Names of modules in the bundle are relative to this folder, wherever the build was started.
    absWorkingDir: resolvePath('../../'),
    bundle: true,
    // esbuild can share code in this format only.
    format: 'esm',
    splitting: true,
    chunkNames: 'shared-[hash]',
    // A native addon: it remains a package inside the executable.
    external: ['better-sqlite3'],
    alias: ALIASES,
    // CommonJS has no import.meta. Threads and fonts are located relative to this URL.
    define: { 'import.meta.url': 'bundleUrl' },
    metafile: true,
    logLevel: 'warning',
  });
  const scripts = Object.keys(metafile.outputs).map((path) => basename(path));
  for (const name of scripts) await convertToCommonJs(join(folder, name));
  const documents = JSON.stringify(collectDocuments(resolvePath('../../')));
  writeFileSync(join(folder, DOCUMENTS_FILE), brotliCompressSync(documents));
  const outputs = [...scripts, DOCUMENTS_FILE];
  return { outputs, inputs: Object.keys(metafile.inputs) };
}

/** Loading files of the executable works with `require` only. */
async function convertToCommonJs(file: string): Promise<void> {
  const { code } = await transform(readFileSync(file, 'utf8'), {
    ...OUTPUT,
    format: 'cjs',
    supported: { 'dynamic-import': false },
    banner: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;",
  });
  writeFileSync(file, escapeNonAscii(code));
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

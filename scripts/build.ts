/** Builds dist/deliverability: one executable with Node, the program and SQLite in it; downloads nothing. */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import manifest from '../package.json' with { type: 'json' };
import { RENDER_BUNDLE } from '../src/report/worker-file.ts';
import { bundle } from './executable/bundle.ts';

const { resolve } = createRequire(import.meta.url);
const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const executable = join(dist, 'deliverability');

const ADDON_PACKAGE = 'better-sqlite3';
/** As better-sqlite3 names the files that it ships; musl is left out, as Node's own build is. */
const PREBUILD = join('prebuilds', `${process.platform}-${process.arch}.node`);

const FONT_PACKAGE = 'dejavu-fonts-ttf';
/** The fonts that src/report/pdf uses. */
const FONTS = ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSansMono'];

if (process.versions.node !== manifest.devDependencies.node)
  throw new Error(
    `this is Node ${process.versions.node}, not ${manifest.devDependencies.node}: use npm run build`,
  );

const started = performance.now();
mkdirSync(dist, { recursive: true });
const staging = mkdtempSync(join(dist, 'staging-'));
try {
  const packed = join(staging, 'deliverability');
  mkdirSync(packed);
  await bundle(join(packed, 'deliverability.cjs'));
  stage(packed);
  placeBaseNode(staging);
  pack(packed, join(staging, 'made'));
  // Only a finished executable takes the name; a running one keeps the old file.
  renameSync(join(staging, 'made'), executable);
} finally {
  rmSync(staging, { recursive: true, force: true });
}
const megabytes = (statSync(executable).size / 1e6).toFixed(1);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`dist/deliverability: ${megabytes} MB, made in ${seconds} s`);

/**
 * Writes package.json and node_modules beside `deliverability.cjs` in `folder`. pkg walks everything
 * that the real package.json depends on; this one names only what the bundle left out.
 */
function stage(folder: string): void {
  copyParts(folder, ADDON_PACKAGE, ['package.json', 'LICENSE', 'lib', PREBUILD]);
  const fonts = copyParts(folder, FONT_PACKAGE, ['package.json', 'LICENSE']);
  mkdirSync(join(fonts.staged, 'ttf'), { recursive: true });
  for (const font of FONTS) {
    const file = join('ttf', `${font}.ttf`);
    // Compressed: read rarely, and a megabyte less.
    const bytes = brotliCompressSync(readFileSync(join(fonts.installed, file)));
    writeFileSync(join(fonts.staged, `${file}.br`), bytes);
  }
  const packages = [ADDON_PACKAGE, FONT_PACKAGE].map((name) => `node_modules/${name}/**/*`);
  const assets = [RENDER_BUNDLE, ...packages];
  const staged = { name: 'deliverability', bin: 'deliverability.cjs', pkg: { assets } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(staged));
}

/** Where the package is installed, and where its parts are staged now. */
function copyParts(folder: string, name: string, parts: string[]) {
  const installed = dirname(resolve(`${name}/package.json`));
  const staged = join(folder, 'node_modules', name);
  for (const part of parts) cpSync(join(installed, part), join(staged, part), { recursive: true });
  return { installed, staged };
}

/**
 * Lays out `<home>/.pkg-cache/sea` as if pkg had downloaded Node there, so that it downloads nothing
 * and the executable holds the very Node that runs this script and the tests.
 */
function placeBaseNode(home: string): void {
  const cache = join(home, '.pkg-cache', 'sea');
  const name = `node-${process.version}-${process.platform}-${process.arch}`;
  const bin = join(cache, name, 'bin');
  mkdirSync(bin, { recursive: true });
  const node = join(bin, 'node');
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  strip(node);
  const archive = join(cache, `${name}.tar.gz`);
  // Read once and deleted: speed matters, size does not.
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

/** Runs pkg; it looks for its base Node in the home folder, so it gets a home of its own. */
function pack(folder: string, output: string): void {
  const pkg = resolve('@yao-pkg/pkg/lib-es5/bin.js');
  const platform = process.platform === 'darwin' ? 'macos' : process.platform;
  const target = `node${process.versions.node}-${platform}-${process.arch}`;
  const args = [pkg, folder, '--sea', '--targets', target, '--output', output];
  const env = { ...process.env, HOME: staging };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  // Its output is of interest only if it failed.
  if (status !== 0) throw new Error(`pkg ended with ${status}:\n${stdout}${stderr}`);
}

/** Builds dist/deliverability: one executable with Node, the program and SQLite. Downloads nothing. */

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
/** The name of better-sqlite3's prebuilt addon; musl is not supported, as in Node's own builds. */
const PREBUILD = join('prebuilds', `${process.platform}-${process.arch}.node`);

const FONT_PACKAGE = 'dejavu-fonts-ttf';
/** The fonts that src/report/pdf uses. */
const FONTS = ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSansMono'];

if (process.versions.node !== manifest.devDependencies.node)
  throw new Error(
    `Wrong Node version ${process.versions.node}: run npm run build, which uses ${manifest.devDependencies.node}`,
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
  pack(packed, join(staging, 'output'));
  // Replaced only when complete; a running process keeps the old file.
  renameSync(join(staging, 'output'), executable);
} finally {
  rmSync(staging, { recursive: true, force: true });
}
const megabytes = (statSync(executable).size / 1e6).toFixed(1);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`dist/deliverability: ${megabytes} MB, built in ${seconds} s`);

/**
 * Writes package.json and node_modules beside `deliverability.cjs` in `folder`. pkg includes every
 * dependency of a package.json, so this one names only packages that are not in the bundle.
 */
function stage(folder: string): void {
  copyParts(folder, ADDON_PACKAGE, ['package.json', 'LICENSE', 'lib', PREBUILD]);
  const fonts = copyParts(folder, FONT_PACKAGE, ['package.json', 'LICENSE']);
  mkdirSync(join(fonts.staged, 'ttf'), { recursive: true });
  for (const font of FONTS) {
    const file = join('ttf', `${font}.ttf`);
    // Rarely read, and compression saves a megabyte.
    const bytes = brotliCompressSync(readFileSync(join(fonts.installed, file)));
    writeFileSync(join(fonts.staged, `${file}.br`), bytes);
  }
  const packages = [ADDON_PACKAGE, FONT_PACKAGE].map((name) => `node_modules/${name}/**/*`);
  const assets = [RENDER_BUNDLE, ...packages];
  const staged = { name: 'deliverability', bin: 'deliverability.cjs', pkg: { assets } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(staged));
}

/** Copies parts of an installed package; returns both locations. */
function copyParts(folder: string, name: string, parts: string[]) {
  const installed = dirname(resolve(`${name}/package.json`));
  const staged = join(folder, 'node_modules', name);
  for (const part of parts) cpSync(join(installed, part), join(staged, part), { recursive: true });
  return { installed, staged };
}

/**
 * Fills `<home>/.pkg-cache/sea` as if pkg had downloaded Node. pkg then downloads nothing, and the
 * executable contains the same Node that runs this script and the tests.
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
  // The archive is read once and deleted: speed matters, size does not.
  execFileSync('tar', ['-C', cache, '-I', 'gzip -1', '-cf', archive, name]);
  rmSync(join(cache, name), { recursive: true });
  writeFileSync(`${archive}.ok`, '');
}

/** Removes debug symbols: they are a fifth of Node's size, and users do not need them. */
function strip(file: string): void {
  try {
    execFileSync('strip', [file], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'not installed' : error;
    console.warn(
      `Could not run strip (binutils): ${reason}. The executable is about 20 MB larger.`,
    );
  }
}

/** Runs pkg with a temporary home directory, where it finds its base Node. */
function pack(folder: string, output: string): void {
  const pkg = resolve('@yao-pkg/pkg/lib-es5/bin.js');
  const platform = process.platform === 'darwin' ? 'macos' : process.platform;
  const target = `node${process.versions.node}-${platform}-${process.arch}`;
  const args = [pkg, folder, '--sea', '--targets', target, '--output', output];
  const env = { ...process.env, HOME: staging };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`pkg exited with ${status}:\n${stdout}${stderr}`);
}

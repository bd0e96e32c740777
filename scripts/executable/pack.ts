/** Packs the bundle, SQLite and the fonts into one executable for any target. Downloads nothing. */

import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { BUNDLED_FONTS } from '../../src/report/pdf/bundled-fonts.generated.ts';
import { execFileSync, spawnSync } from '../programs.ts';
import { bundle, MAIN_BUNDLE } from './bundle.ts';

const { resolve } = createRequire(import.meta.url);

/** What the executable runs on; musl is not supported, as in Node's own builds. */
export interface Target {
  platform: NodeJS.Platform;
  arch: 'x64' | 'arm64';
}

export const HOST: Target = { platform: process.platform, arch: process.arch as Target['arch'] };

const ADDON_PACKAGE = 'better-sqlite3';
const FONT_PACKAGE = 'dejavu-fonts-ttf';
/** The fonts that src/report/pdf uses. */
const FONTS = ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSansMono'];

/** The packages of the fonts for other scripts, with the files of each that src/report/pdf uses: one of many weights. */
const SCRIPT_FONT_PACKAGES = Object.entries(
  Object.groupBy(BUNDLED_FONTS, ({ file }) => file.split('/', 2).join('/')),
).map(([name, fonts]) => ({ name, files: fonts!.map(({ file }) => file.slice(name.length + 1)) }));

/** Packages of fonts that are in the executable. */
export const FONT_PACKAGES = [FONT_PACKAGE, ...SCRIPT_FONT_PACKAGES.map(({ name }) => name)];

/** The names that pkg has for platforms. */
const PKG_PLATFORMS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macos', win32: 'win' };
/** The programs that remove debug symbols of Linux programs. */
const STRIP = { x64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' };

/**
 * Writes the executable to `output`, only once it is complete: a running process keeps the old file. `node` is
 * the Node binary of the target, in the version that runs this script.
 */
export async function buildExecutable(target: Target, node: string, output: string): Promise<void> {
  mkdirSync(dirname(output), { recursive: true });
  const staging = mkdtempSync(join(dirname(output), 'staging-'));
  try {
    const packed = join(staging, 'deliverability');
    mkdirSync(packed);
    const { outputs } = await bundle(packed);
    stage(packed, target, outputs);
    placeBaseNode(staging, target, node);
    // pkg adds this ending on its own.
    const packedFile = join(staging, target.platform === 'win32' ? 'output.exe' : 'output');
    pack(packed, target, staging, packedFile);
    removeRandomName(packedFile);
    renameSync(packedFile, output);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * Writes package.json and node_modules beside the bundles in `folder`. pkg includes every
 * dependency of a package.json, so this one names only packages that are not in the bundles.
 */
function stage(folder: string, target: Target, bundles: string[]): void {
  const prebuild = join('prebuilds', `${target.platform}-${target.arch}.node`);
  const addon = copyParts(folder, ADDON_PACKAGE, ['package.json', 'LICENSE', 'lib', prebuild]);
  if (target.platform !== 'win32') strip(join(addon.staged, prebuild), target);
  const fonts = copyParts(folder, FONT_PACKAGE, ['package.json', 'LICENSE']);
  mkdirSync(join(fonts.staged, 'ttf'), { recursive: true });
  for (const font of FONTS) {
    const file = join('ttf', `${font}.ttf`);
    // Rarely read, and compression saves a megabyte.
    const bytes = brotliCompressSync(readFileSync(join(fonts.installed, file)));
    writeFileSync(join(fonts.staged, `${file}.br`), bytes);
  }
  for (const { name, files } of SCRIPT_FONT_PACKAGES)
    copyParts(folder, name, ['package.json', 'LICENSE', ...files]);
  const packages = [ADDON_PACKAGE, ...FONT_PACKAGES].map((name) => `node_modules/${name}/**/*`);
  const assets = [...bundles, ...packages];
  const staged = { name: 'deliverability', bin: MAIN_BUNDLE, pkg: { assets } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(staged));
}

/** Copies parts of an installed package; returns both locations. */
function copyParts(folder: string, name: string, parts: string[]) {
  const installed = dirname(resolve(`${name}/package.json`));
  const staged = join(folder, 'node_modules', name);
  for (const part of parts) cpSync(join(installed, part), join(staged, part), { recursive: true });
  return { installed, staged };
}

/** Fills `<home>/.pkg-cache/sea` as if pkg had downloaded and unpacked Node, so that it downloads nothing. */
function placeBaseNode(home: string, target: Target, node: string): void {
  const cache = join(home, '.pkg-cache', 'sea');
  const isWindows = target.platform === 'win32';
  const name = `node-${process.version}-${isWindows ? 'win' : target.platform}-${target.arch}`;
  const archive = join(cache, `${name}${isWindows ? '.zip' : '.tar.gz'}`);
  const binary = isWindows ? join(cache, `${name}.exe`) : join(cache, name, 'bin', 'node');
  mkdirSync(dirname(binary), { recursive: true });
  copyFileSync(node, binary);
  chmodSync(binary, 0o755);
  if (!isWindows) strip(binary, target);
  // The archive is not read, because the unpacked binary is marked as complete.
  for (const file of [archive, `${archive}.ok`, `${binary}.ok`]) writeFileSync(file, '');
}

/** Removes debug symbols: they are a fifth of Node's size, and users do not need them. */
function strip(file: string, target: Target): void {
  const program = target.platform === 'linux' ? STRIP[target.arch] : 'strip';
  try {
    execFileSync(program, [file], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'not installed' : error;
    console.warn(
      `Could not run ${program} (binutils): ${reason}. The executable is about 20 MB larger.`,
    );
  }
}

/** Runs pkg with a temporary home directory, where it finds its base Node. */
function pack(folder: string, target: Target, home: string, output: string): void {
  const pkg = resolve('@yao-pkg/pkg/lib-es5/bin.js');
  const platform = PKG_PLATFORMS[target.platform] ?? target.platform;
  const name = `node${process.versions.node}-${platform}-${target.arch}`;
  const args = [pkg, folder, '--sea', '--targets', name, '--output', output];
  const env = { ...process.env, HOME: home, TMPDIR: '/tmp' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`pkg exited with ${status}:\n${stdout}${stderr}`);
}

/** pkg leaves the random name of its temporary folder in the executable, so that no two builds would be the same. */
function removeRandomName(file: string): void {
  const [before, random] = ['/tmp/pkg-sea-', 'XXXXXX'];
  const bytes = readFileSync(file);
  const at = bytes.indexOf(before) + before.length;
  if (bytes.toString('latin1', at + random.length, at + random.length + 12) !== '/sea-main.js')
    throw new Error(
      'The executable does not contain the path of its first script where pkg writes it',
    );
  bytes.write(random, at, 'latin1');
  writeFileSync(file, bytes);
}

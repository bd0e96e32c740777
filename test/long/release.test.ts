/**
 * The files of `npm run release` in dist/release, or in the folder RELEASE_FOLDER. CI builds no release, which
 * takes minutes: run this after the command.
 */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { execFileSync, spawnSync } from '../../scripts/programs.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = process.env.RELEASE_FOLDER ?? join(ROOT, 'dist', 'release');
const NAME = `deliverability-${manifest.version}`;
const skip = existsSync(FOLDER) ? false : `${FOLDER} does not exist: run npm run release`;
/** Where `npm run release` unpacks the libraries for arm64. */
const ARM64_ROOT = join(ROOT, 'dist/release-cache/debian-arm64/root');

test('Checksums cover all files of the release', { skip }, () => {
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: FOLDER });
  const files = globSync('**/*', { cwd: FOLDER }).filter((path) =>
    statSync(join(FOLDER, path)).isFile(),
  );
  const lines = readFileSync(join(FOLDER, 'SHA256SUMS'), 'utf8').trim().split('\n');
  assert.equal(lines.length, files.length - 1);
});

test('Executables for Linux need the same glibc as the README says', {
  skip: skip || skipUnlessInstalled('objdump'),
}, () => {
  // Node needs 2.28, the addon 2.34; only the former is linked.
  for (const arch of ['x64', 'arm64']) {
    const file = join(FOLDER, `${NAME}-linux-${arch}`);
    const header = execFileSync('objdump', ['--private-headers', file], { encoding: 'utf8' });
    const versions = [...header.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
    if (versions.length > 0) assert.equal(Math.max(...versions), 28);
  }
});

test('The executable for arm64 starts', {
  skip:
    skip ||
    skipUnlessInstalled('qemu-aarch64-static') ||
    (!existsSync(ARM64_ROOT) && 'needs the libraries of npm run release'),
}, () => {
  const file = join(FOLDER, `${NAME}-linux-arm64`);
  const { stdout, stderr } = spawnSync(
    'qemu-aarch64-static',
    ['-L', ARM64_ROOT, file, '--version'],
    {
      encoding: 'utf8',
      timeout: 120_000,
    },
  );
  assert.equal(stdout, `${manifest.version}\n`, stderr);
});

test('The executable for Windows is one, and its name says that nobody has run it', {
  skip,
}, () => {
  const file = join(FOLDER, `${NAME}-windows-x64-not-run.exe`);
  assert.equal(readFileSync(file).subarray(0, 2).toString('latin1'), 'MZ');
});

test('Lintian finds no errors and no warnings in the Debian packages', {
  skip: skip || skipUnlessInstalled('lintian'),
}, () => {
  for (const arch of ['amd64', 'arm64']) {
    const file = join(FOLDER, `deliverability_${manifest.version}_${arch}.deb`);
    const options = ['--fail-on', 'error,warning', '--allow-root', '--no-tag-display-limit'];
    const { status, stdout } = spawnSync('lintian', [...options, file], { encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  }
});

test('The image is for two architectures, smaller than 60 MB each, and has one volume', {
  skip: skip || skipUnlessInstalled('skopeo'),
}, (t) => {
  const folder = temporaryFolder(t);
  execFileSync('tar', ['-xf', join(FOLDER, `${NAME}-image.tar`), '-C', folder]);
  const source = `oci:${folder}:deliverability:${manifest.version}`;
  const index = JSON.parse(
    execFileSync('skopeo', ['inspect', '--raw', source], { encoding: 'utf8' }),
  );
  assert.deepEqual(
    index.manifests.map(
      ({ platform }: { platform: { architecture: string } }) => platform.architecture,
    ),
    ['amd64', 'arm64'],
  );
  for (const { digest } of index.manifests) {
    const read = (name: string) =>
      JSON.parse(readFileSync(join(folder, 'blobs', name.replace(':', '/')), 'utf8'));
    const { layers, config } = read(digest);
    assert.equal(layers.length, 1);
    // Nearly all of it is the executable, whose bound is in executable.test.ts. Its fonts hardly compress.
    assert.ok(layers[0].size < 60e6, `${layers[0].size} bytes`);
    const { User, Volumes, Entrypoint } = read(config.digest).config;
    assert.deepEqual([User, Volumes], ['65532:65532', { '/data': {} }]);
    assert.deepEqual(Entrypoint, ['/usr/bin/deliverability']);
  }
});

test('The bill of materials names Node, SQLite, ICU, the fonts, the C library and all packages', {
  skip,
}, () => {
  const { bomFormat, components } = JSON.parse(
    readFileSync(join(FOLDER, `${NAME}.cdx.json`), 'utf8'),
  );
  assert.equal(bomFormat, 'CycloneDX');
  const names = new Set(components.map(({ name }: { name: string }) => name));
  for (const name of [
    'Node.js',
    'SQLite',
    'ICU',
    'OpenSSL',
    'dejavu-fonts-ttf',
    '@fontsource/noto-sans-jp',
    'libc6',
    'mailauth',
  ])
    assert.ok(names.has(name), name);
  const refs = components.map((component: { 'bom-ref': string }) => component['bom-ref']);
  assert.equal(new Set(refs).size, refs.length);
  for (const { name, version, licenses } of components)
    assert.ok(version && licenses.length === 1, name);
});

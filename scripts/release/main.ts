/**
 * Writes a release to dist/release, or to the folder in the argument: executables, packages, the image, and what is
 * needed to run them. With `SOURCE_DATE_EPOCH`, the same sources give the same bytes.
 */

import { cpSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { requirePinnedNode } from '../executable/node-version.ts';
import { buildExecutable } from '../executable/pack.ts';
import { gzip, writeTar } from './archive.ts';
import { writeChart } from './chart.ts';
import { writeChecksums } from './checksums.ts';
import { writeDebianPackage } from './debian.ts';
import { sourceDateEpoch } from './epoch.ts';
import { writeLayer, writeLayout } from './image.ts';
import { downloadLibraries } from './libraries.ts';
import { nodeBinary } from './node-binary.ts';
import { writeBillOfMaterials } from './sbom.ts';
import { LINUX_TARGETS, type ReleaseTarget, WINDOWS_X64 } from './targets.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGING = join(ROOT, 'packaging');
/** Outlives a release: the packages of Node are large. */
const CACHE = join(ROOT, 'dist', 'release-cache');

requirePinnedNode('npm run release');
const output = resolve(process.argv[2] ?? join(ROOT, 'dist', 'release'));
const epoch = sourceDateEpoch(ROOT);
const name = `${manifest.name}-${manifest.version}`;
const started = performance.now();

rmSync(output, { recursive: true, force: true });
const work = join(output, 'work');
mkdirSync(work, { recursive: true });
const step = (text: string) =>
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${text}`);

const executables = new Map<ReleaseTarget, string>();
for (const target of [...LINUX_TARGETS, WINDOWS_X64]) {
  step(`executable for ${target.label}`);
  const file = join(output, `${name}-${target.label}`);
  await buildExecutable(target, nodeBinary(target, CACHE), file);
  executables.set(target, file);
}

const libraries = [];
const layers = [];
for (const target of LINUX_TARGETS) {
  const executable = executables.get(target)!;
  step(`Debian package for ${target.debianArch}`);
  writeDebianPackage({ target, executable, folder: output, epoch });
  step(`image for ${target.debianArch}`);
  const source = downloadLibraries(target, CACHE);
  libraries.push({ target, versions: source.versions });
  const file = join(work, `rootfs-${target.debianArch}.tar`);
  writeLayer({ target, executable, libraries: source }, file, epoch);
  layers.push({ target, file });
}
step('image for all architectures');
const layout = join(work, 'layout');
writeLayout(layers, layout, epoch);
writeTar(join(output, `${name}-image.tar`), layout, ['.'], { epoch });

step('Dockerfile, Compose files and Helm chart');
const docker = join(output, 'docker');
cpSync(join(PACKAGING, 'image'), docker, { recursive: true });
for (const { target, file } of layers)
  cpSync(gzip(file), join(docker, `rootfs-${target.debianArch}.tar.gz`));
cpSync(join(PACKAGING, 'compose'), join(output, 'compose'), { recursive: true });
writeChart(join(PACKAGING, 'helm', 'deliverability'), output, epoch);

step('bill of materials and checksums');
await writeBillOfMaterials(join(output, `${name}.cdx.json`), { libraries, epoch });
rmSync(work, { recursive: true });
for (const file of writeChecksums(output)) {
  const megabytes = (statSync(join(output, file)).size / 1e6).toFixed(1);
  console.log(`${megabytes.padStart(8)} MB  ${file}`);
}
step(`written to ${output}`);

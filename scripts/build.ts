/** Makes dist/deliverability: one executable with Node, the program and SQLite in it; downloads nothing. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { placeBaseNode } from './executable/base-node.ts';
import { bundle } from './executable/bundle.ts';
import { stage } from './executable/stage.ts';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const executable = join(dist, 'deliverability');

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
  // Only a finished executable takes the name; one that runs keeps the old file.
  renameSync(join(staging, 'made'), executable);
} finally {
  rmSync(staging, { recursive: true, force: true });
}
const megabytes = (statSync(executable).size / 1e6).toFixed(1);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`dist/deliverability: ${megabytes} MB, made in ${seconds} s`);

/** Runs pkg; it looks for its base Node under the home folder, so it gets a home of its own. */
function pack(folder: string, output: string): void {
  const pkg = createRequire(import.meta.url).resolve('@yao-pkg/pkg/lib-es5/bin.js');
  const platform = process.platform === 'darwin' ? 'macos' : process.platform;
  const target = `node${process.versions.node}-${platform}-${process.arch}`;
  const args = [pkg, folder, '--sea', '--targets', target, '--output', output];
  const env = { ...process.env, HOME: staging };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  // What it says is of interest only where it failed.
  if (status !== 0) throw new Error(`pkg ended with ${status}:\n${stdout}${stderr}`);
}

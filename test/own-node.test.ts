/** `npm ci` where the Node.js of the package `node` cannot start. */

// @one-database: about the installation.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { spawnSync } from '../scripts/programs.ts';
import { temporaryFolder } from './helpers/app.ts';

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const manifest = JSON.parse(readFileSync(path('package.json'), 'utf8'));

/**
 * Runs the step after the installation in a project of its own, whose `node` is a program of another system. `npm` itself
 * runs on the Node.js of this test, and `minimum` is the version that the project needs.
 */
function runPostinstall(t: TestContext, minimum: string, node: 'foreign' | 'working') {
  const folder = join(temporaryFolder(t), 'ein Ordner');
  const bin = join(folder, 'node_modules', '.bin');
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  mkdirSync(bin, { recursive: true });
  copyFileSync(path('scripts/own-node.mjs'), join(folder, 'scripts', 'own-node.mjs'));
  const { postinstall } = manifest.scripts;
  const fields = { name: 'x', engines: { node: minimum }, scripts: { postinstall } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(fields));
  const link = join(bin, 'node');
  // As of a program whose loader is missing.
  if (node === 'foreign') writeFileSync(link, '#!/lib/no-such-loader.so\n', { mode: 0o755 });
  else symlinkSync(process.execPath, link);
  // As npm does for the scripts of a project.
  const { status, stderr } = spawnSync('sh', ['-c', postinstall], {
    cwd: folder,
    env: { PATH: `${bin}:${process.env.PATH}`, npm_node_execpath: process.execPath },
    encoding: 'utf8',
  });
  return { status, stderr, link };
}

test('The machine’s own Node.js is used where that of the package cannot start', (t) => {
  const { status, link } = runPostinstall(t, '>=22.19', 'foreign');
  assert.equal(status, 0);
  assert.ok(!existsSync(link), 'commands find the next Node.js in PATH');
});

test('One sentence says what is missing if the machine’s own Node.js is too old', (t) => {
  const { status, stderr } = runPostinstall(t, '>=99.1', 'foreign');
  assert.equal(status, 1);
  const sentences = stderr.split('\n').filter((line) => line.startsWith('Deliverability'));
  assert.deepEqual(sentences, [
    `Deliverability needs Node.js 99.1 or later: the one of the package "node" does not start on this machine, and yours is ${process.versions.node}.`,
  ]);
});

test('A Node.js of the package that starts stays in use', (t) => {
  const { status, stderr, link } = runPostinstall(t, '>=22.19', 'working');
  assert.deepEqual([status, stderr], [0, '']);
  assert.ok(existsSync(link));
});

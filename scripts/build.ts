/** Builds dist/deliverability: one executable with Node, the program and SQLite. Downloads nothing. */

import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { requirePinnedNode } from './executable/node-version.ts';
import { buildExecutable, HOST } from './executable/pack.ts';

requirePinnedNode('npm run build');
const started = performance.now();
const executable = fileURLToPath(new URL('../dist/deliverability', import.meta.url));
// The executable contains the same Node that runs this script and the tests.
await buildExecutable(HOST, process.execPath, executable);
const megabytes = (statSync(executable).size / 1e6).toFixed(1);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`dist/deliverability: ${megabytes} MB, built in ${seconds} s`);

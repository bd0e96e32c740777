/** Runs the tests: all, or those of the files and folders named; options of `node --test` pass through. */

import { spawnSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ALL = 'test/**/*.test.ts';

const words = process.argv.slice(2);
const options = words.filter((word) => word.startsWith('-'));
const files = words.filter((word) => !word.startsWith('-')).flatMap(testsIn);

/** Folders whose tests leave nothing behind: one process for all of them saves minutes. */
const IN_ONE_PROCESS = /^test\/(?:lib|analysis|team|alerts|domains|monitors)\//;

const all = files.length > 0 ? [] : globSync(ALL).sort();
const alone = files.length > 0 ? files : all.filter((file) => !IN_ONE_PROCESS.test(file));
const together = all.filter((file) => IN_ONE_PROCESS.test(file));
const ends = [
  ...(together.length > 0 ? [run(together, '--test-isolation=none')] : []),
  // One file at a time: some measure stalls and deadlines, and services have threads of their own.
  // Two at a time save a fifth of the time and cost false alarms.
  run(alone, '--test-concurrency=1'),
];
process.exitCode = ends.find((status) => status !== 0) ?? 0;

/** The exit code. */
function run(some: string[], how: string): number {
  const { status } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--test', '--test-reporter=spec', how, ...options, ...some],
    { stdio: 'inherit' },
  );
  return status ?? 1;
}

/** A file is itself, a folder all tests below it. A name that matches nothing is an error, not a pass. */
function testsIn(path: string): string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const found = globSync(isFolder ? join(path, '**/*.test.ts') : path).sort();
  if (found.length === 0) {
    console.error(`There are no tests in ${path}.`);
    process.exit(2);
  }
  return found;
}

/** Runs the tests: all, or those of the files and folders named; options of `node --test` pass through. */

import { spawnSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ALL = 'test/**/*.test.ts';

const words = process.argv.slice(2);
const options = words.filter((word) => word.startsWith('-'));
const files = words.filter((word) => !word.startsWith('-')).flatMap(testsIn);

const { status } = spawnSync(
  process.execPath,
  [
    '--import',
    'tsx',
    '--test',
    '--test-reporter=spec',
    // One file at a time: some measure stalls and deadlines, and services have threads of their own.
    // Two at a time save a fifth of the time and cost false alarms.
    '--test-concurrency=1',
    ...options,
    ...(files.length > 0 ? files : globSync(ALL).sort()),
  ],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;

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

/** The rules of package.json, of the lock file, and of the programs that tests and scripts start. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isInstalled, requireProgram } from '../scripts/programs.ts';
import { missingPackages, unlistedPrograms, withGypfile } from '../scripts/project-files.ts';

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

test('A package on which the product is built cannot be removed', () => {
  const manifest = read('package.json');
  assert.deepEqual(missingPackages(manifest), []);
  for (const name of ['itty-router', '@yao-pkg/pkg', 'croner']) {
    const { [name]: _, ...dependencies } = manifest.dependencies;
    const { [name]: __, ...devDependencies } = manifest.devDependencies;
    assert.deepEqual(missingPackages({ dependencies, devDependencies }), [
      `package.json: ${name} must stay a dependency`,
    ]);
  }
});

test('The lock file keeps npm from calling node-gyp for better-sqlite3', () => {
  const lock = read('package-lock.json');
  assert.deepEqual(withGypfile(lock), lock);
  const { gypfile, ...written } = lock.packages['node_modules/better-sqlite3'];
  assert.equal(gypfile, false);
  const rewritten = {
    ...lock,
    packages: { ...lock.packages, 'node_modules/better-sqlite3': written },
  };
  assert.notDeepEqual(rewritten, lock);
  assert.equal(JSON.stringify(withGypfile(rewritten)), JSON.stringify(lock));
});

test('Tests and scripts start programs only through scripts/programs.ts', () => {
  // Not written out, because this file is read too.
  const name = ['child', 'process'].join('_');
  const offenders = [
    `import { spawn } from 'node:${name}';`,
    `import * as all from "${name}";`,
    `const { execFile } = await import('node:${name}');`,
  ];
  for (const text of offenders)
    assert.deepEqual(unlistedPrograms([['test/new.test.ts', text]]), [
      'test/new.test.ts: import spawn and execFile from scripts/programs.ts',
    ]);
  assert.deepEqual(
    unlistedPrograms([
      ['scripts/programs.ts', offenders[0]!],
      ['test/new.test.ts', "import { spawn } from '../scripts/programs.ts';"],
    ]),
    [],
  );
});

test('A program that scripts/programs.ts does not list cannot be started, nor a missing one', () => {
  assert.doesNotThrow(() => requireProgram('git'));
  assert.doesNotThrow(() => requireProgram(process.execPath));
  assert.throws(() => requireProgram('nmap'), /List nmap in scripts\/programs\.ts/);
  if (!isInstalled('opendkim'))
    assert.throws(() => requireProgram('opendkim'), /opendkim is not installed/);
});

/** What people get who start the program with a Node or on a system that is too old. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MIN_NODE, nodeProblem } from '../src/start.ts';
import { isSystemTooOld, MIN_GLIBC, SYSTEM_TOO_OLD } from '../src/store/sqlite/addon.ts';

const readJson = (name: string) =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('A Node that is too old is named, with the version to use', () => {
  for (const version of ['18.20.8', '20.20.2', '22.18.0'])
    assert.match(nodeProblem(version) ?? '', /^Deliverability needs Node\.js 22\.19 or later/);
  for (const version of ['22.19.0', '22.20.1', '24.0.0', '26.1.0'])
    assert.equal(nodeProblem(version), null, version);
});

test('The Node of package.json and README.md is the one that the program asks for', () => {
  const version = MIN_NODE.join('.');
  assert.equal(readJson('package.json').engines.node, `>=${version}`);
  assert.ok(readme.includes(`Node.js ${version} or later`));
});

test('No package asks for a newer Node than the project, so npm ci prints no warning', () => {
  const packages: [string, { engines?: { node?: string }; optional?: boolean }][] = Object.entries(
    readJson('package-lock.json').packages,
  );
  assert.ok(packages.length > 200);
  // The lowest version of a range that begins with >=, such as `>=20.19.0` or `^18 || >=20`.
  const newer = packages.filter(([, { engines }]) => {
    const lowest = [...(engines?.node ?? '').matchAll(/>=\s*(\d+)(?:\.(\d+))?/g)].at(-1);
    if (!lowest) return false;
    const [major, minor] = [Number(lowest[1]), Number(lowest[2] ?? 0)];
    return major > MIN_NODE[0] || (major === MIN_NODE[0] && minor > MIN_NODE[1]);
  });
  assert.deepEqual(
    newer.map(([path, { engines }]) => `${path} ${engines?.node}`),
    [],
  );
});

test('A loader that misses a version of glibc is explained, other errors are not', () => {
  const message =
    "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /tmp/linux-x64.node)";
  assert.equal(isSystemTooOld(new Error(message)), true);
  assert.equal(isSystemTooOld(new Error('ENOENT: no such file or directory')), false);
  assert.ok(SYSTEM_TOO_OLD.includes(`glibc ${MIN_GLIBC}`));
  assert.ok(readme.includes(`glibc ${MIN_GLIBC}`));
});

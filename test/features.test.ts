/** The list of features: each folder that has one is in it, and what follows from it is unambiguous. */

import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DOCUMENTED_ROUTES, FEATURES, jobsOf, ROUTES } from '../src/features.ts';
import { startTestService } from './helpers/app.ts';

const src = fileURLToPath(new URL('../src/', import.meta.url));

test('every feature.ts is listed once, under the name of its folder', () => {
  const folders = globSync('*/feature.ts', { cwd: src }).map(dirname);
  assert.ok(folders.length > 10, 'the folders are found');
  assert.deepEqual(FEATURES.map(({ name }) => name).toSorted(), folders.toSorted());
});

test('the document, its pages and the other pages come after the documented operations', () => {
  const documented = new Set(DOCUMENTED_ROUTES);
  assert.deepEqual(ROUTES.slice(0, documented.size), DOCUMENTED_ROUTES);
  const others = ROUTES.slice(documented.size);
  assert.equal(others[0]!.path, '/openapi.json');
  for (const { path } of others) assert.doesNotMatch(path, /^\/v1\//);
});

test('no two routes share an operation, and no two jobs a name', async (t) => {
  const operations = ROUTES.map(({ operation }) => operation);
  assert.equal(new Set(operations).size, operations.length);
  const { app } = await startTestService(t);
  const jobs = jobsOf(app).map(({ name }) => name);
  assert.equal(new Set(jobs).size, jobs.length);
});

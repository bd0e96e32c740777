/** The list of features: it is complete, and its operations and jobs have unique names. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AUDITED, DOCUMENTED_ROUTES, FEATURES, jobsOf, ROUTES } from '../src/features.ts';
import { startTestService } from './helpers/app.ts';

const src = fileURLToPath(new URL('../src/', import.meta.url));

test('features.ts lists every feature.ts once, by the name of its folder', () => {
  const folders = globSync('*/feature.ts', { cwd: src }).map(dirname);
  assert.ok(folders.length > 10, 'feature folders were found');
  assert.deepEqual(FEATURES.map(({ name }) => name).toSorted(), folders.toSorted());
});

test('ROUTES has the documented operations first, then the OpenAPI document and the pages', () => {
  const documented = new Set(DOCUMENTED_ROUTES);
  assert.deepEqual(ROUTES.slice(0, documented.size), DOCUMENTED_ROUTES);
  const others = ROUTES.slice(documented.size);
  assert.equal(others[0]!.path, '/openapi.json');
  // The former way to submit a raw message is not documented.
  const inApi = others.filter(({ path }) => path.startsWith('/v1/'));
  assert.deepEqual(
    inApi.map(({ operation }) => operation),
    ['submitTestByType'],
  );
});

test('Operations and job names are unique', async (t) => {
  const operations = ROUTES.map(({ operation }) => operation);
  assert.equal(new Set(operations).size, operations.length);
  const { app } = await startTestService(t);
  const jobs = jobsOf(app).map(({ name }) => name);
  assert.equal(new Set(jobs).size, jobs.length);
});

test('The filter of the audit log has every action that is written', async () => {
  // `audit` accepts only the actions of a declaration, so each declaration must be one of a feature.
  const files = globSync('**/*.{ts,tsx}', { cwd: src }).map((path) => join(src, path));
  const sources = files.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const declaring = sources.filter(({ text }) => /\baudited\(\{/.test(text));
  const declared: unknown[] = [];
  for (const { path } of declaring) {
    const module: object = await import(pathToFileURL(path).href);
    declared.push(
      ...Object.entries(module).flatMap(([name, value]) => (/^AUDITED_/.test(name) ? [value] : [])),
    );
  }
  const calls = declaring.flatMap(({ text }) => text.match(/\baudited\(\{/g)!);
  assert.ok(calls.length > 15, 'declarations were found');
  assert.equal(declared.length, calls.length, 'each is exported as AUDITED_…');
  assert.deepEqual(new Set(AUDITED), new Set(declared));
  const writers = sources.filter(({ text }) => /insertInto\(\s*'audit_log'/.test(text));
  assert.deepEqual(
    writers.map(({ path }) => path.slice(src.length)),
    ['team/audit.ts'],
  );
  const actions = AUDITED.flatMap((object) => object.actions);
  assert.equal(new Set(actions).size, actions.length);
});

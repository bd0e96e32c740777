/** Enforces the architecture: allowed imports, no circular imports, a comment on the purpose of each file. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findCircularImport, type Import, readImports } from './architecture/imports.ts';
import { betweenFeatures, layerOf, layerViolation } from './architecture/layers.ts';
import { textViolations } from './architecture/text-rules.ts';

const src = fileURLToPath(new URL('../src/', import.meta.url));
const files = globSync('**/*.{ts,tsx}', { cwd: src }).map((path) => path.replaceAll(sep, '/'));
const texts = new Map(files.map((path) => [path, readFileSync(join(src, path), 'utf8')]));
const imports = [...texts].flatMap(([path, text]) => readImports(path, text));

test('Imports in src follow the layering rules', () => {
  assert.ok(imports.length > files.length, 'imports were found');
  assert.deepEqual(
    imports.map(layerViolation).filter((sentence) => sentence !== null),
    [],
  );
  assert.deepEqual(
    files.filter((path) => layerOf(path) === null),
    [],
    'files outside every layer',
  );
});

test('Imports in src resolve to existing files', () => {
  const inside = imports.filter(({ to }) => /\.tsx?$/.test(to));
  assert.deepEqual(
    inside.filter(({ to }) => !texts.has(to)),
    [],
  );
});

test('src has no circular imports, type-only imports included', () => {
  assert.equal(findCircularImport(imports), null);
});

test('Imports between features have no cycles', () => {
  const found = betweenFeatures(imports);
  assert.ok(found.length > 100, 'imports were found');
  assert.equal(findCircularImport(found), null);
  const back = importOf(
    'mailtests/record.ts',
    "import type { Incident } from '../alerts/incidents.ts';",
  );
  assert.ok(findCircularImport(betweenFeatures([...imports, back])));
});

test('Every file in src opens with its purpose and reads neither process nor clock', () => {
  assert.deepEqual(
    [...texts].flatMap(([path, text]) => textViolations(path, text)),
    [],
  );
});

const importOf = (from: string, statement: string): Import => {
  const [only, ...others] = readImports(from, statement);
  assert.ok(only && others.length === 0, `expected one import in: ${statement}`);
  return only;
};

const FORBIDDEN: [from: string, statement: string][] = [
  ['lib/ids.ts', "import type { Db } from '../store/open.ts';"],
  [
    'lib/log.ts',
    "import type { Config } from '../config/variables.ts';\nimport '../net/dns/zone.ts';",
  ],
  ['store/open.ts', "import { ask } from '../net/dns/resolver.ts';"],
  ['net/dns/resolver.ts', "import type { App } from '../../app.ts';"],
  ['http/router.ts', "import { identifyKey } from '../team/api-keys.ts';"],
  ['http/router.ts', "import { type App } from '../app.ts';"],
  ['scheduler/scheduler.ts', "export { analyzeJob } from '../mailtests/analyze.ts';"],
  ['analysis/analyze.ts', "import { openStore } from '../store/open.ts';"],
  ['analysis/mime/parts.ts', "import type { App } from '../../app.ts';"],
  ['analysis/score.ts', "import { sql } from 'kysely';"],
  ['report/text.ts', "const late = await import('../store/open.ts');"],
  ['mailtests/record.ts', "import {\n  createApp,\n} from '../app.ts';"],
  ['mailtests/record.ts', "import type { App, Overrides } from '../app.ts';"],
  ['mailtests/queries.ts', "import Database from 'better-sqlite3';"],
  ['health/routes.ts', "import { ROUTES } from '../features.ts';"],
  ['app.ts', "import type { SignInGuard } from './team/sign-in-guard.ts';"],
  ['app.ts', "import { FEATURES } from './features.ts';"],
  ['feature.ts', "import { alerts } from './alerts/feature.ts';"],
  ['keys/secret-key.ts', "import { openMail } from '../outbox/queue.ts';"],
  ['smtp/server.ts', "import { startService } from '../service.ts';"],
  ['config/config.ts', "import { openStore } from '../store/open.ts';"],
  ['commands/serve.ts', "import { exit } from 'node:process';"],
  ['helpers/things.ts', "import { x } from '../lib/ids.ts';"],
];

test('breach reports an import that the rules do not allow', () => {
  for (const [from, statement] of FORBIDDEN) {
    const sentences = readImports(from, statement).map(layerViolation);
    assert.ok(
      sentences.some((sentence) => sentence?.startsWith(from)),
      `${from}: ${statement}`,
    );
  }
});

test('breach accepts an import that the rules allow', () => {
  for (const [from, statement] of [
    ['store/open.ts', "import BetterSqlite from 'better-sqlite3';"],
    ['analysis/score.ts', "import { toFix } from './summary.ts';"],
    ['report/text.ts', "import type { AnalysisResult } from '../analysis/result.ts';"],
    ['mailtests/record.ts', "import { append } from '../events/events.ts';"],
    ['http/route.ts', "import type { App } from '../app.ts';"],
    ['health/routes.ts', "import { manifest } from './capabilities.ts';"],
    ['smtp/server.ts', "import type { Envelope } from '../analysis/check.ts';"],
    ['service.ts', "import { type App, createApp } from './app.ts';"],
    ['features.ts', "import { alerts } from './alerts/feature.ts';"],
    ['alerts/feature.ts', "import type { Feature } from '../feature.ts';"],
    ['app.ts', "import { readSecretKey } from './keys/secret-key.ts';"],
  ] as const)
    assert.equal(layerViolation(importOf(from, statement)), null, statement);
});

test('findCircularImport finds circular imports, including type-only imports', () => {
  const edges = (statements: [string, string][]) =>
    statements.map(([from, statement]) => importOf(from, statement));
  const start: [string, string][] = [
    ['lib/a.ts', "import { b } from './b.ts';"],
    ['lib/b.ts', "export * from './c.ts';"],
  ];
  assert.equal(findCircularImport(edges(start)), null);
  for (const end of ["import './a.ts';", "import type { A } from './a.ts';"])
    assert.deepEqual(findCircularImport(edges([...start, ['lib/c.ts', end]])), [
      'lib/a.ts',
      'lib/b.ts',
      'lib/c.ts',
      'lib/a.ts',
    ]);
});

test('textViolations reports a missing purpose and use of process or clock', () => {
  const header = '/** What it is for. */\n';
  const cases: [string, string, RegExp][] = [
    ['lib/a.ts', '// a note\n', /open/],
    ['lib/a.ts', '/** */\nlet a;\n', /open/],
    ['lib/a.ts', `${header}export const e = process.env;`, /uses process/],
    ['lib/a.ts', `${header}export const e = globalThis.process.env;`, /uses process/],
    ['lib/a.ts', `${header}export const t = Date.now();`, /clock/],
    ['lib/a.ts', `${header}export const t = new Date();`, /clock/],
    ['lib/a.ts', `${header}export const t = new Date;`, /clock/],
    ['lib/a.ts', `${header}export const t = performance.now();`, /clock/],
  ];
  for (const [path, text, expected] of cases) {
    const found = textViolations(path, text);
    assert.equal(found.length, 1, text.slice(0, 80));
    assert.match(found[0]!, expected);
  }
});

test('textViolations ignores comments, strings, given times and local names', () => {
  const text = `/** Stops the process. */
// process.exit() and Date.now()
export const say = 'the process. ends';
export const at = (ms: number) => new Date(ms);
export const run = (process: { end(): void }) => process.end();
${'call();\n'.repeat(245)}`;
  assert.deepEqual(textViolations('lib/a.ts', text), []);
  assert.deepEqual(textViolations('lib/b.ts', '/**\n * What it is for.\n */\n'), []);
  assert.deepEqual(textViolations('main.ts', '/** The start. */\nprocess.exit();'), []);
  assert.deepEqual(textViolations('lib/clock.ts', '/** Time. */\nDate.now();'), []);
});

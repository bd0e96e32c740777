/** Layering rules: the layers of the code (each a folder or file), and the layers that each may import. */

import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Import } from './imports.ts';

/** Each may import others, but none that imports it. The dashboard is above all of them. */
const FEATURES = globSync('*/feature.ts', {
  cwd: fileURLToPath(new URL('../../src/', import.meta.url)),
})
  .map((path) => dirname(path))
  .filter((name) => name !== 'dashboard');

const MECHANISMS = [
  'lib',
  'figures',
  'ui',
  'store',
  'net',
  'http',
  'smtp',
  'scheduler',
  'analysis',
  'report',
  'sign-ins',
  'help',
  'feature',
];
const BELOW_SURFACES = [...MECHANISMS, ...FEATURES];

/** The composition root: these may import everything. */
const TOP_FOLDERS = ['commands'];
const TOP_FILES = ['features.ts', 'service.ts', 'main.ts', 'start.ts', 'version.ts'];
/** Top-level files that are layers. */
const FILE_LAYERS: Record<string, string> = {
  'app.ts': 'app',
  'feature.ts': 'feature',
};

const ALLOWED: Record<string, string[]> = {
  lib: [],
  store: ['lib'],
  /** What is counted and measured, with its words and limits: data that every layer may show. */
  figures: ['lib'],
  /** What all pages share, of reports and of the dashboard. */
  ui: ['lib'],
  net: ['lib', 'figures'],
  keys: ['lib', 'store', 'net'],
  http: ['lib', 'store', 'net'],
  scheduler: ['lib', 'store', 'net'],
  smtp: ['lib', 'store', 'http', 'analysis'],
  'sign-ins': ['lib', 'store', 'net'],
  /** The documents and what pages show of them: data, as for the report. */
  help: ['lib', 'ui'],
  analysis: ['lib', 'net', 'figures'],
  report: ['lib', 'analysis', 'figures', 'ui'],
  app: ['lib', 'store', 'net', 'scheduler', 'keys', 'analysis', 'report'],
  // The type of features; it imports none of them.
  feature: ['lib', 'store', 'http', 'smtp', 'scheduler'],
  ...Object.fromEntries(FEATURES.map((feature) => [feature, BELOW_SURFACES])),
  dashboard: BELOW_SURFACES,
};

/** Layers that must not use the running service, not even its type. */
const WITHOUT_APP = ['lib', 'figures', 'ui', 'store', 'net', 'keys', 'smtp', 'analysis', 'report'];
/** Packages that only some layers may import. */
const PACKAGES: Record<string, (layer: string, file: string) => boolean> = {
  'better-sqlite3': (layer) => layer === 'store',
  pg: (layer) => layer === 'store',
  kysely: (layer) => !['lib', 'ui', 'net', 'analysis', 'report', 'smtp'].includes(layer),
  process: (_, file) => ['main.ts', 'start.ts'].includes(file),
};

/** The layer of a file below src; null if it belongs to none. */
export function layerOf(file: string): string | null {
  const [first, ...rest] = file.split('/');
  if (first === 'config') return 'lib';
  if (rest.length > 0) return TOP_FOLDERS.includes(first!) ? 'top' : knownLayer(first!);
  const own = FILE_LAYERS[file];
  if (own) return own;
  return TOP_FILES.includes(file) ? 'top' : null;
}

const knownLayer = (name: string): string | null => (name in ALLOWED ? name : null);

/** Explains what is wrong with an import; null if it is allowed. */
export function layerViolation({ from, to, names, typeOnly }: Import): string | null {
  const layer = layerOf(from);
  if (layer === null) return `${from} belongs to no layer`;
  if (!to.endsWith('.ts') && !to.endsWith('.tsx')) return packageBreach(layer, from, to);
  if (layer === 'top') return null;
  const onlyApp = typeOnly && names.length === 1 && names[0] === 'App';
  if (to === 'app.ts' && onlyApp && !WITHOUT_APP.includes(layer)) return null;
  const target = layerOf(to);
  if (target === layer || (target !== null && ALLOWED[layer]!.includes(target))) return null;
  return `${from} imports ${to}: ${layer} may import ${ALLOWED[layer]!.join(', ') || 'nothing else'}`;
}

function packageBreach(layer: string, from: string, to: string): string | null {
  const name = to.replace(/^node:/, '');
  const mayUse = Object.hasOwn(PACKAGES, name) ? PACKAGES[name] : undefined;
  return !mayUse || mayUse(layer, from) ? null : `${from} imports the package ${to}`;
}

/** The imports of features from other features, as if each were a file. */
export const betweenFeatures = (imports: Import[]): Import[] =>
  imports.flatMap((one) => {
    const [from, to] = [layerOf(one.from), layerOf(one.to)];
    const isBetween = from !== to && [from, to].every((layer) => FEATURES.includes(layer ?? ''));
    return isBetween ? [{ ...one, from: from!, to: to! }] : [];
  });

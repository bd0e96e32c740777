/** Who may import whom: the rooms of the code (a folder or file each), and the rooms that each may use. */

import type { Import } from './imports.ts';

/** Each may use those before it. */
const FEATURES = [
  'outbox',
  'team',
  'events',
  'webhooks',
  'domains',
  'mailtests',
  'monitors',
  'alerts',
  'summary',
  'schedules',
  'shares',
  'badges',
  'health',
];
const MECHANISMS = ['lib', 'store', 'net', 'http', 'scheduler', 'analysis', 'report', 'feature'];
const BELOW_SURFACES = [...MECHANISMS, ...FEATURES];

/** Where the program is put together: these may import everything. */
const TOP_FOLDERS = ['commands'];
const TOP_FILES = ['features.ts', 'service.ts', 'main.ts', 'version.ts'];
/** Files beside the folders that are rooms of their own. */
const FILE_ROOMS: Record<string, string> = {
  'app.ts': 'app',
  'feature.ts': 'feature',
};

const ALLOWED: Record<string, string[]> = {
  lib: [],
  store: ['lib'],
  net: ['lib'],
  keys: ['lib', 'store', 'net'],
  http: ['lib', 'store', 'net'],
  scheduler: ['lib', 'store', 'net'],
  analysis: ['lib', 'net'],
  report: ['lib', 'analysis'],
  app: ['lib', 'store', 'net', 'scheduler', 'keys', 'analysis', 'report'],
  // What a feature is, of which this knows none.
  feature: ['lib', 'store', 'http', 'scheduler'],
  ...Object.fromEntries(
    FEATURES.map((feature, i) => [feature, [...MECHANISMS, ...FEATURES.slice(0, i)]]),
  ),
  dashboard: BELOW_SURFACES,
  smtp: BELOW_SURFACES,
};

/** They have no part in the running service, so not even its type. */
const WITHOUT_APP = ['lib', 'store', 'net', 'keys', 'analysis', 'report'];
/** Packages that only some may import. */
const PACKAGES: Record<string, (room: string, file: string) => boolean> = {
  'better-sqlite3': (room) => room === 'store',
  kysely: (room) => !['lib', 'net', 'analysis', 'report', 'smtp'].includes(room),
  process: (_, file) => file === 'main.ts',
};

/** The room of a file below src; null where the plan has none for it. */
export function roomOf(file: string): string | null {
  const [first, ...rest] = file.split('/');
  if (first === 'config') return 'lib';
  if (rest.length > 0) return TOP_FOLDERS.includes(first!) ? 'top' : known(first!);
  const own = FILE_ROOMS[file];
  if (own) return own;
  return TOP_FILES.includes(file) ? 'top' : null;
}

const known = (room: string): string | null => (room in ALLOWED ? room : null);

/** What is wrong with an import, in a sentence; null where it is allowed. */
export function breach({ from, to, names, typeOnly }: Import): string | null {
  const room = roomOf(from);
  if (room === null) return `${from} is in no room of the plan`;
  if (!to.endsWith('.ts') && !to.endsWith('.tsx')) return packageBreach(room, from, to);
  if (room === 'top') return null;
  const onlyApp = typeOnly && names.length === 1 && names[0] === 'App';
  if (to === 'app.ts' && onlyApp && !WITHOUT_APP.includes(room)) return null;
  const target = roomOf(to);
  if (target === room || (target !== null && ALLOWED[room]!.includes(target))) return null;
  return `${from} imports ${to}: ${room} may use ${ALLOWED[room]!.join(', ') || 'nothing else'}`;
}

function packageBreach(room: string, from: string, to: string): string | null {
  const name = to.replace(/^node:/, '');
  const mayUse = Object.hasOwn(PACKAGES, name) ? PACKAGES[name] : undefined;
  return !mayUse || mayUse(room, from) ? null : `${from} imports the package ${to}`;
}

/** Finds the imports in the text of a source file, type-only imports included. */

import { posix } from 'node:path';

export interface Import {
  /** The path of a file below src. */
  from: string;
  /** The path of a file below src (`../…` for one outside), or the name of a package. */
  to: string;
  /** The imported names; empty for a whole module. */
  names: string[];
  /**
   * True for `import type`, which has no effect at run time. False for `import { type A }`: with
   * verbatimModuleSyntax, the module still runs.
   */
  typeOnly: boolean;
}

const STATIC = /^(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s+'([^']+)'/gm;
const SIDE_EFFECT = /^import\s+'([^']+)'/gm;
const DYNAMIC = /(\btypeof\s+)?\bimport\(\s*'([^']+)'\s*\)/g;

/** All imports and re-exports of the file `from`; expects the formatter's single quotes. */
export function readImports(from: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, names: string[], typeOnly: boolean) =>
    found.push({ from, to: resolve(from, specifier), names, typeOnly });
  for (const [, type, clause, specifier] of text.matchAll(STATIC))
    add(specifier!, namesIn(clause!), type !== undefined);
  for (const [, specifier] of text.matchAll(SIDE_EFFECT)) add(specifier!, [], false);
  for (const [, type, specifier] of text.matchAll(DYNAMIC)) add(specifier!, [], type !== undefined);
  return found;
}

function resolve(from: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier;
}

/** `{ type A, B as C }` → A and B. */
function namesIn(clause: string): string[] {
  const listed = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
  const names = listed.split(',').map((name) => name.trim().replace(/^type\s+|\s+as\s.*$/g, ''));
  return names.filter((name) => name !== '');
}

/**
 * The files of the first circular import; null if there is none. Type-only imports count, because two
 * files that need each other's types can only be understood together.
 */
export function findCircularImport(imports: Import[]): string[] | null {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports) next.set(from, [...(next.get(from) ?? []), to]);
  const visited = new Set<string>();
  const walk = (file: string, path: string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (visited.has(file)) return null;
    for (const to of next.get(file) ?? []) {
      const circle = walk(to, [...path, file]);
      if (circle) return circle;
    }
    visited.add(file);
    return null;
  };
  for (const file of next.keys()) {
    const circle = walk(file, []);
    if (circle) return circle;
  }
  return null;
}

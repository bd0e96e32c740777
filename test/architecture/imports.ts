/** The imports of a source file, read from its text: those of types too, which no bundler sees. */

import { posix } from 'node:path';

export interface Import {
  /** A file, as a path below src. */
  from: string;
  /** A file below src (`../…` outside of it), or the name of a package. */
  to: string;
  /** What is imported by name; empty for a whole module. */
  names: string[];
  /**
   * `import type`, which leaves nothing at run time. `import { type A }` is not: under
   * verbatimModuleSyntax the module still runs.
   */
  typeOnly: boolean;
}

const STATIC = /^(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s+'([^']+)'/gm;
const SIDE_EFFECT = /^import\s+'([^']+)'/gm;
const DYNAMIC = /(\btypeof\s+)?\bimport\(\s*'([^']+)'\s*\)/g;

/** All imports and re-exports of the file at `from`; relies on the formatter's single quotes. */
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

/** `{ type A, B as C }` gives A and B. */
function namesIn(clause: string): string[] {
  const listed = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
  const names = listed.split(',').map((name) => name.trim().replace(/^type\s+|\s+as\s.*$/g, ''));
  return names.filter((name) => name !== '');
}

/**
 * The first circle of imports, as the files on it; null where there is none. Those of types count too:
 * two files of which each needs the types of the other can only be understood together.
 */
export function findCircle(imports: Import[]): string[] | null {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports) next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set<string>();
  const walk = (file: string, path: string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const to of next.get(file) ?? []) {
      const circle = walk(to, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return null;
  };
  for (const file of next.keys()) {
    const circle = walk(file, []);
    if (circle) return circle;
  }
  return null;
}

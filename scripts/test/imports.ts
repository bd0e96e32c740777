/** Finds the test files that import certain helpers, such as those whose tests use the database of the test run. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Every test that opens a database gets it from one of these files. */
const SOURCES = ['test/helpers/store.ts', 'test/helpers/postgres.ts'];

const RELATIVE_IMPORT = /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+\.ts)'/g;

/** The comment of a file that imports a source, but whose tests gain nothing from another database. */
const ONE_DATABASE = /^\/\/ @one-database: \S/m;

/**
 * Keeps the files that import a source of databases, directly or through other files of `test/`, unless they
 * have a comment `// @one-database: <reason>`. The tests in all other files do the same on every database.
 */
export function filesWithDatabase(files: string[]): string[] {
  const candidates = files.filter((file) => !ONE_DATABASE.test(readFileSync(file, 'utf8')));
  return filesThatImport(SOURCES, candidates);
}

/** Keeps the files that import one of the sources, directly or through other files of `test/`. */
export function filesThatImport(sources: string[], files: string[]): string[] {
  const known = new Map<string, string[]>();
  const importsOf = (file: string): string[] => {
    const imports = known.get(file) ?? readImports(file);
    known.set(file, imports);
    return imports;
  };
  return files.filter((file) => {
    // A set is iterated in order of insertion, including what the loop adds.
    const reached = new Set([file]);
    for (const path of reached) for (const imported of importsOf(path)) reached.add(imported);
    return sources.some((source) => reached.has(source));
  });
}

function readImports(file: string): string[] {
  const imports = [...readFileSync(file, 'utf8').matchAll(RELATIVE_IMPORT)];
  const paths = imports.map(([, path]) => join(dirname(file), path!).replaceAll('\\', '/'));
  // Some tests contain imports as text.
  return paths.filter((path) => path.startsWith('test/') && existsSync(path));
}

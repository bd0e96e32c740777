/** Compiles all TypeScript modules of the project once for all test processes. */

import { globSync, mkdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { transform } from 'esbuild';
import { folderInDist } from './folders.ts';

/**
 * The folder of the compiled modules: each has the path of its source within the project, with `.js` appended. The
 * folder is deleted when this process exits.
 */
export async function compileModules(): Promise<string> {
  const folder = folderInDist('modules-');
  const sources = globSync('{src,test,scripts}/**/*.{ts,tsx}');
  for (const path of new Set(sources.map(dirname)))
    mkdirSync(join(folder, path), { recursive: true });
  await Promise.all(sources.map((source) => compile(source, join(folder, `${source}.js`))));
  return folder;
}

async function compile(path: string, target: string): Promise<void> {
  const source = await readFile(path, 'utf8');
  await writeFile(target, withoutTypes(path, source) ?? (await transformed(path, source)));
}

/**
 * The source with blanks in place of types. Positions stay the same, so the module needs no source map: reading one takes a
 * third of the time to load a module. Null for syntax that needs more, such as JSX.
 */
function withoutTypes(path: string, source: string): string | null {
  if (path.endsWith('x')) return null;
  try {
    return stripTypeScriptTypes(source);
  } catch {
    return null;
  }
}

async function transformed(path: string, source: string): Promise<string> {
  const compiled = transform(source, {
    loader: path.endsWith('x') ? 'tsx' : 'ts',
    // Relative to the module, whose URL is that of the source.
    sourcefile: basename(path),
    sourcemap: 'inline',
    sourcesContent: false,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    format: 'esm',
    target: `node${process.versions.node}`,
  });
  // Only a test that imports the module fails.
  return compiled.then(
    ({ code }) => code,
    ({ message }: Error) => `throw new SyntaxError(${JSON.stringify(message)});`,
  );
}

/** Compiles all TypeScript modules of the project once for all test processes. */

import { globSync, mkdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
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

async function compile(source: string, target: string): Promise<void> {
  const compiled = transform(await readFile(source), {
    loader: source.endsWith('x') ? 'tsx' : 'ts',
    // Relative to the module, whose URL is that of the source.
    sourcefile: basename(source),
    sourcemap: 'inline',
    sourcesContent: false,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    keepNames: true,
    format: 'esm',
    target: `node${process.versions.node}`,
  });
  // Only a test that imports the module fails.
  const code = await compiled.then(
    (result) => result.code,
    ({ message }: Error) => `throw new SyntaxError(${JSON.stringify(message)});`,
  );
  await writeFile(target, code);
}

/** Compiles all TypeScript modules of the project once for all test processes. */

import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * The folder of the compiled modules: each has the path of its source within the project, with `.js` appended. The
 * folder is deleted when this process exits.
 */
export async function compileModules(): Promise<string> {
  mkdirSync('dist', { recursive: true });
  const folder = resolve(mkdtempSync(join('dist', 'modules-')));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  await build({
    entryPoints: globSync('{src,test,scripts}/**/*.{ts,tsx}').map((source) => ({
      in: source,
      out: source,
    })),
    outdir: folder,
    bundle: false,
    keepNames: true,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'esm',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'warning',
  });
  return folder;
}

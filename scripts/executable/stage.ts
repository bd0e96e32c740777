/** The folder that pkg packs: the bundle and the one native package, and nothing else. */

import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const ADDON_PACKAGE = 'better-sqlite3';
/** As better-sqlite3 names the files that it ships; musl is left out, as Node's own build is. */
const PREBUILD = join('prebuilds', `${process.platform}-${process.arch}.node`);

/**
 * Writes package.json and node_modules beside `deliverability.cjs` in `folder`. pkg walks everything
 * that the real package.json depends on; this one names only what the bundle left out.
 */
export function stage(folder: string): void {
  const require = createRequire(import.meta.url);
  const installed = dirname(require.resolve(`${ADDON_PACKAGE}/package.json`));
  const staged = join(folder, 'node_modules', ADDON_PACKAGE);
  mkdirSync(join(staged, 'prebuilds'), { recursive: true });
  for (const part of ['package.json', 'LICENSE', 'lib', PREBUILD])
    cpSync(join(installed, part), join(staged, part), { recursive: true });
  const manifest = {
    name: 'deliverability',
    bin: 'deliverability.cjs',
    pkg: { assets: [`node_modules/${ADDON_PACKAGE}/**/*`] },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
}

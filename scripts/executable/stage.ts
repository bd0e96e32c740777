/** The folder that pkg packs: the bundles, the one native package, the fonts, and nothing else. */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { RENDER_BUNDLE } from '../../src/report/worker-file.ts';

const ADDON_PACKAGE = 'better-sqlite3';
/** As better-sqlite3 names the files that it ships; musl is left out, as Node's own build is. */
const PREBUILD = join('prebuilds', `${process.platform}-${process.arch}.node`);

const FONT_PACKAGE = 'dejavu-fonts-ttf';
/** Those of src/report/pdf/fonts.ts. */
const FONTS = ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSansMono'];

const { resolve } = createRequire(import.meta.url);

/**
 * Writes package.json and node_modules beside `deliverability.cjs` in `folder`. pkg walks everything
 * that the real package.json depends on; this one names only what the bundle left out.
 */
export function stage(folder: string): void {
  copyParts(folder, ADDON_PACKAGE, ['package.json', 'LICENSE', 'lib', PREBUILD]);
  const fonts = copyParts(folder, FONT_PACKAGE, ['package.json', 'LICENSE']);
  for (const font of FONTS) {
    const file = join('ttf', `${font}.ttf`);
    // Compressed: read once in a while, and a megabyte less.
    const bytes = brotliCompressSync(readFileSync(join(fonts.installed, file)));
    mkdirSync(join(fonts.staged, 'ttf'), { recursive: true });
    writeFileSync(join(fonts.staged, `${file}.br`), bytes);
  }
  const packages = [ADDON_PACKAGE, FONT_PACKAGE].map((name) => `node_modules/${name}/**/*`);
  const assets = [RENDER_BUNDLE, ...packages];
  const manifest = { name: 'deliverability', bin: 'deliverability.cjs', pkg: { assets } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
}

/** Where the package is installed, and where its parts are staged now. */
function copyParts(folder: string, name: string, parts: string[]) {
  const installed = dirname(resolve(`${name}/package.json`));
  const staged = join(folder, 'node_modules', name);
  for (const part of parts) cpSync(join(installed, part), join(staged, part), { recursive: true });
  return { installed, staged };
}

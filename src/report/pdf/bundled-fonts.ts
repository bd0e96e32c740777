/** The fonts in the executable for scripts that the main fonts lack. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { BUNDLED_FONTS } from './bundled-fonts.generated.ts';
import { type CodePoints, decodeCodePoints, includesCodePoint } from './code-points.ts';
import { plainFont } from './sfnt.ts';

/** A font that is read only when a text needs it. */
export interface FontSource {
  name: string;
  /** May be wrong for a damaged font of the system. */
  covers(codePoint: number): boolean;
  /** The font as TrueType or OpenType. Throws if it cannot be read. */
  read(): Buffer;
}

export const JAPANESE = 'noto-sans-jp';
export const SIMPLIFIED_CHINESE = 'noto-sans-sc';
export const TRADITIONAL_CHINESE = 'noto-sans-tc';
export const EMOJI = 'noto-emoji';

/** Fonts that have whole scripts first, then fonts with about a hundred rare characters each. */
export const bundledFonts: FontSource[] = BUNDLED_FONTS.map(({ name, file, coverage }) => {
  let codePoints: CodePoints | undefined;
  return {
    name,
    covers(codePoint) {
      codePoints ??= decodeCodePoints(coverage);
      return includesCodePoint(codePoints, codePoint);
    },
    read: () => plainFont(readFileSync(installedFile(file))),
  };
});

/** A file of a package, found beside its package.json: nothing else in a package can be resolved. */
export function installedFile(file: string): string {
  const path = file.split('/');
  const name = path.splice(0, file.startsWith('@') ? 2 : 1).join('/');
  const { resolve } = createRequire(import.meta.url);
  return join(dirname(resolve(`${name}/package.json`)), ...path);
}

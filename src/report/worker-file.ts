/** The path of the code that render threads run. */

import { fileURLToPath } from 'node:url';

/** A separate bundle next to the main one: fonts and pages would slow down the start of the main one. */
export const RENDER_BUNDLE = 'render.cjs';

/** A path, because pkg does not resolve URLs inside the executable. */
export const RENDER_FILE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? 'worker.ts' : RENDER_BUNDLE, import.meta.url),
);

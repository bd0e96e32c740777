/** The location of the code of render threads. */

import { fileURLToPath } from 'node:url';

/** A bundle of its own, next to the main one, which fonts and pages would make slower to start. */
export const RENDER_BUNDLE = 'render.cjs';

/** A path, because pkg does not resolve URLs inside the executable. */
export const RENDER_FILE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? 'worker.ts' : RENDER_BUNDLE, import.meta.url),
);

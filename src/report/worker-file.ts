/** Where the code of render threads is. */

import { fileURLToPath } from 'node:url';

/** Beside the bundle of everything else: fonts and pages would make every start slower. */
export const RENDER_BUNDLE = 'render.cjs';

/** A path, not a URL: only paths does pkg look up inside the executable. */
export const RENDER_FILE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? 'worker.ts' : RENDER_BUNDLE, import.meta.url),
);

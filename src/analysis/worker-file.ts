/** The path of the code that analysis threads run. */

import { fileURLToPath } from 'node:url';

/** A separate bundle next to the main one, because each thread keeps a copy of all code that it loads. */
export const ANALYSIS_BUNDLE = 'analysis.cjs';

/** A path, because pkg does not resolve URLs inside the executable. */
export const ANALYSIS_FILE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? 'worker.ts' : ANALYSIS_BUNDLE, import.meta.url),
);

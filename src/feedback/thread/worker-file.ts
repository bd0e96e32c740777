/** The path of the code that the thread for feedback runs. */

import { fileURLToPath } from 'node:url';

/** A separate bundle next to the main one, because each thread keeps a copy of all code that it loads. */
export const FEEDBACK_BUNDLE = 'feedback.cjs';

/** A path, because pkg does not resolve URLs inside the executable. */
export const FEEDBACK_FILE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? 'worker.ts' : FEEDBACK_BUNDLE, import.meta.url),
);

/** Rules on a single source file: its first comment, and what of the outside it touches. */

import { transformSync } from 'esbuild';

/** The one file that touches the process, and the one that reads the clock. */
const PROCESS_FILE = 'main.ts';
const CLOCK_FILE = 'lib/clock.ts';

/** What is wrong with the file at `path` below src, a sentence each. */
export function textBreaches(path: string, text: string): string[] {
  const found: string[] = [];
  if (!/^\/\*\*\s+(\*\s+)?[^*\s][\s\S]*?\*\//.test(text))
    found.push(`${path} does not open with a comment on what it is for`);
  const code = withGlobalsMarked(path, text);
  if (path !== PROCESS_FILE && code.includes('GLOBAL_PROCESS'))
    found.push(`${path} touches process; only ${PROCESS_FILE} does`);
  if (path !== CLOCK_FILE && /GLOBAL_DATE\(\)|GLOBAL_DATE\.now|GLOBAL_PERFORMANCE/.test(code))
    found.push(`${path} reads the clock; only ${CLOCK_FILE} does`);
  return found;
}

/** The code without comments and types; names that are the global ones, and no local's, are replaced. */
function withGlobalsMarked(path: string, text: string): string {
  return transformSync(text, {
    loader: path.endsWith('x') ? 'tsx' : 'ts',
    define: {
      process: 'GLOBAL_PROCESS',
      'globalThis.process': 'GLOBAL_PROCESS',
      Date: 'GLOBAL_DATE',
      performance: 'GLOBAL_PERFORMANCE',
    },
  }).code;
}

/** Rules for a single source file: its first comment, and its use of process and clock. */

import { transformSync } from 'esbuild';

/** The only files that may use `process`, the last to end the programs that it starts; and the only one that may read the clock. */
const PROCESS_FILES = ['main.ts', 'start.ts', 'net/run-program.ts'];
const CLOCK_FILE = 'lib/clock.ts';
/** These scripts run in browsers. */
const BROWSER_FOLDER = 'dashboard/browser/';

/** Explains what is wrong with the file `path` below src, one sentence per problem. */
export function textViolations(path: string, text: string): string[] {
  const found: string[] = [];
  if (!/^\/\*\*\s+(\*\s+)?[^*\s][\s\S]*?\*\//.test(text))
    found.push(`${path} does not open with a comment on its purpose`);
  const code = withGlobalsMarked(path, text);
  if (!PROCESS_FILES.includes(path) && code.includes('GLOBAL_PROCESS'))
    found.push(`${path} uses process; only ${PROCESS_FILES.join(' and ')} may`);
  const mayReadClock = path === CLOCK_FILE || path.startsWith(BROWSER_FOLDER);
  if (!mayReadClock && /GLOBAL_DATE\(\)|GLOBAL_DATE\.now|GLOBAL_PERFORMANCE/.test(code))
    found.push(`${path} reads the clock; only ${CLOCK_FILE} may`);
  return found;
}

/** The code without comments and types, with references to certain globals replaced. */
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

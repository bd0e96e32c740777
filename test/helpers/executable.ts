/** The executable of `npm run build`, for the tests that run it. */

import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ChildProcess } from '../../scripts/programs.ts';
import { skipOrFail } from './installed.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const EXECUTABLE = join(ROOT, 'dist', 'deliverability');

/** For the `skip` option of a test. Tests of an outdated executable would be misleading. */
export function skipUnlessBuilt(): string | false {
  if (!existsSync(EXECUTABLE))
    return skipOrFail('dist/deliverability does not exist: run npm run build');
  const builtAt = statSync(EXECUTABLE).mtimeMs;
  const newer = globSync(['src/**/*.{ts,tsx}', 'scripts/build.ts', 'scripts/executable/*.ts'], {
    cwd: ROOT,
  }).find((path) => statSync(join(ROOT, path)).mtimeMs > builtAt);
  return newer
    ? skipOrFail(`dist/deliverability is older than ${newer}: run npm run build`)
    : false;
}

/** Resolves with the first log line with this message; rejects if the process ends without one. */
export async function firstLog(
  child: ChildProcess,
  message: string,
): Promise<Record<string, string>> {
  const lines: string[] = [];
  for await (const line of createInterface(child.stderr!)) {
    lines.push(line);
    if (line.startsWith('{') && JSON.parse(line).message === message) return JSON.parse(line);
  }
  throw new Error(`"${message}" was not logged: ${lines.join('\n')}`);
}

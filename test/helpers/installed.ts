/** Programs that tests need: if one is missing, the test is skipped, or fails in CI. */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * For the `skip` option of a test: false if `program` is installed, otherwise the reason. Throws with
 * `CI=true`, because CI runs scripts/setup-test-machine.sh first.
 *
 *     test('accepts mail from swaks', { skip: needs('swaks') }, async (t) => …)
 */
export function skipUnlessInstalled(program: string, env = process.env): string | false {
  if (isInstalled(program, env)) return false;
  return skipOrFail(`${program} is not installed: scripts/setup-test-machine.sh`, env);
}

export function isInstalled(program: string, env = process.env): boolean {
  const folders = (env.PATH ?? '').split(delimiter);
  return folders.some((folder) => isProgram(join(folder, program)));
}

/** Returns the reason to skip a test; throws it with `CI=true`. */
export function skipOrFail(reason: string, env = process.env): string {
  if (env.CI === 'true') throw new Error(reason);
  return reason;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

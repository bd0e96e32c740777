/** What a test needs from the machine: without it the test is skipped by name, in CI it fails. */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * For the `skip` of a test: false where `program` is installed, otherwise the reason. Throws under
 * `CI=true`, where scripts/setup-test-machine.sh has run and a missing program is a fault.
 *
 *     test('takes mail from swaks', { skip: needs('swaks') }, async (t) => …)
 */
export function needs(program: string, env = process.env): string | false {
  const folders = (env.PATH ?? '').split(delimiter);
  if (folders.some((folder) => isProgram(join(folder, program)))) return false;
  return missing(`${program} is not installed: scripts/setup-test-machine.sh`, env);
}

/** The reason to skip what lacks something, or under `CI=true` an error. */
export function missing(reason: string, env = process.env): string {
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

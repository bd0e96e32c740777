/** Programs that tests need: if one is missing, the test is skipped, or fails in CI. */

import { isInstalled, missingProgram } from '../../scripts/programs.ts';

export { isInstalled } from '../../scripts/programs.ts';

/**
 * For the `skip` option of a test: false if `program` is installed, otherwise the reason. Throws with
 * `CI=true`, because CI runs scripts/setup-test-machine.sh first.
 *
 *     test('accepts mail from swaks', { skip: needs('swaks') }, async (t) => …)
 */
export function skipUnlessInstalled(program: string, env = process.env): string | false {
  if (isInstalled(program, env)) return false;
  return skipOrFail(missingProgram(program), env);
}

/** Returns the reason to skip a test; throws it with `CI=true`. */
export function skipOrFail(reason: string, env = process.env): string {
  if (env.CI === 'true') throw new Error(reason);
  return reason;
}
